//! Completions: texts that may be written at a position, each with a short description.

use super::Inquiry;
use crate::engine::input::Bundle;
use crate::inventory::{Member, table};
use crate::kube::{ApiVersion, GroupKind, Scope, finalizers};
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
    /// Returns kinds with their apiVersions: those of Kubernetes, and those that CRDs in the file's bundle define or that
    /// its objects have. With `api_version`, only its kinds.
    pub fn kinds(&self, path: &str, api_version: Option<&str>) -> Vec<(String, String)> {
        fitting(self.known_kinds(path), api_version)
    }

    /// Returns the apiVersions of `kind`, or all known ones without it, each with a kind.
    pub fn api_versions(&self, path: &str, kind: Option<&str>) -> Vec<(String, String)> {
        let known = self.known_kinds(path).into_iter();
        fitting(known.map(|(kind, version)| (version, kind)).collect(), kind)
    }

    /// Returns the finalizers that manifests of a kind may contain, each with the controller that removes it, and those
    /// that objects of the kind in the bundle have. Other finalizers that only controllers add are left out.
    pub fn finalizers(&self, path: &str, api_version: &str, kind: &str) -> Vec<(String, String)> {
        let ApiVersion { group, .. } = ApiVersion::split(api_version);
        let Some(bundle) = self.bundle_of(path) else {
            return Vec::new();
        };
        let known = bundle.tables.finalizers.of_kind(group, kind);
        let written = known.filter(|(known, row)| {
            !known.finalizer.contains('*')
                && !row.added.is_at_run_time()
                && !finalizers::is_collectors(&known.finalizer)
        });
        let written =
            written.map(|(known, row)| (known.finalizer.clone(), row.removed_by.to_string()));
        let beside = self.beside(path).iter();
        let beside = beside.filter(|member| member.key.group_kind() == GroupKind::new(group, kind));
        let beside = beside.flat_map(|member| {
            let all = member.object.metadata().finalizers().iter();
            all.map(|one| (one.value.clone(), format!("of {}", member.key)))
        });
        written.chain(beside).collect()
    }

    /// Returns the objects in the bundle of a file that an object in `namespace` may name as its owner: those of the
    /// namespace, and cluster-scoped ones.
    pub fn possible_owners(&self, path: &str, namespace: Option<&str>) -> Vec<PossibleOwner<'s>> {
        let within = self.beside(path).iter().filter(|member| {
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
        let built_in = table()
            .resources()
            .map(|row| (row.kind.clone(), row.api_version()));
        let beside = self.beside(path).iter();
        let definitions = beside
            .clone()
            .filter_map(|member| member.object.definition());
        let written = beside.map(|member| {
            let object = &member.object;
            (object.kind().to_owned(), object.api_version().to_owned())
        });
        let defined = definitions.flat_map(versions);
        built_in.chain(defined).chain(written).collect()
    }

    fn bundle_of(&self, path: &str) -> Option<&'s Bundle> {
        let (bundle, _) = self.files.get(path)?;
        Some(self.bundles[*bundle].bundle)
    }

    /// Returns the objects of the bundle that contains the file.
    fn beside(&self, path: &str) -> &'s [Member] {
        let bundle = self.bundle_of(path);
        bundle.map_or(&[], |bundle| &bundle.inventory.members)
    }
}

/// Returns the pairs whose second text is `wanted`; without it, all pairs.
fn fitting(mut all: Vec<(String, String)>, wanted: Option<&str>) -> Vec<(String, String)> {
    all.retain(|(_, text)| wanted.is_none_or(|wanted| text == wanted));
    all
}

/// Returns the kind that a CRD defines, with each apiVersion.
fn versions(crd: &CustomResourceDefinition) -> Vec<(String, String)> {
    let versions = crd.versions.iter().map(|version| {
        let api_version = format!("{}/{}", crd.group.value, version.name.value);
        (crd.kind.value.clone(), api_version)
    });
    versions.collect()
}
