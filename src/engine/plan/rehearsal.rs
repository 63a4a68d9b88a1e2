//! A cluster with the steps to be simulated on it.

use super::choose::Candidate;
use super::notes::{self, Ground};
use super::question::{PlanError, Question};
use super::titles::{targets_of, title};
use crate::cluster::{Assumptions, Built};
use crate::gc::{self, Options, Plan, Step};
use crate::kube::Wait;
use crate::story::{ImpliedDependent, PlanView};

/// A cluster with the steps to be simulated on it.
#[derive(Debug)]
pub struct Rehearsal {
    cluster: gc::Cluster,
    steps: Vec<Step>,
    options: Options,
    implied: Vec<ImpliedDependent>,
    notes: Vec<String>,
}

impl Rehearsal {
    /// Builds the cluster of a bundle and looks up what the question is about. With `kubelet`, Pods run on nodes and finish
    /// when they are deleted.
    pub(in crate::engine) fn new(
        candidate: &Candidate<'_>,
        question: &Question,
        kubelet: bool,
    ) -> Result<Self, PlanError> {
        let Candidate { analysis, implied, targets, .. } = candidate;
        let is_deletion = matches!(question, Question::Delete { .. });
        let steps = match question {
            Question::Steps { steps, namespace } => steps.resolve(targets, namespace.as_deref())?,
            Question::Delete { targets: words, namespace, policy } => {
                vec![Step::Delete {
                    targets: targets.resolve(words, namespace.as_deref())?,
                    policy: *policy,
                    wait: Wait::Settled,
                }]
            }
        };
        let named = steps.iter().flat_map(targets_of);
        let namespaces = named.filter(|key| targets.is_implicit(key)).map(|key| key.name.clone()).collect();
        let Built { cluster, assumptions } = analysis.rehearsed(implied, &namespaces, kubelet)?;
        let ground = Ground { inventory: analysis.inventory(), implied, namespaces: &namespaces, running: kubelet };
        let notes = notes::notes(&ground, &assumptions);
        let implied = known_implied(&cluster, &implied.objects);
        let options = Options { kubelet, ..Options::default() };
        let mut rehearsal = Self { cluster, steps, options, implied, notes };
        if is_deletion {
            rehearsal.settle_first(&assumptions);
        }
        Ok(rehearsal)
    }

    /// [SIM-4]: a deletion is not blamed for what the collector would remove anyway. A list of steps says when to settle.
    fn settle_first(&mut self, assumptions: &Assumptions) {
        let verdict_only = Options { state_cap: 0, ..self.options.clone() };
        let settled = gc::simulate(&self.cluster, &[Step::Settle], &verdict_only);
        if !settled.changes(0).is_empty() {
            let note = notes::collapse(&settled, assumptions);
            self.notes.extend(note);
            self.steps.insert(0, Step::Settle);
        }
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Simulates the steps.
    pub fn simulate(&self) -> Plan<'_> {
        gc::simulate(&self.cluster, &self.steps, &self.options)
    }

    /// What formats may say about a plan of this rehearsal.
    pub fn view<'a>(&'a self, plan: &'a Plan<'a>) -> PlanView<'a> {
        let mut notes = self.notes.clone();
        notes.extend(notes::rejections(&self.steps, plan));
        PlanView {
            plan,
            steps: &self.steps,
            implied: self.implied.clone(),
            titles: self.steps.iter().map(title).collect(),
            targets: self.steps.iter().map(|step| targets_of(step).cloned().collect()).collect(),
            notes,
        }
    }
}

/// The implied objects that made it into the cluster.
fn known_implied(cluster: &gc::Cluster, objects: &[crate::ownership::ImpliedObject<'_>]) -> Vec<ImpliedDependent> {
    let implied = objects.iter().map(|object| ImpliedDependent {
        key: object.key.clone(),
        owner: object.owner.clone(),
        rule: object.rule,
    });
    implied.filter(|implied| cluster.find(&implied.key).is_some()).collect()
}
