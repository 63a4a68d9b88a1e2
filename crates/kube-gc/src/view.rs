//! Read-only queries of a cluster in one state.

use crate::cluster::Cluster;
use crate::flags::{FOREGROUND, GRACEFUL, TERMINATING, TREATED_ABSENT};
use crate::ids::{NONE, ObjectId, RefId};
use crate::links::Holder;
use crate::references::Lookup;
use crate::state::State;

/// A cluster in one of its states.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) state: &'a State,
}

/// The class of an owner reference `[GC-22]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The owner exists and does not wait for its dependents.
    Solid,
    /// The owner does not exist, or not under these coordinates.
    Dangling,
    /// The owner waits for its dependents to be deleted.
    Waiting,
    /// The kind does not resolve: the item fails and is retried `[GC-16]`.
    Unresolvable,
    /// A namespaced owner of a cluster-scoped object: the item is dropped `[GC-20]`.
    OutOfScope,
}

impl<'a> View<'a> {
    /// Returns the references that an object still has.
    pub(super) fn references(self, id: ObjectId) -> impl Iterator<Item = RefId> + 'a {
        let all = self.cluster.refs_of(id);
        all.filter(move |index| self.state.present(*index))
    }

    /// Whether the absent-owner cache answers for this reference, without a GET.
    pub(super) fn cached_absent(&self, reference: RefId) -> bool {
        let reference = self.cluster.refs[reference];
        if self.cluster.behaviour.absence_by_uid {
            let owner = reference.by_uid;
            return owner != NONE
                && (self.state.gone(owner) || self.state.has(owner, TREATED_ABSENT));
        }
        reference.exact && self.state.gone(reference.by_uid)
    }

    /// Classifies a reference in the current state.
    pub(super) fn classify(&self, index: RefId) -> Class {
        if self.cached_absent(index) {
            return Class::Dangling;
        }
        let reference = self.cluster.refs[index];
        match reference.lookup {
            Lookup::Unresolvable => Class::Unresolvable,
            _ if self.definition_is_gone(index) => Class::Unresolvable,
            Lookup::OutOfScope => Class::OutOfScope,
            Lookup::Elsewhere => Class::Dangling,
            Lookup::Owner if self.state.gone(reference.by_uid) => Class::Dangling,
            Lookup::Owner if self.state.has(reference.by_uid, TERMINATING | FOREGROUND) => {
                Class::Waiting
            }
            Lookup::Owner => Class::Solid,
        }
    }

    /// Whether the definition of the owner's kind is gone, so that the kind no longer resolves `[CRD-8]`.
    fn definition_is_gone(&self, index: RefId) -> bool {
        let definitions = &self.cluster.links.definition_of;
        if definitions.is_empty() {
            return false;
        }
        let kind = self.cluster.written[index].kind;
        kind.and_then(|kind| definitions.get(&kind))
            .is_some_and(|definition| self.state.gone(*definition))
    }

    /// Returns whether a holder still keeps the protection finalizer of the object it holds.
    pub(super) fn still_holds(&self, holder: Holder) -> bool {
        let finished =
            self.state.has(holder.object, TERMINATING) && !self.state.has(holder.object, GRACEFUL);
        self.state.live(holder.object) && !(holder.until_finished && finished)
    }
}
