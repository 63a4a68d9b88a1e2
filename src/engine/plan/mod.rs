//! Plans of deletions and teardowns: the cluster that a plan is about, its steps, and notes on its assumptions.

mod cascaded;
mod choose;
mod clusters;
mod deletion;
mod followed;
mod notes;
mod planner;
mod question;
mod recreated;
mod steps;
mod target_words;
mod targets;
mod teardown;

pub(super) use cascaded::cascaded;
pub(super) use choose::{Candidate, choose, choose_removed};
pub(super) use clusters::{Clusters, PlannedCluster};
pub use deletion::{DeletionPlan, DeletionRequest};
pub(super) use followed::followed;
pub use planner::Planner;
pub use question::{PlanError, Question};
pub use steps::{POLICIES, Steps};
pub use targets::TargetError;
pub(super) use targets::Targets;
pub use teardown::{Teardown, TeardownBy, TeardownRequest};
