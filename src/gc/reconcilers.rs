//! Controllers outside of the control plane: which finalizers they remove, and whether they still can.
//!
//! Such a controller is data: the workloads whose Pods run it, and what its requests are allowed by: a ServiceAccount, a binding,
//! a role, in alternatives of which each is enough. While it has what it needs it may let go of a Terminating object at any moment, and nothing forces it to be quick. Like
//! every controller beside the collector it moves when all others have come to rest `[SIM-7]`; what it does is never among the
//! moves that the search has to order. At rest
//!
//! * all that it needs is there and stays: it lets go, sooner or later;
//! * something of each of its authorities was gone for certain when the object was marked ([`super::timeline`]), or something that it needs
//!   was gone before the step began, when everything had settled: nobody lets go;
//! * something that it needs is going, or went in this step: a race, because a process outlives its Pod by seconds, and what is
//!   deleted in the foreground exists until the collector removes it. The search follows both ends; the verdict is the one that
//!   does harm, the object stays.
//!
//! Objects that wait for the same controller are let go of together, or not at all: what they have in common is whether it is
//! quick enough, and every mixture of the two ends would be an outcome of its own.

use std::collections::BTreeSet;

use super::cause::Cause;
use super::flags::{LOST, TERMINATING};
use super::ids::{ControllerId, FinalizerId, ObjectId};
use super::links::{ControllerNeeds, Reconciled};
use super::object::Verb;
use super::view::View;
use super::world::Simulation;
use crate::kube::kinds;

/// Whether a controller lets go of a Terminating object when everything else is at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LettingGo {
    Certain,
    /// Only if it is quick.
    Race,
    Never,
}

impl View<'_> {
    /// `None` if there is nothing to let go of: the finalizer is gone, or its object is not being deleted.
    pub(super) fn letting_go(&self, reconciled: &Reconciled) -> Option<LettingGo> {
        let Reconciled { object, finalizer, controller } = reconciled;
        let waits =
            self.state.live(*object) && self.state.has(*object, TERMINATING) && self.state.finalizers[*finalizer];
        let controller = &self.cluster.links.controllers[*controller];
        let is_lost = |need: &ObjectId| self.state.has(*need, LOST);
        let was_revoked = |authority: &ObjectId| self.state.timeline.was_revoked(*authority, *object);
        let is_void = |authority: &Vec<ObjectId>| authority.iter().any(|it| is_lost(it) || was_revoked(it));
        let may_act = controller.authority.is_empty() || !controller.authority.iter().all(is_void);
        waits.then(|| {
            if !may_act || controller.workloads.iter().any(is_lost) || self.rejects(*object, Verb::Update) {
                LettingGo::Never
            } else if self.lacks(controller).next().is_none() {
                LettingGo::Certain
            } else {
                LettingGo::Race
            }
        })
    }

    /// What a controller needs and is about to lose, or has lost.
    pub(super) fn lacks<'v>(&'v self, controller: &'v ControllerNeeds) -> impl Iterator<Item = ObjectId> + 'v {
        let workloads = controller.workloads.iter().filter(|workload| !self.runs(**workload));
        let stays = |authority: &Vec<ObjectId>| authority.iter().all(|it| self.stays(*it));
        let is_allowed = controller.authority.iter().any(stays);
        let authority = controller.authority.iter().flatten().filter(move |it| !is_allowed && !self.stays(**it));
        workloads.chain(authority).copied()
    }

    /// Whether a workload, or a Pod that outlives it, exists and nothing is about to change that.
    fn runs(&self, workload: ObjectId) -> bool {
        self.stays(workload) || self.cluster.links.pods_of(workload).iter().any(|pod| self.stays(*pod))
    }

    /// Whether something exists and nothing is about to change that.
    fn stays(&self, id: ObjectId) -> bool {
        self.state.live(id) && !self.state.has(id, TERMINATING) && !self.home_goes(id)
    }

    fn home_goes(&self, id: ObjectId) -> bool {
        self.cluster.links.home_of(id).is_some_and(|home| self.state.has(home, TERMINATING))
    }

    /// Whether a controller that needs this never acts again, now that everything has settled. In a Terminating namespace no
    /// workload runs, since its Pods go first and no new ones are admitted `[NS-17]`. A ServiceAccount that is being deleted
    /// authenticates nobody, even while a finalizer holds it; a role or a binding counts until it is removed.
    fn is_lost(&self, need: ObjectId) -> bool {
        if !self.cluster.links.is_authority(need) {
            return !self.runs(need) && (self.state.gone(need) || self.home_goes(need));
        }
        let account = self.cluster.info(need).group_kind() == kinds::SERVICE_ACCOUNT;
        self.state.gone(need) || account && self.state.has(need, TERMINATING)
    }
}

impl Simulation<'_> {
    /// Everything has settled: what does not run or act by now never does again.
    pub(super) fn forget_lost_controllers(&mut self) {
        for need in self.cluster.links.controllers.iter().flat_map(ControllerNeeds::needs) {
            if self.view().is_lost(need) {
                self.state.flags[need] |= LOST;
            }
        }
    }

    /// One batch of all controllers that are certain to let go; whether it changed anything.
    pub(super) fn reconcilers_pass(&mut self) -> bool {
        self.let_go_where(|_, letting_go| letting_go == LettingGo::Certain)
    }

    /// The controllers that may still let go of something, but only if they are quick.
    pub(super) fn races(&self) -> BTreeSet<ControllerId> {
        let reconciled = self.cluster.links.reconciled.iter();
        let racing = reconciled.filter(|reconciled| self.view().letting_go(reconciled) == Some(LettingGo::Race));
        racing.map(|reconciled| reconciled.controller).collect()
    }

    /// The controller was quick: it lets go of everything that it may let go of.
    pub(super) fn win_race(&mut self, controller: ControllerId) {
        self.let_go_where(|reconciled, letting_go| {
            reconciled.controller == controller && letting_go == LettingGo::Race
        });
    }

    fn let_go_where(&mut self, lets_go: impl Fn(&Reconciled, LettingGo) -> bool) -> bool {
        // All read before the first one is let go of, as that may be what another one needs.
        let waiting = self.cluster.links.reconciled.iter().filter_map(|reconciled| {
            let letting_go = self.view().letting_go(reconciled)?;
            lets_go(reconciled, letting_go).then_some((reconciled.object, reconciled.finalizer))
        });
        let waiting: Vec<(ObjectId, FinalizerId)> = waiting.collect();
        for (object, finalizer) in &waiting {
            self.remove_finalizers(*object, &[*finalizer], 0, Cause::ControllerLetsGo.into());
        }
        !waiting.is_empty()
    }
}
