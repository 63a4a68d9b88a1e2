//! Reasons why a Terminating object is not removed.

use crate::cause::Protection;
use crate::cluster::Cluster;
use crate::discovery::FailingApi;
use crate::flags::{DELETING_DEPENDENTS, FOREGROUND, SPEC_KUBERNETES, TERMINATING, gc_finalizers};
use crate::ids::ObjectId;
use crate::links::{ControllerNeeds, ProtectionEnd, Role};
use crate::outcome::waits_for_kubelet;
use crate::reconcilers::FinalizerRemoval;
use crate::state::State;
use crate::view::View;

/// A reason why a Terminating object stays. Objects are sorted; finalizers are in the order in which they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// A Pod's kubelet has not confirmed that its containers have stopped.
    Kubelet,
    /// Finalizers that the control plane does not remove, or cannot because a webhook rejects it.
    Finalizers(Vec<String>),
    /// A protection finalizer, which the control plane removes once none of the objects in `by` uses the object.
    InUse {
        /// The kind of protection.
        protection: Protection,
        /// Objects that use it.
        by: Vec<ObjectId>,
    },
    /// Remaining instances of the kind that a definition defines.
    Instances(Vec<ObjectId>),
    /// Remaining content of a namespace.
    NamespaceContent {
        /// Pods that have to be gone before the namespace controller deletes anything else.
        pods: Vec<ObjectId>,
        /// Everything else.
        others: Vec<ObjectId>,
    },
    /// Tokens in the `spec.finalizers` of a namespace besides the namespace controller's own.
    SpecFinalizers(Vec<String>),
    /// Dependents that its foreground deletion waits for.
    BlockingDependents {
        /// All of them.
        dependents: Vec<ObjectId>,
        /// Whether the object is one of them itself.
        itself: bool,
    },
    /// Finalizers of the collector that the collector does not process on this object.
    Unhandled(Vec<String>),
    /// Aggregated APIs without a backend: while their APIServices exist, no namespace is finished.
    Discovery(Vec<FailingApi>),
}

impl Hold {
    /// Returns the rules of the deletion semantics behind the hold.
    pub fn citations(&self) -> &'static [&'static str] {
        match self {
            Self::Kubelet => &["DEL-15"],
            Self::Finalizers(_) => &["FIN-17"],
            Self::InUse { protection, .. } => protection.citations(),
            Self::Instances(_) => &["CRD-4"],
            Self::NamespaceContent { pods, .. } if pods.is_empty() => &["NS-9"],
            Self::NamespaceContent { .. } => &["NS-17"],
            Self::SpecFinalizers(_) => &["NS-3"],
            Self::BlockingDependents { itself: true, .. } => &["GC-44"],
            Self::BlockingDependents { itself: false, .. } => &["GC-33"],
            Self::Unhandled(_) => &["GC-2"],
            Self::Discovery(_) => &["NS-11"],
        }
    }
}

/// An object that stays Terminating, and everything that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldObject {
    /// The object.
    pub object: ObjectId,
    /// All reasons why it stays.
    pub holds: Vec<Hold>,
    /// Objects that a controller needs to release this one but loses at about the same time. If the controller is
    /// quicker, the object does not get stuck. Empty if no controller can be quicker.
    pub unless_quicker: Vec<ObjectId>,
    /// Remaining workloads that may run its controller: if one does, the object is not stuck. Empty if there is none.
    pub unless_run_by: Vec<ObjectId>,
    /// Whether only finalizers without a controller hold it: its own, or those of the objects it waits for.
    pub unattended: bool,
}

impl HeldObject {
    /// Whether no controller can release it, however quick it is and whichever workload runs it.
    pub fn is_certain(&self) -> bool {
        self.unless_quicker.is_empty() && self.unless_run_by.is_empty()
    }
}

/// Returns every Terminating object that plans show, with its holds. [`super::unattended`] sets `unattended`.
pub(super) fn stuck(cluster: &Cluster, state: &State) -> Vec<HeldObject> {
    let view = View { cluster, state };
    let stuck = cluster
        .ids()
        .filter(|id| state.live(*id) && state.has(*id, TERMINATING) && !cluster.is_assumed(*id));
    stuck
        .map(|id| HeldObject {
            object: id,
            holds: holds(view, id),
            unless_quicker: sorted(
                racing(view, id, FinalizerRemoval::Race)
                    .flat_map(|controller| view.lacks(controller)),
            ),
            unless_run_by: sorted(
                racing(view, id, FinalizerRemoval::Certain)
                    .flat_map(|controller| controller.workloads.iter().copied()),
            ),
            unattended: false,
        })
        .collect()
}

