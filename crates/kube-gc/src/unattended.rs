//! Objects that only finalizers hold whose controllers the cluster does not contain.
//!
//! The model never removes these finalizers, so the objects are stuck. A rendering is not a whole cluster, though: the
//! controller may run there and come from elsewhere. Callers that know which of the two the input is ask here.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Cluster;
use crate::hold::{HeldObject, Hold};
use crate::ids::ObjectId;

/// Marks the objects that nothing else holds: by a finalizer of their own, or because they wait for such objects alone.
pub(super) fn mark(cluster: &Cluster, held: &mut [HeldObject]) {
    let unattended = unattended(cluster, held);
    for one in held.iter_mut() {
        one.unattended = unattended.contains(&one.object);
    }
}

fn unattended(cluster: &Cluster, held: &[HeldObject]) -> BTreeSet<ObjectId> {
    let mut unattended: BTreeSet<ObjectId> = held.iter().map(|one| one.object).collect();
    let mut waiting: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    let mut held_for_certain = Vec::new();
    for one in held {
        let mut is_certain = false;
        for hold in &one.holds {
            match awaited(hold) {
                Some(awaited) => {
                    is_certain |= awaited.iter().any(|id| !unattended.contains(id));
                    for id in awaited {
                        waiting.entry(*id).or_default().push(one.object);
                    }
                }
                None => is_certain |= is_attended(cluster, one.object, hold),
            }
        }
        held_for_certain.extend(is_certain.then_some(one.object));
    }
    while let Some(id) = held_for_certain.pop() {
        if unattended.remove(&id) {
            held_for_certain.extend(waiting.get(&id).into_iter().flatten());
        }
    }
    unattended
}

/// The objects that an object waits for, if it waits for objects.
fn awaited(hold: &Hold) -> Option<&[ObjectId]> {
    match hold {
        Hold::InUse { by: awaited, .. } | Hold::Instances(awaited) => Some(awaited),
        Hold::BlockingDependents { dependents, .. } => Some(dependents),
        Hold::NamespaceContent { pods, others } => {
            Some(if pods.is_empty() { others } else { pods })
        }
        _ => None,
    }
}

/// Returns whether the cluster contains every controller that could end the hold.
fn is_attended(cluster: &Cluster, object: ObjectId, hold: &Hold) -> bool {
    let controlled = || {
        cluster
            .links
            .reconciled_of(object)
            .iter()
            .map(|one| cluster.finalizers[one.finalizer])
    };
    match hold {
        Hold::Finalizers(names) => {
            controlled().any(|name| names.iter().any(|held| held == cluster.text.get(name)))
        }
        Hold::SpecFinalizers(_) => false,
        _ => true,
    }
}
