//! Requests for a plan of a removal.

use crate::delivery::helm::HelmVersion;
use crate::kube::Policy;

/// The tool or command that removes everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TeardownBy {
    /// `helm uninstall`.
    Helm,
    /// `kubectl delete -f`.
    Kubectl,
    /// The Application of Argo CD is deleted.
    ArgoCd,
    /// The Kustomizations of Flux that no other one delivers are deleted; for objects that Helm rendered, the
    /// HelmReleases.
    Flux,
    /// The Namespace is deleted.
    Namespace,
}

/// A removal to plan.
#[derive(Clone, Debug)]
pub struct TeardownRequest {
    /// The tool or command that removes everything; `None`: the tool that delivers all objects.
    pub by: Option<TeardownBy>,
    /// The propagation policy, instead of the tool's own.
    pub cascade: Option<Policy>,
    /// The version of Helm that uninstalls.
    pub helm_version: HelmVersion,
    /// The namespace of the release, or the one that is deleted.
    pub release_namespace: Option<String>,
    /// The name of the cluster, if the input is delivered to several.
    pub cluster: Option<String>,
    /// Whether Pods run on nodes, and finish when they are deleted.
    pub kubelet: bool,
}
