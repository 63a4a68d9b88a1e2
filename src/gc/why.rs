//! Explanations: why every object ended as it did, along which chain of objects.

use std::collections::BTreeMap;

use super::cause::Cause;
use super::cluster::Cluster;
use super::flags::{FOREGROUND, TERMINATING};
use super::ids::ObjectId;
use super::links::Role;
use super::outcome::waits_for_kubelet;
use super::state::State;
use super::trace::Change;
use super::view::{Class, View};
use crate::kube::ObjectKey;

/// Why an object ended as it did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Why {
    /// In the order in which they decided, each once.
    pub causes: Vec<Cause>,
    /// From the object that the step was about down to this one, both included.
    pub chain: Vec<ObjectKey>,
    /// The round in which the object was removed, or last touched.
    pub round: u32,
}

/// Explains every object that has changed `since`, and every live object with an owner that is gone or Terminating.
pub(super) fn explain(
    cluster: &Cluster,
    state: &State,
    before: &[Change],
    since: &[Change],
    rejected: impl Iterator<Item = ObjectId>,
) -> BTreeMap<ObjectKey, Why> {
    // The first change of each object, over all steps.
    let mut began: BTreeMap<ObjectId, &Change> = BTreeMap::new();
    for change in before.iter().chain(since) {
        began.entry(change.object).or_insert(change);
    }
    let mut explained: BTreeMap<ObjectId, Why> = BTreeMap::new();
    for change in since {
        let why = explained.entry(change.object).or_default();
        why.round = change.round;
        add(&mut why.causes, change.cause);
    }
    let view = View { cluster, state };
    for id in rejected.filter(|id| state.live(*id)) {
        add(&mut explained.entry(id).or_default().causes, Cause::WebhookRejects);
    }
    for id in cluster.ids().filter(|id| state.live(*id)) {
        for cause in causes_of_standing(view, id) {
            add(&mut explained.entry(id).or_default().causes, cause);
        }
    }
    let shown = explained.into_iter().filter(|(id, _)| !cluster.is_assumed(*id));
    let keyed = shown.map(|(id, mut why)| {
        why.chain = chain(cluster, &began, id);
        (cluster.key(id), why)
    });
    keyed.collect()
}

fn add(causes: &mut Vec<Cause>, cause: Cause) {
    if !causes.contains(&cause) {
        causes.push(cause);
    }
}

/// Follows causes upwards; a cycle of owners ends where it would begin again.
fn chain(cluster: &Cluster, began: &BTreeMap<ObjectId, &Change>, id: ObjectId) -> Vec<ObjectKey> {
    let mut ids = vec![id];
    let mut seen = std::collections::BTreeSet::from([id]);
    while let Some(via) = ids.last().and_then(|last| began.get(last)).and_then(|change| change.via) {
        if !seen.insert(via) {
            break;
        }
        ids.push(via);
    }
    ids.into_iter().rev().map(|id| cluster.key(id)).collect()
}

/// Why a live object with troubled owners was left alone, or is still Terminating.
fn causes_of_standing(view: View<'_>, id: ObjectId) -> Vec<Cause> {
    let (cluster, state) = (view.cluster, view.state);
    if state.has(id, TERMINATING) {
        return causes_of_holding(view, id);
    }
    let mut causes = Vec::new();
    for index in cluster.refs_of(id).filter(|index| state.present(*index)) {
        match view.classify(index) {
            Class::Unresolvable => add(&mut causes, Cause::OwnerKindUnserved),
            Class::OutOfScope => add(&mut causes, Cause::OwnerOutOfScope),
            Class::Solid if state.has(cluster.reference(index).by_uid, TERMINATING) => {
                add(&mut causes, Cause::OwnerTerminating)
            }
            _ => {}
        }
    }
    causes
}

/// The live objects that are not Terminating although something is wrong with an owner of theirs.
pub(super) fn spared(cluster: &Cluster, state: &State) -> Vec<(ObjectId, Vec<Cause>)> {
    let view = View { cluster, state };
    let live = cluster.ids().filter(|id| state.live(*id) && !state.has(*id, TERMINATING));
    live.map(|id| (id, causes_of_standing(view, id))).filter(|(_, causes)| !causes.is_empty()).collect()
}

fn causes_of_holding(view: View<'_>, id: ObjectId) -> Vec<Cause> {
    let (cluster, state) = (view.cluster, view.state);
    let mut causes = Vec::new();
    if waits_for_kubelet(state, id) {
        causes.push(Cause::AwaitsKubelet);
    }
    if state.has(id, FOREGROUND) {
        let own = cluster.refs_of(id).any(|index| cluster.reference(index).by_uid == id && state.blocks(index));
        causes.push(if own { Cause::AwaitsItself } else { Cause::AwaitsDependents });
    }
    if !state.without_foreign_finalizers(cluster, id) {
        causes.push(Cause::AwaitsFinalizers);
    }
    match cluster.links.roles.get(&id) {
        Some(Role::Namespace { pods, .. }) if pods.iter().any(|pod| state.live(*pod)) => causes.push(Cause::AwaitsPods),
        Some(Role::Namespace { .. }) => causes.push(Cause::AwaitsContent),
        Some(Role::Definition { .. }) => causes.push(Cause::AwaitsInstances),
        _ => {}
    }
    if cluster.links.is_namespace(id) && view.failing_apis().next().is_some() {
        causes.push(Cause::AwaitsDiscovery);
    }
    causes
}
