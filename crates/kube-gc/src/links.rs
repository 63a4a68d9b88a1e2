//! Ties between objects besides owner references: namespaces and their content, definitions
//! and their instances, objects with a protection finalizer and the objects that use them
//! (`[FIN-1]` to `[FIN-6]`), and objects that a controller deletes along with another `[DEP-19]`.

use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use crate::callouts::Callouts;
use crate::cause::Protection;
use crate::ids::{ControllerId, FinalizerId, NONE, ObjectId, RefId};
use crate::kinds::KindId;

/// The special role of an object in deletion.
#[derive(Debug, Clone)]
pub(super) enum Role {
    /// `graceful`: a DELETE starts a grace period, unless it is forced `[DEL-12]`.
    Pod { graceful: bool },
    /// `pods` are deleted before `content`; in releases that do not order them, Pods are in `content`.
    Namespace {
        content: Vec<ObjectId>,
        pods: Vec<ObjectId>,
        /// `spec.finalizers` except `kubernetes`.
        tokens: Vec<String>,
    },
    Definition {
        instances: Vec<ObjectId>,
        cleanup: FinalizerId,
        established: bool,
    },
}

/// A finalizer that a built-in controller removes automatically.
#[derive(Debug, Clone)]
pub(super) struct Protected {
    pub(super) object: ObjectId,
    pub(super) finalizer: FinalizerId,
    pub(super) release: ProtectionEnd,
    pub(super) protection: Protection,
}

/// When a protection finalizer is removed.
#[derive(Debug, Clone)]
pub(super) enum ProtectionEnd {
    /// Removed from a Terminating object once none of these holds it.
    WhenUnheld(Vec<Holder>),
    /// Removed from a Pod that is Terminating, whose Job is gone, or that no longer refers to its Job `[FIN-5]`.
    JobTracking { reference: Option<RefId> },
}

/// An object that keeps a protection finalizer on another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) object: ObjectId,
    /// If set, it holds until it is Terminating and its grace period is over; otherwise until it is gone `[FIN-14]`.
    pub(super) until_finished: bool,
}

/// A finalizer that a controller outside of the control plane removes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reconciled {
    pub(super) object: ObjectId,
    pub(super) finalizer: FinalizerId,
    pub(super) controller: ControllerId,
}

/// The objects that a controller outside of the control plane needs, sorted: at least one in a
/// whole cluster. In a part of it, objects outside of the part are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ControllerNeeds {
    pub(super) workloads: Vec<ObjectId>,
    /// Each entry is a ServiceAccount, a binding and a role that suffice together. One whose
    /// objects are all outside of the part is empty and cannot be lost. The list is empty if the
    /// authority is unknown.
    pub(super) authority: Vec<Vec<ObjectId>>,
}

impl ControllerNeeds {
    pub(super) fn needs(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.workloads
            .iter()
            .chain(self.authority.iter().flatten())
            .copied()
    }
}

/// All ties of a cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Links {
    pub(super) roles: BTreeMap<ObjectId, Role>,
    pub(super) definition_of: BTreeMap<KindId, ObjectId>,
    pub(super) namespaces: Vec<ObjectId>,
    pub(super) definitions: Vec<ObjectId>,
    /// By object: the Namespace that contains it, or [`NONE`].
    homes: TiVec<ObjectId, ObjectId>,
    /// Owners that some dependent names wrongly, so that the collector treats them as absent for all dependents
    /// `[GC-17a]`. Empty for releases without this behaviour.
    pub(super) misnamed_owners: BTreeSet<ObjectId>,
    /// Sorted by object.
    pub(super) protections: Vec<Protected>,
    /// Sorted by object.
    pub(super) reconciled: Vec<Reconciled>,
    /// Distinct in a whole cluster; in a part of it, some may be equal.
    pub(super) controllers: TiVec<ControllerId, ControllerNeeds>,
    /// All objects in the authority of any controller, sorted.
    pub(super) authority: Vec<ObjectId>,
    /// The Pods of each workload that a controller needs, by their initial owner references.
    pub(super) pods_of: BTreeMap<ObjectId, Vec<ObjectId>>,
    /// (leader, follower): the follower is deleted when the leader is gone; sorted.
    pub(super) followers: Vec<(ObjectId, ObjectId)>,
    pub(super) callouts: Callouts,
}

impl Links {
    /// Returns the Namespace that contains an object.
    pub(super) fn home_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.homes.get(id).copied().filter(|home| *home != NONE)
    }

    pub(super) fn set_home(&mut self, id: ObjectId, home: ObjectId) {
        let known = self.homes.len().max(usize::from(id.next()));
        self.homes.resize(known, NONE);
        self.homes[id] = home;
    }

    pub(super) fn protections_of(&self, id: ObjectId) -> &[Protected] {
        of_object(&self.protections, id, |protection| protection.object)
    }

    pub(super) fn reconciled_of(&self, id: ObjectId) -> &[Reconciled] {
        of_object(&self.reconciled, id, |reconciled| reconciled.object)
    }

    pub(super) fn followers_of(&self, leader: ObjectId) -> &[(ObjectId, ObjectId)] {
        of_object(&self.followers, leader, |(leader, _)| *leader)
    }

    pub(super) fn pods_of(&self, workload: ObjectId) -> &[ObjectId] {
        self.pods_of.get(&workload).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_authority(&self, id: ObjectId) -> bool {
        self.authority.binary_search(&id).is_ok()
    }

    pub(super) fn is_namespace(&self, id: ObjectId) -> bool {
        self.content_of(id).is_some()
    }

    /// Returns the Pods that a namespace deletes first, and its other content; `None` if the object is not a namespace.
    pub(super) fn content_of(&self, id: ObjectId) -> Option<(&[ObjectId], &[ObjectId])> {
        match self.roles.get(&id)? {
            Role::Namespace { pods, content, .. } => Some((pods, content)),
            _ => None,
        }
    }
}

/// Returns the items of an object in a list that is sorted by object.
fn of_object<T>(list: &[T], id: ObjectId, object_of: impl Fn(&T) -> ObjectId) -> &[T] {
    let start = list.partition_point(|item| object_of(item) < id);
    let end = list.partition_point(|item| object_of(item) <= id);
    &list[start..end]
}
