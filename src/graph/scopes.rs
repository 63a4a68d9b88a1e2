//! The cluster-scoped kinds: built-in ones, those that the CRDs of a tree define, and those of known operators.

use std::collections::{BTreeMap, BTreeSet};

use super::files::TreeFiles;
use super::kustomize::{ResId, Resource, is_cluster_scoped, resources_of};
use crate::knowledge::{DefinedScope, scope_of};

/// The cluster-scoped kinds of a tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClusterScopes {
    /// The cluster-scoped kinds that CRDs define, by group.
    custom: BTreeMap<String, BTreeSet<String>>,
}

impl ClusterScopes {
    /// Reads the cluster-scoped kinds that the CRDs in `files` define.
    pub fn new(files: &TreeFiles<'_>) -> Self {
        let mut custom: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in files.manifests() {
            if !files.mentions(path, "CustomResourceDefinition") {
                continue;
            }
            let parsed = files.parsed(path);
            for resource in resources_of(&parsed, path).unwrap_or_default() {
                if let Some((group, kind)) = defines_cluster_scoped(&resource) {
                    custom.entry(group).or_default().insert(kind);
                }
            }
        }
        Self { custom }
    }

    /// Whether a kind is cluster-scoped, as far as that is known.
    pub fn is_cluster(&self, group: &str, kind: &str) -> bool {
        is_cluster_scoped(group, kind)
            || scope_of(group, kind) == Some(DefinedScope::Cluster)
            || self
                .custom
                .get(group)
                .is_some_and(|kinds| kinds.contains(kind))
    }

    /// Returns the key of an object as it is applied.
    pub fn key(&self, id: &ResId) -> String {
        if self.is_cluster(&id.group, &id.kind) {
            id.key_in("")
        } else {
            id.key_in(&id.namespace)
        }
    }
}

/// Returns the group and kind that a CRD defines, if its objects are cluster-scoped.
pub(super) fn defines_cluster_scoped(resource: &Resource) -> Option<(String, String)> {
    if resource.kind() != "CustomResourceDefinition" {
        return None;
    }
    let spec = resource.node.get("spec")?;
    if spec.str_at(&["scope"]) != Some("Cluster") {
        return None;
    }
    spec.text_at(&["group"])
        .zip(spec.text_at(&["names", "kind"]))
}
