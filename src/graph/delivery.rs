//! The objects that one applier puts into a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::kustomize::{BuildError, Resource};
use super::unread::UnreadInput;
use crate::charts::CallId;
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
    /// The object that delivers; `None` for a Helm release and for a kustomization that is built by hand.
    pub by: Option<Deliverer>,
    /// The folder that it builds, of several sources the first one; empty if it builds none.
    pub path: String,
    /// Whether it depends on what only the cluster or a service knows.
    pub is_possible: bool,
    /// The name of the object that stands for what delivers, of which a part of the name is only known here.
    pub object: Option<String>,
    /// The file in which the object that delivers is written.
    pub file: Arc<str>,
    /// The line of it.
    pub line: usize,
    /// The settings of the object that delivers.
    pub settings: Settings,
    /// Why it builds nothing.
    pub error: Option<BuildError>,
    /// The objects that it would build without what fails, if it fails and that is known.
    pub attempt: Option<Arc<Vec<Resource>>>,
    /// Its first build, if it reconciles once with its settings of the state before and cannot be built with those of this state.
    pub built_first: Option<Arc<Vec<Resource>>>,
    /// The objects that it builds, as it applies them.
    pub resources: Arc<Vec<Resource>>,
    /// The folders whose kustomizations it builds, and the files that it reads as resources.
    pub reached: Arc<BTreeSet<String>>,
    /// The inputs that it depends on and that were not read.
    pub unread: Vec<UnreadInput>,
    /// The charts that it asks to be rendered.
    pub charts: BTreeSet<CallId>,
    /// Whether it is a chart of the tree that a person installs.
    pub is_chart: bool,
}

/// Settings of a delivery; unwritten ones are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether it deletes what leaves its sources.
    pub prune: Option<bool>,
    /// The identity of the release of a HelmRelease: its name, where it is stored, where it is installed, and its chart.
    pub release: Option<[String; 4]>,
    /// Whether it rests.
    pub suspend: Option<bool>,
    /// The fate of its objects when it is deleted.
    pub deletion_policy: Option<String>,
    /// The ServiceAccount as which it applies.
    pub service_account: Option<String>,
    /// The Kustomizations for which it waits: namespace and name.
    pub depends_on: Vec<(String, String)>,
    /// The ConfigMaps without which it builds nothing: namespace and name.
    pub variables_from: Vec<(String, String)>,
    /// Whether an Application syncs on its own.
    pub automated: Option<bool>,
    /// Whether an Application also syncs when the cluster changes.
    pub self_heal: Option<bool>,
    /// Whether an Application deletes everything that it delivered if its sources are empty.
    pub allow_empty: Option<bool>,
    /// `syncOptions` of an Application.
    pub sync_options: Vec<String>,
    /// The finalizers of an Application.
    pub finalizers: Vec<String>,
    /// The namespace of the objects of an Application that name none.
    pub destination_namespace: Option<String>,
    /// Whether the Applications of a set leave what they delivered when they are deleted.
    pub preserve_resources: Option<bool>,
    /// The policy of a set for the Applications that it generated: `create-only`, `create-update`, `create-delete`, `sync`.
    pub applications_sync: Option<String>,
}
