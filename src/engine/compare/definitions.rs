//! The kinds that CRDs define in any part of a tree. If a CRD is removed, or is in another part than its instances, its
//! scope is still needed to know the keys of the instances.

use std::collections::BTreeMap;

use crate::inventory::ExtraKind;
use crate::kube::{GroupKind, Scope};
use crate::manifest::ParsedFile;

/// Kinds and their scopes; `None` if no CRD contains the scope, or several disagree.
#[derive(Debug, Default)]
pub(super) struct Definitions(BTreeMap<GroupKind, Option<Scope>>);

impl Definitions {
    /// Collects the kinds that CRDs in `files` define.
    pub(super) fn of<'f>(files: impl IntoIterator<Item = &'f ParsedFile>) -> Self {
        let objects = files
            .into_iter()
            .flat_map(ParsedFile::documents)
            .flat_map(|document| document.objects());
        let mut found = Self::default();
        for crd in objects.filter_map(|object| object.definition()) {
            let scope = crd.scope.as_ref().map(|scope| scope.value);
            let known = found.0.entry(crd.group_kind().to_owned()).or_insert(scope);
            if *known != scope {
                *known = None;
            }
        }
        found
    }

    /// Returns these kinds, and the kinds of `other` that are not among them.
    pub(super) fn or(&self, other: &Self) -> Self {
        let mut all = other.0.clone();
        all.extend(self.0.clone());
        Self(all)
    }

    /// Returns the kinds of a known scope that `own` does not define.
    pub(super) fn beyond(&self, own: &Self) -> impl Iterator<Item = ExtraKind> {
        let other = self.0.iter().filter(|(kind, _)| !own.0.contains_key(*kind));
        other.filter_map(|(GroupKind { group, kind }, scope)| {
            Some(ExtraKind {
                group: group.clone(),
                kind: kind.clone(),
                versions: Vec::new(),
                scope: (*scope)?,
            })
        })
    }
}
