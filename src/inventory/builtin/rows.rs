//! The rows of the tables as plain data.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::Release;
use crate::kube::{ApiVersion, GroupKind, Scope};

/// The policy of a DELETE that names none, for an object without finalizer `orphan` or `foregroundDeletion` [DEL-4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum DefaultGcPolicy {
    /// Dependents are deleted.
    DeleteDependents,
    /// Dependents are orphaned: still the default of ReplicationController and Job, for compatibility.
    OrphanDependents,
    /// The kind takes no part in garbage collection.
    Unsupported,
}

/// The API server's check of the names in `metadata.finalizers` [VAL-18], [VAL-20], [VAL-21].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum FinalizerNameCheck {
    /// Objects of the kind are never stored, so nothing is checked.
    #[serde(rename = "none")]
    None,
    /// Each name must be a label key.
    #[serde(rename = "qualified")]
    Qualified,
    /// Each name must be a label key; one without a slash must be `kubernetes`, `orphan` or `foregroundDeletion`.
    #[serde(rename = "qualified+standard")]
    QualifiedAndStandard,
}

/// One group, version and kind that the newest release knows; a row of `builtin-resources-1.37.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuiltinKind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The resource as URLs and RBAC name it.
    pub plural: String,
    /// The name of one object, which kubectl accepts.
    pub singular: String,
    /// Abbreviations kubectl accepts.
    pub short_names: Vec<String>,
    /// The scope, the same in every version [SCOPE-5].
    #[serde(rename = "namespaced", deserialize_with = "scope")]
    pub scope: Scope,
    /// The verbs that the API allows. Not read, but every row must list them.
    #[serde(rename = "verbs")]
    _verbs: IgnoredAny,
    /// Whether a plain kube-apiserver serves it; alpha and beta versions must be switched on [SCOPE-4].
    pub enabled_by_default: bool,
    /// Whether this is the version that discovery prefers for the resource.
    #[serde(rename = "preferredVersion")]
    pub preferred: bool,
    /// Whether objects are stored; reviews and bindings are not.
    pub persisted: bool,
    /// Whether the garbage collector watches it [GC-1].
    pub gc_tracked: bool,
    /// Whether deleting its namespace deletes it.
    pub namespace_deletable: bool,
    /// The propagation policy of a DELETE request without one.
    #[serde(rename = "defaultGCPolicy")]
    pub default_policy: DefaultGcPolicy,
    /// The check of finalizer names.
    pub finalizer_name_check: FinalizerNameCheck,
    /// The first release that served it, from `introduced.csv`; `None`: every release that is known here.
    #[serde(skip)]
    pub introduced_in: Option<Release>,
}

/// One group, version and kind that only earlier releases served; a row of `removed-kinds.csv`.
#[derive(Clone, Debug, Deserialize)]
pub struct RemovedKind {
    /// The API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The resource as URLs and RBAC name it.
    pub plural: String,
    /// The scope.
    #[serde(rename = "namespaced", deserialize_with = "scope_of_text")]
    pub scope: Scope,
    /// Whether the releases that had it served it by default.
    #[serde(deserialize_with = "yes_or_no")]
    pub enabled_by_default: bool,
    /// The first release that served it, where known.
    pub introduced_in: Option<Release>,
    /// The first release that does not serve it.
    pub removed_in: Release,
    /// The `apiVersion` that serves the same kind today.
    pub replacement_api_version: Option<String>,
}

/// A row of `introduced.csv`.
#[derive(Debug, Deserialize)]
pub(super) struct Introduction {
    #[serde(default)]
    pub(super) group: String,
    pub(super) version: String,
    /// A kind, or `*` for every kind of the version.
    pub(super) kind: String,
    pub(super) introduced_in: Release,
}

/// A kind whose objects are stored together with those of another group; a row of `cohabiting-kinds.csv`.
#[derive(Debug, Deserialize)]
pub(super) struct Cohabitation {
    #[serde(default)]
    pub(super) group: String,
    pub(super) kind: String,
    /// The group with which they are stored; empty for the core group.
    #[serde(default)]
    pub(super) same_as: String,
}

impl BuiltinKind {
    /// Returns the kind within its group.
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind::new(&self.group, &self.kind)
    }

    /// Returns `apiVersion` as manifests write it: `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

impl RemovedKind {
    /// Returns `apiVersion` as manifests write it.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

fn api_version(group: &str, version: &str) -> String {
    ApiVersion { group, version }.to_string()
}

fn scope<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scope, D::Error> {
    bool::deserialize(deserializer).map(scope_of)
}

fn scope_of_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scope, D::Error> {
    either(deserializer, ["true", "false"]).map(scope_of)
}

fn yes_or_no<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    either(deserializer, ["yes", "no"])
}

fn scope_of(is_namespaced: bool) -> Scope {
    if is_namespaced {
        Scope::Namespaced
    } else {
        Scope::Cluster
    }
}

/// Reads one of two words, the first of which means `true`.
fn either<'de, D: Deserializer<'de>>(
    deserializer: D,
    [yes, no]: [&str; 2],
) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)? {
        found if found == yes => Ok(true),
        found if found == no => Ok(false),
        found => Err(serde::de::Error::custom(format!(
            "expected {yes} or {no}, found `{found}`"
        ))),
    }
}
