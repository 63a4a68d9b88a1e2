//! Effects of deleting single objects of a bundle.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::cluster::{Analysis, Scenario};
use crate::gc::{self, Effect, Hold, SimulationOptions, Step};
use crate::kube::{ObjectKey, Policy, Wait, kinds};
use crate::ownership::Products;

/// The effects of `kubectl delete` of one object, beyond those of the garbage collector alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectDeletion {
    /// The objects that are gone, in the order in which they go.
    pub deleted: Vec<ObjectKey>,
    /// The objects that stay Terminating, in the order of their keys, each with its remaining finalizers.
    pub stuck: BTreeMap<ObjectKey, Vec<String>>,
}

/// The cluster of a bundle, built once, and the deletions that were asked about.
#[derive(Debug)]
pub(super) struct Deletions {
    scenario: Scenario,
    known: RefCell<BTreeMap<ObjectKey, Option<Rc<ObjectDeletion>>>>,
}

impl Deletions {
    /// `None` for more objects than the model can count.
    pub(super) fn of(analysis: &Analysis<'_>) -> Option<Self> {
        Some(Self {
            scenario: scenario(analysis, BTreeSet::new())?,
            known: RefCell::default(),
        })
    }

    /// Returns the effects of deleting an object; `None` if the cluster has no such object.
    pub(super) fn deletion(
        &self,
        analysis: &Analysis<'_>,
        object: &ObjectKey,
    ) -> Option<Rc<ObjectDeletion>> {
        if let Some(known) = self.known.borrow().get(object) {
            return known.clone();
        }
        let deletion = match self.scenario.cluster.find(object) {
            Some(_) => Some(delete(&self.scenario, object)),
            // A Namespace without a manifest exists because objects live in it.
            None if object.is(kinds::NAMESPACE) => {
                let scenario = scenario(analysis, BTreeSet::from([object.name.to_string()]));
                scenario.map(|scenario| delete(&scenario, object))
            }
            None => None,
        };
        let deletion = deletion.map(Rc::new);
        self.known
            .borrow_mut()
            .insert(object.clone(), deletion.clone());
        deletion
    }
}

fn scenario(analysis: &Analysis<'_>, namespaces: BTreeSet<String>) -> Option<Scenario> {
    // The verdict alone: a hover does not list what races could change.
    let options = SimulationOptions::verdict();
    let mut scenario = Scenario::of(
        analysis,
        &analysis.implied(Products::Owned),
        namespaces,
        Vec::new(),
        options,
    )
    .ok()?;
    scenario.settle_first();
    Some(scenario)
}

fn delete(scenario: &Scenario, object: &ObjectKey) -> ObjectDeletion {
    let mut steps = scenario.steps.clone();
    let last = steps.len();
    steps.push(Step::Delete {
        targets: vec![object.clone()],
        policy: Some(Policy::Background),
        wait: Wait::Settled,
        client: 0,
    });
    let cluster = &scenario.cluster;
    let plan = gc::simulate(cluster, &steps, &scenario.options);
    let changes = plan.changes(last);
    let with = |effect| {
        changes
            .iter()
            .filter(move |change| change.effect == effect)
            .map(|change| change.object)
    };
    let deleted = with(Effect::Gone).map(|id| cluster.key(id)).collect();
    // Objects that were Terminating before are no effect of this deletion.
    let begun: BTreeSet<_> = with(Effect::Deleted).collect();
    let stuck = plan
        .stuck(last)
        .into_iter()
        .filter(|held| begun.contains(&held.object));
    let finalizers = |holds: Vec<Hold>| {
        holds
            .into_iter()
            .flat_map(|hold| match hold {
                Hold::Finalizers(finalizers) => finalizers,
                _ => Vec::new(),
            })
            .collect()
    };
    ObjectDeletion {
        deleted,
        stuck: stuck
            .map(|held| (cluster.key(held.object), finalizers(held.holds)))
            .collect(),
    }
}
