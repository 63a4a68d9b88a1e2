//! Objects held only by finalizers whose controllers are not in the cluster.
//!
//! The model never removes these finalizers, so the objects are stuck. A rendering is not a whole cluster, though: the
//! real one may have the controller from another source. Callers that know whether their input is a rendering or a
//! whole cluster read [`HeldObject::unattended`].

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Cluster;
use crate::hold::{HeldObject, Hold};
use crate::ids::ObjectId;

/// Marks the objects that only such finalizers hold: their own, or those of the objects they wait for.
pub(super) fn mark(cluster: &Cluster, held: &mut [HeldObject]) {
    let found = unattended(cluster, held);
    for one in held.iter_mut() {
        one.unattended = found.contains(&one.object);
    }
}

fn unattended(cluster: &Cluster, held: &[HeldObject]) -> BTreeSet<ObjectId> {
    // Start with all of them, and remove those that something else holds.
    let mut candidates: BTreeSet<ObjectId> = held.iter().map(|one| one.object).collect();
    let mut waiting: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    let mut held_otherwise = Vec::new();
    for one in held {
        let mut is_held_otherwise = false;
        for hold in &one.holds {
            match awaited(hold) {
                Some(awaited) => {
                    is_held_otherwise |= awaited.iter().any(|id| !candidates.contains(id));
                    for id in awaited {
                        waiting.entry(*id).or_default().push(one.object);
                    }
                }
                None => is_held_otherwise |= is_attended(cluster, one.object, hold),
            }
        }
        held_otherwise.extend(is_held_otherwise.then_some(one.object));
    }
    while let Some(id) = held_otherwise.pop() {
        if candidates.remove(&id) {
            held_otherwise.extend(waiting.get(&id).into_iter().flatten());
        }
    }
    candidates
}

/// Returns the objects that a hold waits for; `None` if it waits for something else.
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

/// Whether the hold has another reason than a missing controller: a controller in the cluster removes one of the
/// finalizers, or the hold is not by a finalizer.
fn is_attended(cluster: &Cluster, object: ObjectId, hold: &Hold) -> bool {
    match hold {
        Hold::Finalizers(names) => cluster.links.reconciled_of(object).iter().any(|one| {
            let removed = cluster.finalizer(one.finalizer);
            names.iter().any(|held| held == removed)
        }),
        // No known controller removes these.
        Hold::SpecFinalizers(_) => false,
        _ => true,
    }
}
