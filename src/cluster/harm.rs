//! The harm that a teardown does: the objects that it leaves behind.

use std::collections::{BTreeMap, BTreeSet};

use crate::gc::{self, Fate, Hold, Plan, Rejection, Verb};
use crate::kube::{ObjectKey, kinds};

/// The objects that a teardown leaves behind in any of its outcomes.
#[derive(Debug, Default)]
pub(super) struct Harm {
    /// The objects that stay Terminating, with the finalizers that hold them; empty for one that only waits for others.
    pub(super) stuck: BTreeMap<ObjectKey, Vec<String>>,
    /// The targets that exist and are not Terminating: the request was rejected or never sent.
    pub(super) left: BTreeSet<ObjectKey>,
    /// The objects whose deletion a webhook rejected, in any request; others may wait for them.
    pub(super) rejected: BTreeSet<ObjectKey>,
    /// Webhook configurations and APIServices without a backend, which reject requests or block namespaces.
    pub(super) silent: BTreeSet<ObjectKey>,
}

impl Harm {
    pub(super) fn is_none(&self) -> bool {
        self.stuck.is_empty() && self.left.is_empty()
    }

    /// Returns the objects that do not merely wait for others or, if there are none, those that wait.
    pub(super) fn roots(&self) -> impl Iterator<Item = &ObjectKey> {
        let held = self
            .stuck
            .iter()
            .filter(|(_, finalizers)| !finalizers.is_empty())
            .map(|(key, _)| key);
        let held: Vec<&ObjectKey> = held.collect();
        let left: Vec<&ObjectKey> = self.left.iter().chain(&self.rejected).collect();
        let waiting = self
            .stuck
            .keys()
            .filter(|_| held.is_empty() && left.is_empty())
            .collect::<Vec<_>>();
        let mut seen = BTreeSet::new();
        [held, left, waiting]
            .into_iter()
            .flatten()
            .filter(move |key| seen.insert(*key))
    }
}

/// Collects the objects that `plan` leaves behind; `asked` are those that it has to delete.
pub(super) fn harm(plan: &Plan<'_>, asked: &[ObjectKey]) -> Harm {
    let mut harm = Harm::default();
    let Some(last) = plan.steps.len().checked_sub(1) else {
        return harm;
    };
    let cluster = plan.cluster();
    let held = plan.stuck(last).into_iter().map(|held| {
        let finalizers = held.holds.iter().flat_map(|hold| match hold {
            Hold::Finalizers(names) => names.clone(),
            _ => Vec::new(),
        });
        (cluster.key(held.object), finalizers.collect())
    });
    harm.stuck.extend(held);
    let rejections: Vec<Rejection> = (0..plan.steps.len())
        .flat_map(|step| plan.rejections(step))
        .collect();
    let deleted = rejections
        .iter()
        .filter(|one| one.verb == Verb::Delete)
        .map(|one| cluster.key(one.object));
    let rejected: BTreeSet<ObjectKey> = deleted.collect();
    let silent = rejections
        .iter()
        .map(|one| one.configuration)
        .chain(plan.failing_apis(last).into_iter().map(|api| api.object));
    harm.silent.extend(silent.map(|id| cluster.key(id)));
    let asked: BTreeSet<&ObjectKey> = asked
        .iter()
        .filter(|key| {
            !key.is(kinds::NAMESPACE) || !gc::IMMORTAL_NAMESPACES.contains(&key.name.as_str())
        })
        .collect();
    let mut outcomes = plan.steps[last].outcomes.iter();
    let verdict = outcomes.next().map(|verdict| plan.fates(verdict));
    let others = outcomes
        .flat_map(|outcome| plan.differences(outcome))
        .map(|(key, fate, _)| (key, fate));
    for (key, fate) in verdict.into_iter().flatten().chain(others) {
        match fate {
            Fate::Present(present) if present.terminating => {
                harm.stuck.entry(key).or_insert(present.finalizers);
            }
            Fate::Present(_) if asked.contains(&key) => _ = harm.left.insert(key),
            Fate::Present(_) if rejected.contains(&key) => _ = harm.rejected.insert(key),
            Fate::Present(_) | Fate::Gone => {}
        }
    }
    harm
}
