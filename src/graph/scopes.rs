//! Which kinds are cluster-scoped: the built-in ones, those that the CRDs of a tree define, and those of known operators.

use std::collections::BTreeSet;

use super::files::TreeFiles;
use super::kustomize::{ResId, is_cluster_scoped, resources_of};
use crate::knowledge::{DefinedScope, scope_of};

/// The cluster-scoped kinds of a tree.
#[derive(Debug, Default)]
pub struct ClusterScopes {
    custom: BTreeSet<(String, String)>,
}

impl ClusterScopes {
    /// Those that the files define.
    pub fn of(files: &TreeFiles<'_>) -> Self {
        let mut custom = BTreeSet::new();
        for path in files.manifests() {
            let Ok(bytes) = files.bytes(path) else {
                continue;
            };
            if memchr::memmem::find(&bytes, b"CustomResourceDefinition").is_none() {
                continue;
            }
            let parsed = files.parsed(path);
            for resource in resources_of(&parsed, path).unwrap_or_default() {
                let spec = |path: &[&str]| resource.node.at(&["spec"])?.text_at(path);
                if spec(&["scope"]).as_deref() == Some("Cluster") {
                    custom.extend(spec(&["group"]).zip(spec(&["names", "kind"])));
                }
            }
        }
        Self { custom }
    }

    /// Whether a kind is cluster-scoped, as far as that is known.
    pub fn is_cluster(&self, group: &str, kind: &str) -> bool {
        is_cluster_scoped(group, kind)
            || scope_of(group, kind) == Some(DefinedScope::Cluster)
            || self.custom.contains(&(group.to_owned(), kind.to_owned()))
    }

    /// The key of an object as it is applied.
    pub fn key(&self, id: &ResId) -> String {
        if self.is_cluster(&id.group, &id.kind) {
            id.key_in("")
        } else {
            id.key_in(&id.namespace)
        }
    }
}
