//! Identities of delivery objects, which make a tool apply the build of a folder.

use std::sync::Arc;

use crate::kube::{GroupKind, kinds};

/// The identity of the delivery object that makes a tool apply the build of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deliverer {
    /// The cluster that it delivers into, as the delivery graph names it; empty if that is not known.
    pub cluster: Arc<str>,
    /// The tool.
    pub tool: SourceTool,
    /// Its namespace as written; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The folder that it builds, if the deliverer's name is partly unknown and several folders match: each of them
    /// belongs to a cluster of its own. Otherwise empty.
    pub folder: String,
}

impl Deliverer {
    /// Creates the identity of a delivery object.
    pub fn new(cluster: &Arc<str>, tool: SourceTool, namespace: &str, name: &str) -> Self {
        Self {
            cluster: Arc::clone(cluster),
            tool,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            folder: String::new(),
        }
    }

    /// Whether both have the same key: the clusters may differ.
    pub fn has_key_of(&self, other: &Self) -> bool {
        (self.tool, &self.namespace, &self.name) == (other.tool, &other.namespace, &other.name)
    }

    /// Returns its key: `Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps`.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.tool.kind(), self.namespace, self.name)
    }

    /// Returns an id that is equal in two states for the same delivery: the cluster and the key, and the folder that it
    /// builds if a part of either is unknown.
    pub fn id(&self, folder: &str) -> String {
        let (cluster, key) = (&self.cluster, self.key());
        if cluster.contains("{{") || key.contains("{{") {
            format!("{cluster}|{key}|{folder}")
        } else {
            format!("{cluster}|{key}")
        }
    }

    /// Returns the identity of the cluster: [`Self::cluster`], with the folder if there is one.
    pub fn place(&self) -> Arc<str> {
        match self.folder.as_str() {
            "" => Arc::clone(&self.cluster),
            folder => Arc::from(format!("{}|{folder}", self.cluster)),
        }
    }
}

impl std::fmt::Display for Deliverer {
    /// Writes `namespace/name`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

/// A tool that builds sources, with one of its kinds of delivery objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceTool {
    /// A `Kustomization.kustomize.toolkit.fluxcd.io`.
    Flux,
    /// A `HelmRelease.helm.toolkit.fluxcd.io` whose chart was rendered.
    FluxRelease,
    /// An `Application.argoproj.io`.
    ArgoCd,
    /// An `ApplicationSet.argoproj.io`, which delivers Applications.
    ArgoCdSet,
}

impl SourceTool {
    /// Whether it is one of Flux.
    pub fn is_flux(self) -> bool {
        matches!(self, Self::Flux | Self::FluxRelease)
    }

    /// Returns the name of the tool in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flux | Self::FluxRelease => "flux",
            Self::ArgoCd | Self::ArgoCdSet => "argocd",
        }
    }

    /// Returns the kind of its delivery objects.
    pub fn kind(self) -> GroupKind<&'static str> {
        match self {
            Self::Flux => kinds::FLUX_KUSTOMIZATION,
            Self::FluxRelease => kinds::HELM_RELEASE,
            Self::ArgoCd => kinds::APPLICATION,
            Self::ArgoCdSet => kinds::APPLICATION_SET,
        }
    }
}

/// The kinds of delivery objects that are not evaluated.
pub const UNEVALUATED_DELIVERIES: [GroupKind<&str>; 8] = [
    GroupKind::new("fluxcd.controlplane.io", "ResourceSet"),
    GroupKind::new("fluxcd.controlplane.io", "ResourceSetInputProvider"),
    GroupKind::new("fleet.cattle.io", "GitRepo"),
    GroupKind::new("fleet.cattle.io", "HelmOp"),
    GroupKind::new("kappctrl.k14s.io", "App"),
    GroupKind::new("packaging.carvel.dev", "PackageInstall"),
    GroupKind::new("addons.cluster.x-k8s.io", "HelmChartProxy"),
    GroupKind::new("source.extensions.fluxcd.io", "ArtifactGenerator"),
];

/// The reason why an object of [`UNEVALUATED_DELIVERIES`] is an unread input.
pub const UNEVALUATED: &str = "ownerlint does not know which objects the tool makes of it";
