//! What is known of the kinds that objects and references name, each found out once.

use std::collections::HashMap;
use std::sync::Arc;

use super::kinds::{Kinds, Resolution};
use crate::kube::{ApiVersion, GroupKind, KindMap};

/// The kinds that an input names.
#[derive(Debug, Default)]
pub(super) struct Resolutions {
    /// By version.
    known: KindMap<HashMap<String, Arc<Resolution>>>,
}

impl Resolutions {
    /// What is known of a kind, found out if nobody asked before.
    pub(super) fn note(&mut self, kinds: &Kinds, api_version: &str, kind: &str) -> Arc<Resolution> {
        if let Some(known) = self.get(api_version, kind) {
            return Arc::clone(known);
        }
        let group_version = ApiVersion::split(api_version);
        let resolution = Arc::new(kinds.resolve(group_version, kind));
        let of_kind = self.known.get_or_insert_with(GroupKind::new(group_version.group, kind), HashMap::new);
        of_kind.insert(group_version.version.to_owned(), Arc::clone(&resolution));
        resolution
    }

    /// What was found out about a kind.
    pub(super) fn get(&self, api_version: &str, kind: &str) -> Option<&Arc<Resolution>> {
        let ApiVersion { group, version } = ApiVersion::split(api_version);
        self.known.get(GroupKind::new(group, kind))?.get(version)
    }
}
