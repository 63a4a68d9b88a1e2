//! What is known of the kinds that objects and references name, each found out once.

use std::sync::Arc;

use foldhash::HashMap;

use super::kinds::{Kinds, Resolution};
use crate::kube::{ApiVersion, GroupKind, KindMap};
use crate::manifest::Object;

/// The kinds that an input names.
#[derive(Debug, Default)]
pub(super) struct Resolutions {
    /// By version.
    known: KindMap<HashMap<String, Arc<Resolution>>>,
}

impl Resolutions {
    /// The kinds of some objects and of their owners.
    pub(super) fn of<'o>(kinds: &Kinds, objects: impl Iterator<Item = &'o Object>) -> Self {
        let mut known = Self::default();
        for object in objects {
            for owner in &object.metadata().owner_references().entries {
                known.note(kinds, owner.api_version(), owner.kind());
            }
            known.note(kinds, object.api_version(), object.kind());
        }
        known
    }

    /// Finds out what is known of a kind, unless that was done before.
    fn note(&mut self, kinds: &Kinds, api_version: &str, kind: &str) {
        if self.get(api_version, kind).is_some() {
            return;
        }
        let group_version = ApiVersion::split(api_version);
        let resolution = Arc::new(kinds.resolve(group_version, kind));
        let of_kind = self.known.get_or_insert_with(GroupKind::new(group_version.group, kind), HashMap::default);
        of_kind.insert(group_version.version.to_owned(), resolution);
    }

    /// What was found out about a kind.
    pub(super) fn get(&self, api_version: &str, kind: &str) -> Option<&Arc<Resolution>> {
        let ApiVersion { group, version } = ApiVersion::split(api_version);
        self.known.get(GroupKind::new(group, kind))?.get(version)
    }
}
