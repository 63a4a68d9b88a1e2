//! Explanations of the fate of each object, with the chain of objects that led to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cause::Cause;
use crate::cluster::Cluster;
use crate::flags::{FOREGROUND, TERMINATING};
use crate::ids::ObjectId;
use crate::links::Role;
use crate::names::ObjectKey;
use crate::outcome::waits_for_kubelet;
use crate::state::State;
use crate::trace::Change;
use crate::view::{Class, View};

/// Maximum number of keys in a chain. Without it, the chains of `n` objects in a row have `n²/2` keys in total.
const MAX_LINKS: usize = 32;

/// Why an object ended as it did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Why {
    /// In the order in which they applied, deduplicated.
    pub causes: Vec<Cause>,
    /// From the object where the chain of causes began down to this one, both included.
    pub chain: Vec<ObjectKey>,
    /// Number of objects omitted between the first and the second key of a long chain.
    pub omitted: usize,
    /// The round in which the object was removed, or last touched.
    pub round: u32,
}

/// The changes up to a verdict.
pub(super) struct History<'a> {
    pub(super) cluster: &'a Cluster,
    /// The verdict.
    pub(super) state: Arc<State>,
    /// The changes up to the last step that settled, and those after it.
    pub(super) before: Vec<Change>,
    pub(super) since: Vec<Change>,
    /// The objects of requests that were rejected after that step.
    pub(super) rejected: Vec<ObjectId>,
}

impl History<'_> {
    /// Explains objects that changed `since`, and live ones that are Terminating, spared, or had a request rejected.
    pub(super) fn explain(&self) -> BTreeMap<ObjectKey, Why> {
        // The first change of each object, in all steps.
        let mut began: BTreeMap<ObjectId, &Change> = BTreeMap::new();
        for change in self.before.iter().chain(&self.since) {
            began.entry(change.object).or_insert(change);
        }
        let mut ways = CauseChains {
            began: &began,
            known: BTreeMap::new(),
        };
        let keyed = self.causes().into_iter().map(|(id, (causes, round))| {
            let (chain, omitted) = ways.down_to(id);
            let chain = chain.into_iter().map(|id| self.cluster.key(id)).collect();
            (
                self.cluster.key(id),
                Why {
                    causes,
                    chain,
                    omitted,
                    round,
                },
            )
        });
        keyed.collect()
    }

    /// Returns the causes of the same objects, each with the round of the object's last change.
    pub(super) fn causes(&self) -> BTreeMap<ObjectId, (Vec<Cause>, u32)> {
        let (cluster, state) = (self.cluster, &*self.state);
        let mut explained: BTreeMap<ObjectId, (Vec<Cause>, u32)> = BTreeMap::new();
        for change in &self.since {
            let (causes, round) = explained.entry(change.object).or_default();
            *round = change.round;
            add(causes, change.cause);
        }
        let view = View { cluster, state };
        for id in self.rejected.iter().filter(|id| state.live(**id)) {
            let (causes, _) = explained.entry(*id).or_default();
            add(causes, Cause::WebhookRejects);
        }
        for id in cluster.ids().filter(|id| state.live(*id)) {
            for cause in causes_of_remaining(view, id) {
                add(&mut explained.entry(id).or_default().0, cause);
            }
        }
        explained.retain(|id, _| !cluster.is_assumed(*id));
        explained
    }
}

fn add(causes: &mut Vec<Cause>, cause: Cause) {
    if !causes.contains(&cause) {
        causes.push(cause);
    }
}

/// Chains of causes, followed upwards from an object to where they began.
struct CauseChains<'a> {
    /// The first change of each object.
    began: &'a BTreeMap<ObjectId, &'a Change>,
    /// Cache: the origin of a long chain, and the number of objects below it.
    known: BTreeMap<ObjectId, (ObjectId, usize)>,
}

