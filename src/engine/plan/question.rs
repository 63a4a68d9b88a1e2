//! Questions that a plan answers, and errors that prevent a plan.

use miette::Diagnostic;
use thiserror::Error;

use super::steps::Steps;
use super::targets::TargetError;
use crate::config::Mistake;
use crate::engine::SessionError;
use crate::gc::ClusterError;
use crate::kube::Policy;

/// A question that a plan answers.
#[derive(Clone, Debug)]
pub enum Question {
    /// `plan delete`: all requests are sent, then the cluster settles.
    Delete {
        /// The targets, as kubectl users type them.
        targets: Vec<String>,
        /// The namespace of targets that name none.
        namespace: Option<String>,
        /// The propagation policy; `None` sends no policy.
        policy: Option<Policy>,
    },
    /// `plan --steps`.
    Steps {
        /// The steps, in order.
        steps: Steps,
        /// The namespace of targets that name none.
        namespace: Option<String>,
    },
}

/// An error that prevents a plan.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum PlanError {
    /// A target that matches no object, or several.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Target(#[from] TargetError),
    /// A mistake in the list of steps.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Steps(#[from] Mistake),
    /// More objects than the model can count.
    #[error("the input cannot be simulated: {0}")]
    Cluster(#[from] ClusterError),
    /// A removal that names no tool, of objects that are not all of one tool.
    #[error("it is not clear which tool removes the objects: {found}")]
    #[diagnostic(help(
        "name it with `--by TOOL`: `helm`, `kubectl`, `argocd`, `flux` or `namespace`"
    ))]
    WhichTool {
        /// The tools that were found, with the numbers of their objects.
        found: String,
    },
    /// A removal by Argo CD of objects that several Applications deliver.
    #[error("several Applications deliver the objects: {found}")]
    #[diagnostic(help(
        "`ownerlint plan delete application/NAME` plans the deletion of one; or name only the files of one"
    ))]
    WhichApplication {
        /// Their names.
        found: String,
    },
    /// The deletion of a Namespace whose name the input does not contain.
    #[error("it is not clear which namespace is deleted: {found}")]
    #[diagnostic(help("name it with `--release-namespace NAME`"))]
    WhichNamespace {
        /// The alternatives that were found.
        found: String,
    },
    /// The target is in several clusters.
    #[error("a plan is about one cluster, and the target is in {found}")]
    Clusters {
        /// The number of clusters.
        found: usize,
        /// How to choose.
        #[help]
        help: String,
    },
    /// A cluster that the input does not have.
    #[error("there is no cluster `{name}` in the input")]
    UnknownCluster {
        /// The name that was given.
        name: String,
        /// A list of the clusters.
        #[help]
        help: String,
    },
    /// An error in the evaluation of deliveries.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Deliveries(#[from] Box<SessionError>),
    /// The targets are in several bundles or in none of several, or no bundle was read.
    #[error("a plan is about one bundle, and {found}")]
    Bundles {
        /// The alternatives that were found.
        found: String,
        /// How to choose.
        #[help]
        help: String,
    },
}
