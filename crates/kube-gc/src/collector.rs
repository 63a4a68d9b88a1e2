//! The garbage collector's decisions: the action for an item, given the classes of its owner
//! references, and its execution. The schedulers decide when: lockstep rounds (`rounds`) for the
//! verdict, any order (`search`) for the other outcomes.

use crate::cause::Cause;
use crate::flags::{DELETING_DEPENDENTS, FOREGROUND, ORPHAN, TERMINATING, TREATED_ABSENT};
use crate::ids::{NONE, ObjectId, RefId};
use crate::names::Policy;
use crate::references::{Dependent, Lookup, Ref, ReferenceTable};
use crate::trace::Reason;
use crate::view::Class;
use crate::world::{Simulation, Watch};

/// The result of evaluating the references of an item; filled reference by reference.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdict {
    solid: bool,
    waiting: bool,
    /// Dangling and waiting references.
    doomed: ReferenceTable,
    /// The collector's finalizer in the item's own list when it was read.
    preset: u16,
}

/// The effect of an attempt on its item.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Nothing,
    /// At least one solid owner: the doomed references are removed.
    RemoveReferences(ReferenceTable, Reason),
    Delete {
        policy: Policy,
        unblock: bool,
        reason: Reason,
    },
}

impl Verdict {
    pub(super) fn new(world: &Simulation<'_>, item: ObjectId) -> Verdict {
        Verdict {
            preset: world.state.flags[item] & (ORPHAN | FOREGROUND),
            ..Verdict::default()
        }
    }

    pub(super) fn add(&mut self, reference: RefId, class: Class) {
        match class {
            Class::Solid => self.solid = true,
            Class::Waiting => {
                self.waiting = true;
                self.doomed.push(reference);
            }
            _ => self.doomed.push(reference),
        }
    }
}

impl Simulation<'_> {
    /// Whether an attempt at this item does more than look at its flags: "being deleted is an
    /// one-way trip" `[GC-21]`.
    pub(super) fn attempts(&self, item: ObjectId) -> bool {
        self.state.live(item)
            && (!self.state.has(item, TERMINATING) || self.state.has(item, DELETING_DEPENDENTS))
    }

    /// Decides what to do with an item `[GC-22]`, `[GC-26]`, `[GC-27]`.
    pub(super) fn decide(&self, item: ObjectId, verdict: Verdict) -> Action {
        let Some(first) = verdict.doomed.first().copied() else {
            return Action::Nothing;
        };
        let owner = self.cluster.refs[first].by_uid;
        if verdict.solid {
            return Action::RemoveReferences(
                verdict.doomed,
                Cause::OtherOwner {
                    waiting: verdict.waiting,
                }
                .via(owner),
            );
        }
        if verdict.waiting && self.state.counts[item].dependents > 0 {
            let mut dependents = self.state.dependents(self.cluster, item);
            let unblock =
                dependents.any(|dependent| self.state.has(dependent.holder, DELETING_DEPENDENTS));
            let reason = Cause::OwnerWaitsInTurn { unblocked: unblock }.via(owner);
            return Action::Delete {
                policy: Policy::Foreground,
                unblock,
                reason,
            };
        }
        let policy = if verdict.preset & ORPHAN != 0 {
            Policy::Orphan
        } else if verdict.preset & FOREGROUND != 0 {
            Policy::Foreground
        } else {
            Policy::Background
        };
        let cause = if verdict.preset & ORPHAN != 0 {
            Cause::OwnersGoneOrphaning
        } else {
            self.cause_of_doom(first)
        };
        Action::Delete {
            policy,
            unblock: false,
            reason: cause.via(owner),
        }
    }

    /// Returns why a reference no longer counts.
    fn cause_of_doom(&self, index: RefId) -> Cause {
        let reference = self.cluster.refs[index];
        if reference.by_uid == NONE {
            return Cause::OwnerUnknown;
        }
        if self.state.gone(reference.by_uid) {
            return Cause::OwnerGone;
        }
        if self.cluster.written[index].named == reference.by_uid {
            let treated_absent = self.state.has(reference.by_uid, TREATED_ABSENT);
            return if treated_absent {
                Cause::OwnerMistaken
            } else {
                Cause::OwnerWaits
            };
        }
        if self.cluster.kind_of(reference.by_uid).namespaced
            && !self.cluster.kind_of(reference.holder).namespaced
        {
            return Cause::OwnerNamespaced;
        }
        let nodes = &self.cluster.nodes;
        let elsewhere = self.cluster.kind_of(reference.by_uid).namespaced
            && nodes[reference.by_uid].namespace != nodes[reference.holder].namespace;
        if elsewhere {
            Cause::OwnerElsewhere
        } else {
            Cause::OwnerMismatch
        }
    }

    /// Marks owners that the collector takes for absent (before Kubernetes 1.20), as a reference of
    /// `item` leads elsewhere. They count as absent for all their dependents, which are queued
    /// again.
    pub(super) fn mark_mistaken_owners(&mut self, item: ObjectId) {
        if self.cluster.links.misnamed_owners.is_empty() {
            return;
        }
        for index in self.cluster.refs_of(item) {
            let Ref {
                by_uid: owner,
                lookup,
                ..
            } = self.cluster.refs[index];
            let state = &mut self.state;
            let looked_for = lookup == Lookup::Elsewhere && owner != NONE && state.present(index);
            if looked_for && state.live(owner) && !state.has(owner, TREATED_ABSENT) {
                state.flags[owner] |= TREATED_ABSENT;
                self.watch.push(Watch::TakenForAbsent(owner));
            }
        }
    }

    /// Whether `foregroundDeletion` can be removed from an item that is deletingDependents `[GC-31]`; if not, its
    /// blockers are queued again `[GC-32]`.
    pub(super) fn check_blockers(&mut self, owner: ObjectId) -> bool {
        if self.state.counts[owner].blocking == 0 {
            return true;
        }
        for position in 0..self.cluster.dependents.of(owner).len() {
            let Dependent { holder, reference } = self.cluster.dependents.of(owner)[position];
            let blocks = self.state.live(holder) && self.state.blocks(reference);
            // An attempt at a dependent that is already Terminating would end at once [GC-21].
            if blocks && !self.state.has(holder, TERMINATING) {
                self.enqueue(holder);
            }
        }
        false
    }

    /// Ends a foreground deletion `[GC-31]`. Returns `false` if a webhook rejects it.
    pub(super) fn release(&mut self, owner: ObjectId) -> bool {
        self.remove_finalizers(owner, &[], FOREGROUND, Cause::DependentsGone.into())
    }

    /// Orphans all dependents, then removes the finalizer `[GC-36]`. If a patch is rejected, the owner is retried.
    pub(super) fn orphan_dependents(&mut self, owner: ObjectId) {
        let mut done = true;
        for position in 0..self.cluster.dependents.of(owner).len() {
            let Dependent { holder, reference } = self.cluster.dependents.of(owner)[position];
            if self.state.live(holder) && self.state.present(reference) {
                done &= self.remove_references(holder, &[reference], Cause::Orphaned.via(owner));
            }
        }
        if !(done && self.remove_finalizers(owner, &[], ORPHAN, Cause::DependentsOrphaned.into())) {
            self.state.failed.insert(owner);
        }
    }
}
