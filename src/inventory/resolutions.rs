//! Facts about the kinds that objects and references name, each computed once.

use std::sync::Arc;

use foldhash::HashMap;

use super::kinds::{Kinds, Resolution};
use crate::kube::{ApiVersion, TypeMeta};
use crate::manifest::Object;

/// The facts about the kinds that an input names.
#[derive(Debug, Default)]
pub(super) struct Resolutions {
    known: HashMap<Arc<TypeMeta>, Arc<Resolution>>,
    /// The last resolution, which the next kind shares if its own is equal.
    last: Option<Arc<Resolution>>,
}

impl Resolutions {
    /// Resolves the kinds of some objects and of their owners.
    pub(super) fn of<'o>(kinds: &Kinds, objects: impl Iterator<Item = &'o Object>) -> Self {
        let mut known = Self::default();
        // Objects of one kind often follow one another.
        let mut last: Option<&Arc<TypeMeta>> = None;
        for object in objects {
            for owner in &object.metadata().owner_references().entries {
                known.note(kinds, &TypeMeta::shared(owner.api_version(), owner.kind()));
            }
            if last.is_none_or(|last| !Arc::ptr_eq(last, object.type_meta())) {
                known.note(kinds, object.type_meta());
            }
            last = Some(object.type_meta());
        }
        known
    }

    /// Resolves a kind, unless it is known.
    fn note(&mut self, kinds: &Kinds, named: &Arc<TypeMeta>) {
        if self.known.contains_key(named) {
            return;
        }
        let found = kinds.resolve(ApiVersion::split(&named.api_version), &named.kind);
        let same = self.last.take().filter(|last| **last == found);
        let resolution = same.unwrap_or_else(|| Arc::new(found));
        self.known
            .insert(Arc::clone(named), Arc::clone(&resolution));
        self.last = Some(resolution);
    }

    /// Returns the facts about a kind; `None` if it was not resolved.
    pub(super) fn get(&self, api_version: &str, kind: &str) -> Option<&Arc<Resolution>> {
        self.known.get(&TypeMeta::shared(api_version, kind))
    }
}
