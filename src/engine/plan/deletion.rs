//! The plan of one deletion: the request and its effects.

use super::planner::Planner;
use super::question::Question;
use crate::gc::Fate;
use crate::kube::{ObjectKey, Policy};
use crate::report::Options;
use crate::report::plan::{self, PlanFormat};

/// Objects to delete, as kubectl would.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeletionRequest {
    /// `deployment/web`, `ns/shop`, `foos.example.com/one`, or a key like `Deployment.apps/shop/web`.
    pub targets: Vec<String>,
    /// The namespace of targets that do not name one.
    pub namespace: Option<String>,
    /// The name of the cluster, if the input is delivered to several.
    pub cluster: Option<String>,
    /// The propagation policy of the request; `None` sends no policy, as raw API clients do.
    pub policy: Option<Policy>,
    /// Whether Pods run on nodes, so that deleted Pods finish. If not, those bound to a node stay Terminating.
    pub kubelet: bool,
}

impl DeletionRequest {
    /// Builds the request of `kubectl delete`: the policy is Background, and nodes run.
    pub fn new<T: Into<String>>(targets: impl IntoIterator<Item = T>) -> Self {
        let targets = targets.into_iter().map(Into::into).collect();
        Self {
            targets,
            namespace: None,
            cluster: None,
            policy: Some(Policy::Background),
            kubelet: true,
        }
    }

    pub(in crate::engine) fn question(&self) -> Question {
        let Self {
            targets,
            namespace,
            policy,
            cluster: _,
            kubelet: _,
        } = self;
        Question::Delete {
            targets: targets.clone(),
            namespace: namespace.clone(),
            policy: *policy,
        }
    }
}

/// The effects of a deletion, once the cluster has settled.
#[derive(Debug)]
#[non_exhaustive]
pub struct DeletionPlan {
    /// The deleted objects, in the order of their keys, including those that the garbage collector deletes by itself.
    pub deleted: Vec<ObjectKey>,
    /// The objects that stay Terminating, in the order of their keys.
    pub stuck: Vec<ObjectKey>,
    planner: Planner,
}

impl DeletionPlan {
    pub(in crate::engine) fn new(planner: Planner) -> Self {
        let plan = planner.simulate();
        let verdict = plan.verdict();
        let (mut deleted, mut stuck) = (Vec::new(), Vec::new());
        for (key, fate) in verdict.map_or_else(Vec::new, |verdict| plan.fates(verdict)) {
            match fate {
                Fate::Gone => deleted.push(key),
                Fate::Present(present) if present.terminating => stuck.push(key),
                Fate::Present(_) => {}
            }
        }
        drop(plan);
        Self {
            deleted,
            stuck,
            planner,
        }
    }

    /// Renders the plan: every step with its reasons, how to release stuck objects, and the assumptions.
    pub fn render(&self, format: PlanFormat) -> String {
        let plan = self.planner.simulate();
        plan::render(format, &self.planner.view(&plan), &Options::default())
    }
}
