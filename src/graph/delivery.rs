//! What one applier puts into a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::kustomize::{BuildError, Resource};
use super::unread::UnreadInput;
use crate::kustomize::Deliverer;

/// The work of one applier.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Equal in two states of a tree for the same delivery.
    pub id: String,
    /// The cluster that it delivers into: the path of the entry point, then `/` and a name for another one than the tool's own.
    pub cluster: Arc<str>,
    /// The delivery that applies the object that delivers; `None` of an entry point.
    pub parent: Option<Arc<str>>,
    /// The key of the object that delivers.
    pub key: String,
    /// The Kustomization that delivers; `None` of a Helm release.
    pub by: Option<Deliverer>,
    /// The folder that it builds; empty of a Helm release.
    pub path: String,
    /// The file in which the object that delivers is written.
    pub file: Arc<str>,
    /// The line of it.
    pub line: usize,
    /// What the object that delivers says about what it delivers.
    pub settings: Settings,
    /// Why it builds nothing.
    pub error: Option<BuildError>,
    /// The objects that it builds, as it applies them.
    pub resources: Vec<Resource>,
    /// The folders whose kustomizations it builds, and the files that it reads as resources.
    pub reached: BTreeSet<String>,
    /// What decides on what it applies and was not read.
    pub unread: Vec<UnreadInput>,
}

/// Settings of a delivery; those that nobody wrote are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether it deletes what leaves its sources.
    pub prune: Option<bool>,
    /// Whether it rests.
    pub suspend: Option<bool>,
    /// What becomes of what it delivered when it is deleted.
    pub deletion_policy: Option<String>,
    /// The ServiceAccount as which it applies.
    pub service_account: Option<String>,
    /// The Kustomizations for which it waits: namespace and name.
    pub depends_on: Vec<(String, String)>,
    /// The ConfigMaps without which it builds nothing: namespace and name.
    pub variables_from: Vec<(String, String)>,
}
