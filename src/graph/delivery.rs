//! What one applier puts into a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::kustomize::{BuildError, Resource};
use super::unread::UnreadInput;

/// The work of one applier.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// Equal in two states of a tree for the same delivery.
    pub id: String,
    /// `flux`, `argocd`, `helm`, `kustomize`, `kubectl`, `unknown`.
    pub tool: &'static str,
    /// The cluster, as far as there is a clue.
    pub cluster: Option<String>,
    /// The object that delivers.
    pub key: Option<String>,
    /// The folder that it builds.
    pub path: Option<String>,
    /// The delivery that applies the object that delivers.
    pub parent: Option<String>,
    /// `certain`, `possible` or `unknown`.
    pub certainty: &'static str,
    /// Where the object that delivers is written.
    pub location: Option<(Arc<str>, usize)>,
    /// What it says about what it delivers.
    pub settings: Settings,
    /// Why it builds nothing.
    pub error: Option<BuildError>,
    /// The objects that it builds, as it applies them.
    pub resources: Vec<Resource>,
    /// The folders whose kustomizations it builds, and the files that it reads as resources.
    pub reached: BTreeSet<String>,
    /// What it applies.
    pub instances: Vec<Instance>,
    /// What decides on what it applies and was not read.
    pub unread: Vec<UnreadInput>,
}

/// An object that a delivery applies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instance {
    /// Its key as applied.
    pub key: String,
    /// Its key as written, if that is another one.
    pub written: Option<String>,
    /// Its file.
    pub file: Arc<str>,
    /// The line.
    pub line: usize,
    /// `certain` or `possible`.
    pub certainty: &'static str,
}

/// Settings of a delivery; those that do not apply are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Whether it deletes what leaves its sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune: Option<bool>,
    /// Whether it rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// What becomes of what it delivered when it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<String>,
    /// The namespace of everything that it delivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_namespace: Option<String>,
    /// Whether it deletes and creates what it cannot update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// The deliveries that it waits for, `namespace/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The name of a Helm release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_name: Option<String>,
    /// The chart of a Helm release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}
