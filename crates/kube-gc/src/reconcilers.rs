//! Controllers outside of the control plane: which finalizers they remove, and whether they still can.
//!
//! Such a controller is described by the workloads whose Pods run it and by the authorities of its requests: each is a
//! ServiceAccount, a binding and a role that suffice together. While it has what it needs, it may remove its finalizer
//! from a Terminating object (*release* the object) at any moment, early or late. Like every controller except the
//! collector, it acts when all others have come to rest `[SIM-7]`, so the search never has to order its actions. At
//! rest, there are three cases:
//!
//! * *Certain*: everything that it needs exists and is not being deleted. It releases the object.
//! * *Never*: it does not release the object, because a webhook rejects its patch, because one of its workloads was gone
//!   before the step, or because every authority had lost a part before the step or before the object was marked
//!   ([`super::timeline`]).
//! * *Race*: something that it needs is being deleted, or was deleted in this step. It may still act, because a process
//!   outlives its Pod by seconds, and an object that is deleted in the foreground exists until the collector removes it.
//!   The search follows both results; the verdict is the harmful one, in which the object stays.
//!
//! Objects that wait for the same controller race independently: it may be quick enough for some of them and too late
//! for others, so every combination is an outcome of its own.
//!
//! If several controllers are candidates for one finalizer, one of them removes it, and the input does not say which.
//! If some of them would release the object and others would not, that is a race too.

use std::collections::BTreeSet;

use crate::cause::Cause;
use crate::flags::{LOST, TERMINATING};
use crate::ids::{FinalizerId, ObjectId};
use crate::links::{ControllerNeeds, Reconciled};
use crate::names::kinds;
use crate::object::Verb;
use crate::view::View;
use crate::world::Simulation;

/// Whether a controller releases a Terminating object once everything else is at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinalizerRemoval {
    Certain,
    /// Only if it is quick.
    Race,
    Never,
}

/// A finalizer that is removed only if a controller is quick enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReleaseRace {
    object: ObjectId,
    finalizer: FinalizerId,
}

impl ReleaseRace {
    pub(super) fn of(reconciled: &Reconciled) -> Self {
        Self {
            object: reconciled.object,
            finalizer: reconciled.finalizer,
        }
    }
}

impl View<'_> {
    /// Returns whether a controller removes the finalizer; `None` if it is gone or its object is not Terminating.
    pub(super) fn finalizer_removal(&self, reconciled: &Reconciled) -> Option<FinalizerRemoval> {
        let ReleaseRace { object, finalizer } = ReleaseRace::of(reconciled);
        if self.state.gone(object)
            || !self.state.has(object, TERMINATING)
            || !self.state.finalizers[finalizer]
        {
            return None;
        }
        let candidates = self.cluster.links.reconciled_of(object).iter();
        let each = candidates
            .filter(|one| one.finalizer == finalizer)
            .map(|candidate| self.finalizer_removal_by(candidate));
        each.reduce(|one, next| {
            if one == next {
                one
            } else {
                FinalizerRemoval::Race
            }
        })
    }

    /// Returns whether the finalizer is removed, assuming that this candidate is its controller.
    pub(super) fn finalizer_removal_by(&self, reconciled: &Reconciled) -> FinalizerRemoval {
        let object = reconciled.object;
        let controller = &self.cluster.links.controllers[reconciled.controller];
        let mut authorities = controller.authority.iter();
        let mut workloads = controller.workloads.iter();
        if !controller.authority.is_empty() && authorities.all(|all| self.is_void(all, object))
            || workloads.any(|workload| self.state.has(*workload, LOST))
            || self.rejects(object, Verb::Update)
        {
            FinalizerRemoval::Never
        } else if self.lacks(controller).next().is_none() {
            FinalizerRemoval::Certain
        } else {
            FinalizerRemoval::Race
        }
    }

    /// Whether a part of an authority was lost before the step, or gone before `object` was marked.
    fn is_void(&self, authority: &[ObjectId], object: ObjectId) -> bool {
        let timeline = &self.state.timeline;
        authority
            .iter()
            .any(|part| self.state.has(*part, LOST) || timeline.was_revoked(*part, object))
    }

    /// Returns the objects that a controller needs and has lost, or is about to lose.
    pub(super) fn lacks<'v>(
        &'v self,
        controller: &'v ControllerNeeds,
    ) -> impl Iterator<Item = ObjectId> + 'v {
        let workloads = controller
            .workloads
            .iter()
            .filter(|workload| !self.runs(**workload));
        let mut authorities = controller.authority.iter();
        let is_allowed = authorities.any(|authority| authority.iter().all(|it| self.stays(*it)));
        let authority = controller
            .authority
            .iter()
            .flatten()
            .filter(move |it| !is_allowed && !self.stays(**it));
        workloads.chain(authority).copied()
    }

    /// Whether a workload, or a Pod that outlives it, exists and nothing is about to change that.
    fn runs(&self, workload: ObjectId) -> bool {
        let mut pods = self.cluster.links.pods_of(workload).iter();
        self.stays(workload) || pods.any(|pod| self.stays(*pod))
    }

    /// Whether something exists and nothing is about to change that.
    fn stays(&self, id: ObjectId) -> bool {
        self.state.live(id) && !self.state.has(id, TERMINATING) && !self.home_goes(id)
    }

    fn home_goes(&self, id: ObjectId) -> bool {
        let home = self.cluster.links.home_of(id);
        home.is_some_and(|home| self.state.has(home, TERMINATING))
    }

    /// Whether the loss of `need` is final once everything has settled: a controller that needs it never acts again. No
    /// workload runs in a Terminating namespace, since its Pods are deleted first and no new ones are admitted
    /// `[NS-17]`. A ServiceAccount that is being deleted authenticates no client, even while a finalizer holds it. A
    /// role or a binding is in force until it is removed.
    fn is_lost(&self, need: ObjectId) -> bool {
        if !self.cluster.links.is_authority(need) {
            return !self.runs(need) && (self.state.gone(need) || self.home_goes(need));
        }
        let account = self.cluster.kind_of(need).group_kind() == kinds::SERVICE_ACCOUNT;
        self.state.gone(need) || account && self.state.has(need, TERMINATING)
    }
}

