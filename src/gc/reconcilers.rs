//! Controllers outside of the control plane: which finalizers they remove, and whether they still can.
//!
//! Such a controller is data: a finalizer, and the objects without which nobody removes it. While they exist it may let go of a
//! Terminating object at any moment, and nothing forces it to be quick. Like every controller beside the collector it moves when
//! all others have come to rest `[SIM-7]`; what it does is never among the moves that the search has to order. At rest
//!
//! * everything that it needs is there and stays: it lets go, sooner or later;
//! * something that it needs is going, or went in this step: a race, because a process outlives its Pod by seconds. The search
//!   follows both ends; the verdict is the one that does harm, the object stays;
//! * something was gone before the step began, when everything had settled: nobody lets go.
//!
//! Objects that wait for the same controller are let go of together, or not at all: what they have in common is whether it is
//! quick enough, and every mixture of the two ends would be an outcome of its own.

use std::collections::BTreeSet;

use super::cause::Cause;
use super::flags::{LOST, TERMINATING};
use super::ids::{FinalizerId, ObjectId};
use super::links::Reconciled;
use super::view::View;
use super::world::World;

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
        let Reconciled { object, finalizer, needs } = reconciled;
        let waits =
            self.state.live(*object) && self.state.has(*object, TERMINATING) && self.state.finalizers[*finalizer];
        waits.then(|| {
            if needs.iter().any(|need| self.state.has(*need, LOST)) {
                LettingGo::Never
            } else if needs.iter().all(|need| self.stays(*need)) {
                LettingGo::Certain
            } else {
                LettingGo::Race
            }
        })
    }

    /// Whether something exists and nothing is about to change that.
    pub(super) fn stays(&self, id: ObjectId) -> bool {
        self.state.live(id) && !self.state.has(id, TERMINATING) && !self.home_goes(id)
    }

    fn home_goes(&self, id: ObjectId) -> bool {
        self.cluster.links.home.get(&id).is_some_and(|home| self.state.has(*home, TERMINATING))
    }
}

impl World<'_> {
    /// Before a step: what does not run any more after everything has settled never comes back. In a Terminating namespace
    /// nothing runs, since its Pods go first and no new ones are admitted `[NS-17]`.
    pub(super) fn forget_lost_controllers(&mut self) {
        for need in self.cluster.links.reconciled.iter().flat_map(|reconciled| &reconciled.needs) {
            if self.state.gone(*need) || self.view().home_goes(*need) {
                self.state.flags[*need] |= LOST;
            }
        }
    }

    /// One batch of all controllers that are certain to let go; whether it changed anything.
    pub(super) fn reconcilers_pass(&mut self) -> bool {
        self.let_go_where(|_, letting_go| letting_go == LettingGo::Certain)
    }

    /// What each controller needs that may still let go of something, but only if it is quick.
    pub(super) fn races(&self) -> BTreeSet<&[ObjectId]> {
        let reconciled = self.cluster.links.reconciled.iter();
        let racing = reconciled.filter(|reconciled| self.view().letting_go(reconciled) == Some(LettingGo::Race));
        racing.map(|reconciled| &reconciled.needs[..]).collect()
    }

    /// The controller with these needs was quick: it lets go of everything that waits for it.
    pub(super) fn win_race(&mut self, needs: &[ObjectId]) {
        self.let_go_where(|reconciled, _| reconciled.needs == needs);
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
