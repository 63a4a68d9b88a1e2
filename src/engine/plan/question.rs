//! Questions, and why there is no answer.

use miette::Diagnostic;
use thiserror::Error;

use super::steps::Steps;
use super::targets::TargetError;
use crate::config::Mistake;
use crate::engine::SessionError;
use crate::gc::ClusterError;
use crate::kube::Policy;

/// A question.
#[derive(Clone, Debug)]
pub enum Question {
    /// `plan delete`: all requests are sent, then the cluster settles.
    Delete {
        /// As kubectl users type them.
        targets: Vec<String>,
        /// The namespace of targets that name none.
        namespace: Option<String>,
        /// `None`: no policy is sent.
        policy: Option<Policy>,
    },
    /// `plan --steps`.
    Steps {
        /// In order.
        steps: Steps,
        /// The namespace of targets that name none.
        namespace: Option<String>,
    },
}

/// Why there is no plan.
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
    /// A namespace is to be deleted, and the input does not say which.
    #[error("it is not clear which namespace is deleted: {found}")]
    #[diagnostic(help("name it with `--release-namespace NAME`"))]
    WhichNamespace {
        /// The alternatives that were found.
        found: String,
    },
    /// The target is in several clusters.
    #[error("a plan is about one cluster, and the target is in {found}")]
    Clusters {
        /// In how many.
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
        /// Which there are.
        #[help]
        help: String,
    },
    /// What tools deliver cannot be evaluated.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Deliveries(#[from] Box<SessionError>),
    /// More than one bundle was read, and the targets do not say which one is meant.
    #[error("a plan is about one bundle, and {found}")]
    Bundles {
        /// The alternatives that were found.
        found: String,
        /// How to choose.
        #[help]
        help: String,
    },
}