/// For each finalizer whose removal is a race, returns the candidate controllers with which the
/// removal would be `removal` if they were the only candidate.
fn racing(
    view: View<'_>,
    id: ObjectId,
    removal: FinalizerRemoval,
) -> impl Iterator<Item = &ControllerNeeds> {
    let links = &view.cluster.links;
    let racing = links.reconciled_of(id).iter().filter(move |one| {
        view.finalizer_removal(one) == Some(FinalizerRemoval::Race)
            && view.finalizer_removal_by(one) == removal
    });
    racing.map(|one| &links.controllers[one.controller])
}

fn holds(view: View<'_>, id: ObjectId) -> Vec<Hold> {
    let mut holds = Vec::new();
    if waits_for_kubelet(view.state, id) {
        holds.push(Hold::Kubelet);
    }
    holds_by_finalizer(view, id, &mut holds);
    holds_by_role(view, id, &mut holds);
    holds_by_collector(view, id, &mut holds);
    holds
}

/// Adds the holds by finalizers. Protections in use are separate: the control plane removes them once unused.
fn holds_by_finalizer(view: View<'_>, id: ObjectId, holds: &mut Vec<Hold>) {
    let (cluster, state) = (view.cluster, view.state);
    let cleanup = match cluster.links.roles.get(&id) {
        Some(Role::Definition { cleanup, .. }) => Some(*cleanup),
        _ => None,
    };
    let protections = cluster.links.protections_of(id);
    let mut foreign = Vec::new();
    let mut in_use = Vec::new();
    let slots = cluster.finalizers_of(id);
    for slot in slots.filter(|slot| state.finalizers[*slot] && Some(*slot) != cleanup) {
        let protected = protections
            .iter()
            .find(|protected| protected.finalizer == slot);
        let by: Vec<ObjectId> = match protected.map(|protected| &protected.release) {
            Some(ProtectionEnd::WhenUnheld(holders)) => {
                let holding = holders.iter().filter(|holder| view.still_holds(**holder));
                sorted(holding.map(|holder| holder.object))
            }
            _ => Vec::new(),
        };
        match protected {
            Some(protected) if !by.is_empty() => in_use.push(Hold::InUse {
                protection: protected.protection,
                by,
            }),
            _ => foreign.push(cluster.finalizer(slot).to_owned()),
        }
    }
    if !foreign.is_empty() {
        holds.push(Hold::Finalizers(foreign));
    }
    holds.extend(in_use);
}

fn holds_by_role(view: View<'_>, id: ObjectId, holds: &mut Vec<Hold>) {
    let (cluster, state) = (view.cluster, view.state);
    match cluster.links.roles.get(&id) {
        Some(Role::Definition { instances, .. }) => {
            let instances = left(state, instances);
            if !instances.is_empty() {
                holds.push(Hold::Instances(instances));
            }
        }
        Some(Role::Namespace {
            content,
            pods,
            tokens,
        }) => {
            let (pods, others) = (left(state, pods), left(state, content));
            if !pods.is_empty() || !others.is_empty() {
                holds.push(Hold::NamespaceContent { pods, others });
            }
            if !tokens.is_empty() {
                holds.push(Hold::SpecFinalizers(tokens.clone()));
            }
            let failing: Vec<FailingApi> = view.failing_apis().collect();
            if state.has(id, SPEC_KUBERNETES) && !failing.is_empty() {
                holds.push(Hold::Discovery(failing));
            }
        }
        Some(Role::Pod { .. }) | None => {}
    }
}

fn left(state: &State, ids: &[ObjectId]) -> Vec<ObjectId> {
    sorted(ids.iter().copied().filter(|id| state.live(*id)))
}

fn holds_by_collector(view: View<'_>, id: ObjectId, holds: &mut Vec<Hold>) {
    let (cluster, state) = (view.cluster, view.state);
    let finalizers: Vec<String> = gc_finalizers(state.flags[id]).map(str::to_owned).collect();
    if finalizers.is_empty() {
        return;
    }
    let waits = state.has(id, DELETING_DEPENDENTS | FOREGROUND);
    let blocking = state
        .dependents(cluster, id)
        .filter(|dependent| waits && state.blocks(dependent.reference));
    let dependents = sorted(blocking.map(|dependent| dependent.holder));
    holds.push(if dependents.is_empty() {
        Hold::Unhandled(finalizers)
    } else {
        Hold::BlockingDependents {
            itself: dependents.contains(&id),
            dependents,
        }
    });
}

fn sorted(ids: impl Iterator<Item = ObjectId>) -> Vec<ObjectId> {
    let ids: std::collections::BTreeSet<ObjectId> = ids.collect();
    ids.into_iter().collect()
}
