//! The object that makes a tool deliver what a folder builds.

use std::sync::Arc;

use crate::kube::{GroupKind, kinds};

/// The object that delivers what a folder builds.
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
    /// The folder that it builds, if its name is partly unknown and several folders fit: each is a cluster of its own.
    pub folder: String,
}

impl Deliverer {
    /// Its key: `Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps`.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.tool.kind(), self.namespace, self.name)
    }

    /// Equal in two states for the same delivery: the cluster and the key, and the folder that it builds if a part of either is
    /// unknown.
    pub fn id(&self, folder: &str) -> String {
        let (cluster, key) = (&self.cluster, self.key());
        if cluster.contains("{{") || key.contains("{{") {
            format!("{cluster}|{key}|{folder}")
        } else {
            format!("{cluster}|{key}")
        }
    }

    /// The identity of the cluster; [`Self::cluster`] unless the folder is.
    pub fn place(&self) -> Arc<str> {
        match self.folder.as_str() {
            "" => Arc::clone(&self.cluster),
            folder => Arc::from(format!("{}|{folder}", self.cluster)),
        }
    }
}

impl std::fmt::Display for Deliverer {
    /// `namespace/name`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

/// A tool that builds sources by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceTool {
    /// A `Kustomization.kustomize.toolkit.fluxcd.io`.
    Flux,
    /// A `HelmRelease.helm.toolkit.fluxcd.io` of which the chart was rendered.
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

    /// The tool in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Flux | Self::FluxRelease => "flux",
            Self::ArgoCd | Self::ArgoCdSet => "argocd",
        }
    }

    /// The kind of the object that delivers.
    pub fn kind(self) -> GroupKind<&'static str> {
        match self {
            Self::Flux => kinds::FLUX_KUSTOMIZATION,
            Self::FluxRelease => kinds::HELM_RELEASE,
            Self::ArgoCd => kinds::APPLICATION,
            Self::ArgoCdSet => kinds::APPLICATION_SET,
        }
    }
}
