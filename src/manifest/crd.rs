//! The kind that a CustomResourceDefinition defines.

use super::Spanned;
use crate::kube::{GroupKind, Scope};
use crate::text::Span;
use crate::yaml::Value;

/// One entry of `spec.versions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrdVersion {
    /// The name: `v1beta1`.
    pub name: Spanned<String>,
    /// Whether the API server serves it; absent is false.
    pub served: bool,
    /// Whether objects are stored in it; absent is false.
    pub storage: bool,
}

/// A CustomResourceDefinition of `apiextensions.k8s.io`, v1 or v1beta1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomResourceDefinition {
    /// `spec.group`.
    pub group: Spanned<String>,
    /// `spec.names.kind`.
    pub kind: Spanned<String>,
    /// `spec.names.plural`.
    pub plural: Option<Spanned<String>>,
    /// `spec.names.singular`.
    pub singular: Option<String>,
    /// `spec.names.shortNames`.
    pub short_names: Vec<String>,
    /// `spec.scope`; `None` if it is neither `Namespaced` nor `Cluster`. A v1beta1 CRD without it is namespaced.
    pub scope: Option<Spanned<Scope>>,
    /// `spec.versions`, or the single `spec.version` of v1beta1; never empty.
    pub versions: Vec<CrdVersion>,
    /// Whether it is written in v1beta1, which Kubernetes 1.22 removed.
    pub is_beta: bool,
}

impl CustomResourceDefinition {
    /// Reads a CRD of `version`; `None` if it lacks a group, a kind or a version. A CRD without
    /// versions is a patch or an assertion: no API server accepts it; missing fields prove nothing.
    pub(super) fn read(version: &str, object: Value<'_>) -> Option<Self> {
        let spec = object.get("spec")?;
        let names = spec.get("names")?;
        let versions = versions(spec);
        if versions.is_empty() {
            return None;
        }
        Some(Self {
            group: text(spec, "group")?,
            kind: text(names, "kind")?,
            plural: text(names, "plural"),
            singular: text(names, "singular").map(|name| name.value),
            short_names: names.texts_at("shortNames"),
            scope: scope(version, spec),
            versions,
            is_beta: version == "v1beta1",
        })
    }

    /// Returns the kind that it defines.
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind::new(self.group.as_str(), self.kind.as_str())
    }
}

fn text(map: Value<'_>, field: &str) -> Option<Spanned<String>> {
    Spanned::filled(map.entry(field)?)
}

fn scope(version: &str, spec: Value<'_>) -> Option<Spanned<Scope>> {
    let Some(written) = text(spec, "scope") else {
        // v1beta1 defaults an absent scope to Namespaced (apiextensions v1beta1 defaults.go); v1 rejects it.
        let span = Span::empty(spec.span().start);
        let defaulted = Spanned {
            value: Scope::Namespaced,
            key_span: span,
            span,
        };
        return (version == "v1beta1").then_some(defaulted);
    };
    let scope = match written.as_str() {
        "Namespaced" => Scope::Namespaced,
        "Cluster" => Scope::Cluster,
        _ => return None,
    };
    Some(written.map(|_| scope))
}

fn versions(spec: Value<'_>) -> Vec<CrdVersion> {
    let listed = spec.items_at("versions");
    let mut versions: Vec<CrdVersion> = listed
        .filter_map(|version| {
            Some(CrdVersion {
                name: text(version, "name")?,
                served: version.is_true_at(&["served"]),
                storage: version.is_true_at(&["storage"]),
            })
        })
        .collect();
    if versions.is_empty() {
        versions.extend(text(spec, "version").map(|name| CrdVersion {
            name,
            served: true,
            storage: true,
        }));
    }
    versions
}
