//! Texts that may be written at a place, for completion: each with a word on what it is.

use super::Inquiry;
use crate::engine::input::Bundle;
use crate::inventory::{Inventory, table};
use crate::kube::Scope;
use crate::manifest::CustomResourceDefinition;

/// An object that others of a namespace may name as their owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PossibleOwner<'s> {
    /// `apps/v1`.
    pub api_version: &'s str,
    /// `Deployment`.
    pub kind: &'s str,
    /// `web`.
    pub name: &'s str,
}

impl<'s> Inquiry<'s> {
    /// Kinds with their apiVersions: those of Kubernetes, and those that CRDs beside the file define. With
    /// `api_version`, only those that it has, if it has any.
    pub fn kinds(&self, path: &str, api_version: Option<&str>) -> Vec<(String, String)> {
        let all = self.known_kinds(path);
        let of_version = all
            .iter()
            .filter(|(_, version)| Some(version.as_str()) == api_version);
        let of_version: Vec<_> = of_version.cloned().collect();
        if of_version.is_empty() {
            all
        } else {
            of_version
        }
    }

    /// The apiVersions that serve a kind, or all that are known.
    pub fn api_versions(&self, path: &str, kind: Option<&str>) -> Vec<(String, String)> {
        let all = self
            .known_kinds(path)
            .into_iter()
            .map(|(kind, version)| (version, kind));
        let all: Vec<_> = all.collect();
        let of_kind: Vec<_> = all
            .iter()
            .filter(|(_, known)| Some(known.as_str()) == kind)
            .cloned()
            .collect();
        if of_kind.is_empty() { all } else { of_kind }
    }

    /// The finalizers that objects of a kind may have, each with the controller that removes it.
    pub fn finalizers(&self, path: &str, api_version: &str, kind: &str) -> Vec<(String, String)> {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let Some(bundle) = self.bundle_of(path) else {
            return Vec::new();
        };
        let known = bundle.tables.finalizers.of_kind(group, kind);
        let named = known.filter(|(known, _)| !known.finalizer.contains('*'));
        named
            .map(|(known, row)| (known.finalizer.clone(), row.removed_by.to_string()))
            .collect()
    }

    /// The objects beside a file that an object in `namespace` may name as its owner: those of the namespace, and
    /// cluster-scoped ones.
    pub fn possible_owners(&self, path: &str, namespace: Option<&str>) -> Vec<PossibleOwner<'s>> {
        let members = self.inventory_of(path).map(|inventory| &inventory.members);
        let within = members.into_iter().flatten().filter(|member| {
            member.resolution.scope == Some(Scope::Cluster)
                || member.key.namespace.name() == namespace
        });
        within
            .map(|member| PossibleOwner {
                api_version: member.object.api_version(),
                kind: member.object.kind(),
                name: &member.key.name,
            })
            .collect()
    }

    fn known_kinds(&self, path: &str) -> Vec<(String, String)> {
        let built_in = table().resources().map(|row| {
            let version = match row.group.as_str() {
                "" => row.version.clone(),
                group => format!("{group}/{}", row.version),
            };
            (row.kind.clone(), version)
        });
        let members = self.inventory_of(path).map(|inventory| &inventory.members);
        let definitions = members
            .into_iter()
            .flatten()
            .filter_map(|member| member.object.definition());
        built_in.chain(definitions.flat_map(versions)).collect()
    }

    fn bundle_of(&self, path: &str) -> Option<&'s Bundle> {
        let (bundle, _) = self.files.get(path)?;
        Some(self.bundles[*bundle].bundle)
    }

    fn inventory_of(&self, path: &str) -> Option<&'s Inventory> {
        self.bundle_of(path).map(|bundle| &bundle.inventory)
    }
}

/// The kind that a CRD defines, in each version.
fn versions(crd: &CustomResourceDefinition) -> Vec<(String, String)> {
    let of = |version: &str| {
        (
            crd.kind.value.clone(),
            format!("{}/{version}", crd.group.value),
        )
    };
    crd.versions
        .iter()
        .map(|version| of(&version.name.value))
        .collect()
}