impl CauseChains<'_> {
    fn above(&self, id: ObjectId) -> Option<ObjectId> {
        self.began.get(&id).and_then(|change| change.via)
    }

    /// Returns the chain down to an object, and the number of objects omitted. A cycle is cut where it would repeat.
    fn down_to(&mut self, id: ObjectId) -> (Vec<ObjectId>, usize) {
        let mut ids = vec![id];
        let mut last = id;
        let mut omitted = 0;
        while let Some(via) = self.above(last).filter(|via| !ids.contains(via)) {
            if ids.len() == MAX_LINKS {
                (last, omitted) = self.origin(last);
                ids[MAX_LINKS - 1] = last;
                break;
            }
            ids.push(via);
            last = via;
        }
        ids.reverse();
        (ids, omitted)
    }

    /// Returns the origin of a chain, and the number of objects below it. Memoised: each object is visited once.
    fn origin(&mut self, id: ObjectId) -> (ObjectId, usize) {
        let (mut path, mut passed) = (Vec::new(), BTreeSet::new());
        let mut at = id;
        let (origin, mut below) = loop {
            if let Some(known) = self.known.get(&at) {
                break *known;
            }
            passed.insert(at);
            match self.above(at).filter(|via| !passed.contains(via)) {
                Some(via) => path.push(std::mem::replace(&mut at, via)),
                None => break (at, 0),
            }
        };
        for passed in path.into_iter().rev() {
            below += 1;
            self.known.insert(passed, (origin, below));
        }
        (origin, below)
    }
}

/// Returns why a live object is still Terminating, or why the collector spares it.
fn causes_of_remaining(view: View<'_>, id: ObjectId) -> Vec<Cause> {
    let (cluster, state) = (view.cluster, view.state);
    if state.has(id, TERMINATING) {
        return causes_of_stuck(view, id);
    }
    let mut causes = Vec::new();
    for index in view.references(id) {
        match view.classify(index) {
            Class::Unresolvable => add(&mut causes, Cause::OwnerKindUnserved),
            Class::OutOfScope => add(&mut causes, Cause::OwnerOutOfScope),
            Class::Solid if state.has(cluster.refs[index].by_uid, TERMINATING) => {
                add(&mut causes, Cause::OwnerTerminating);
            }
            _ => {}
        }
    }
    causes
}

/// Returns the live objects that are not Terminating but spared, with the causes.
pub(super) fn spared(cluster: &Cluster, state: &State) -> Vec<(ObjectId, Vec<Cause>)> {
    let view = View { cluster, state };
    let live = cluster
        .ids()
        .filter(|id| state.live(*id) && !state.has(*id, TERMINATING));
    live.map(|id| (id, causes_of_remaining(view, id)))
        .filter(|(_, causes)| !causes.is_empty())
        .collect()
}

fn causes_of_stuck(view: View<'_>, id: ObjectId) -> Vec<Cause> {
    let (cluster, state) = (view.cluster, view.state);
    let mut causes = Vec::new();
    if waits_for_kubelet(state, id) {
        causes.push(Cause::AwaitsKubelet);
    }
    if state.has(id, FOREGROUND) {
        let own = cluster
            .refs_of(id)
            .any(|index| cluster.refs[index].by_uid == id && state.blocks(index));
        causes.push(if own {
            Cause::AwaitsItself
        } else {
            Cause::AwaitsDependents
        });
    }
    if !state.without_foreign_finalizers(cluster, id) {
        causes.push(Cause::AwaitsFinalizers);
    }
    match cluster.links.roles.get(&id) {
        Some(Role::Namespace { pods, .. }) if pods.iter().any(|pod| state.live(*pod)) => {
            causes.push(Cause::AwaitsPods);
        }
        Some(Role::Namespace { .. }) => causes.push(Cause::AwaitsContent),
        Some(Role::Definition { .. }) => causes.push(Cause::AwaitsInstances),
        _ => {}
    }
    if cluster.links.is_namespace(id) && view.state.failing.has_apis() {
        causes.push(Cause::AwaitsDiscovery);
    }
    causes
}
