//! What is told of a plan besides what the simulation itself knows.

use crate::gc::{Plan, Step};
use crate::kube::ObjectKey;

/// What the presentation of a plan may say besides the simulation itself.
#[derive(Debug)]
pub struct PlanView<'a> {
    /// The finished simulation.
    pub plan: &'a Plan<'a>,
    /// The steps that were simulated.
    pub steps: &'a [Step],
    /// Objects of the simulated cluster that no manifest contains.
    pub implied: Vec<ImpliedDependent>,
    /// One line per step: what is done, as its user would say it.
    pub titles: Vec<String>,
    /// Per step: what the request names.
    pub targets: Vec<Vec<ObjectKey>>,
    /// What was assumed; one sentence each.
    pub notes: Vec<String>,
}

/// An object that a controller would have created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpliedDependent {
    /// The object.
    pub key: ObjectKey,
    /// The object because of which it exists.
    pub owner: ObjectKey,
    /// The rule that says so: `DEP-1`.
    pub rule: &'static str,
}