impl Simulation<'_> {
    /// Flags the needs whose loss is final, once everything has settled.
    pub(super) fn flag_lost_needs(&mut self) {
        let controllers = self.cluster.links.controllers.iter();
        for need in controllers.flat_map(ControllerNeeds::needs) {
            if self.view().is_lost(need) {
                self.state.flags[need] |= LOST;
            }
        }
    }

    /// Runs one batch of the controllers that are certain to release their objects; returns whether it changed
    /// anything. Objects that a client waits for come first: it may go on before the others are released.
    pub(super) fn reconcilers_pass(&mut self, awaited: &BTreeSet<ObjectId>) -> bool {
        !awaited.is_empty()
            && self.remove_where(|reconciled, removal| {
                removal == FinalizerRemoval::Certain && awaited.contains(&reconciled.object)
            })
            || self.remove_where(|_, removal| removal == FinalizerRemoval::Certain)
    }

    /// Returns the races between controllers and deletions that are still open.
    pub(super) fn races(&self) -> BTreeSet<ReleaseRace> {
        let view = self.view();
        let racing = self.cluster.links.reconciled.iter().filter(|one| {
            view.finalizer_removal(one) == Some(FinalizerRemoval::Race)
                && view.finalizer_removal_by(one) != FinalizerRemoval::Never
        });
        racing.map(ReleaseRace::of).collect()
    }

    /// Removes the finalizers of the races that controllers have `won`.
    pub(super) fn win_races(&mut self, won: &BTreeSet<ReleaseRace>) {
        self.remove_where(|one, removal| {
            removal == FinalizerRemoval::Race && won.contains(&ReleaseRace::of(one))
        });
    }

    fn remove_where(&mut self, is_removed: impl Fn(&Reconciled, FinalizerRemoval) -> bool) -> bool {
        // Evaluate all before removing any, because a removal may take away what another controller needs.
        let reconciled = self.cluster.links.reconciled.iter();
        let waiting = reconciled.filter_map(|reconciled| {
            let removal = self.view().finalizer_removal(reconciled)?;
            is_removed(reconciled, removal).then_some((reconciled.object, reconciled.finalizer))
        });
        let waiting: BTreeSet<(ObjectId, FinalizerId)> = waiting.collect();
        for (object, finalizer) in &waiting {
            self.remove_finalizers(
                *object,
                &[*finalizer],
                0,
                Cause::ControllerRemovesFinalizers.into(),
            );
        }
        !waiting.is_empty()
    }
}
