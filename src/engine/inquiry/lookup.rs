//! How the garbage collector looks an owner up.

use crate::inventory::{Inventory, Member, ObjectId, Release, Serving};
use crate::kube::{Namespace, Scope};
use crate::ownership::{Owner, OwnerEdge};
use crate::rules::is_contradicted;

/// The result of looking up the owner that a reference names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerLookup {
    /// The input contains the owner where the collector looks.
    Found {
        /// Whether no manifest confirms the uid of the reference: the cluster gives the owner a uid of its own.
        assumed: bool,
    },
    /// The reference names its own object.
    Itself,
    /// The object is cluster-scoped and the owner is not: the collector gives up ([GC-20]).
    OutOfReach,
    /// The kind is not served: the collector tries again forever ([GC-16]).
    NotServed,
    /// The owner is in that namespace and not in the object's: the collector treats it as deleted ([GC-17]).
    InNamespace(Namespace),
    /// The uid is that of another object ([GC-18]) or, before Kubernetes 1.20, a cluster-scoped object names a
    /// namespaced owner: the collector treats the owner as deleted.
    Mismatched,
    /// The input contains the owner, but nothing applies it.
    Unapplied,
    /// The input does not contain the owner.
    Absent {
        /// Whether the scope of the object's or of the owner's kind is unknown.
        unknown_scope: bool,
    },
}

/// Returns the first object with the kind and the name of an owner, in any namespace.
fn namesake(inventory: &Inventory, edge: &OwnerEdge) -> Option<ObjectId> {
    let reference = edge.reference(inventory);
    let group = reference.group_version().group;
    let namesakes = inventory.with_name(group, reference.kind(), reference.name());
    namesakes.first().copied()
}

impl OwnerLookup {
    pub(super) fn of(inventory: &Inventory, edge: &OwnerEdge) -> Self {
        let (dependent, reference) = (edge.dependent(inventory), edge.reference(inventory));
        let kind = inventory.owner_kind(reference);
        if !matches!(
            kind.serving,
            Serving::Yes | Serving::OffByDefault { .. } | Serving::Unknown
        ) {
            return Self::NotServed;
        }
        let scopes = (dependent.scope(), kind.scope);
        if scopes == (Some(Scope::Cluster), Some(Scope::Namespaced)) {
            let gives_up = inventory.kinds.release() >= Release::new(20);
            return if gives_up {
                Self::OutOfReach
            } else {
                Self::Mismatched
            };
        }
        match edge.owner {
            Owner::ByUid(id) | Owner::ByName(id) => Self::bound(inventory, edge, dependent, id),
            Owner::Elsewhere => {
                let there = namesake(inventory, edge);
                let there = there.map(|id| inventory.member(id).key.namespace.clone());
                Self::InNamespace(there.unwrap_or(Namespace::Unwritten))
            }
            Owner::Absent if is_contradicted(inventory, edge) => Self::Mismatched,
            Owner::Absent => Self::Absent {
                unknown_scope: scopes.0.is_none() || scopes.1.is_none(),
            },
        }
    }

    fn bound(inventory: &Inventory, edge: &OwnerEdge, dependent: &Member, owner: ObjectId) -> Self {
        let there = &inventory.member(owner).key.namespace;
        if owner == dependent.id {
            Self::Itself
        } else if dependent.key.namespace.certainly_differs(there) {
            Self::InNamespace(there.clone())
        } else if is_contradicted(inventory, edge) {
            Self::Mismatched
        } else {
            let has_uid = !edge.reference(inventory).uid().is_empty();
            Self::Found {
                assumed: has_uid && matches!(edge.owner, Owner::ByName(_)),
            }
        }
    }

    /// Whether a reference with this result keeps the collector from deciding about its object ([GC-22]).
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self, Self::OutOfReach | Self::NotServed)
    }
}
