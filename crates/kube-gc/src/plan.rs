//! The result of a simulation: for each step the verdict, every other outcome, and explanations.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cause::Cause;
use crate::cluster::Cluster;
use crate::discovery::FailingApi;
use crate::events::Event;
use crate::hold::{self, HeldObject};
use crate::ids::ObjectId;
use crate::names::ObjectKey;
use crate::outcome::{self, Fate, Outcome};
use crate::state::State;
use crate::trace::{Change, Rejected};
use crate::unattended;
use crate::view::View;
use crate::webhooks::{self, Rejection};
use crate::why::{History, Why};

/// A simulation from its first step to its last. Borrows the cluster for names and references.
#[derive(Debug)]
pub struct Plan<'c> {
    pub(super) cluster: &'c Cluster,
    /// One per step.
    pub steps: Vec<StepPlan>,
}

/// The effects of one step.
#[derive(Debug)]
pub struct StepPlan {
    /// HTTP code of each request of the step. Empty for a step that sends none, or that is never reached in the verdict
    /// because the client waits forever for an object that an earlier step deletes.
    pub responses: Vec<u16>,
    /// The verdict first `[SIM-10]`, then every other reachable state `[SIM-11]`: late ones last, graver differences
    /// first. Empty if the client goes on before everything has settled.
    pub outcomes: Vec<Outcome>,
    /// Whether `outcomes` is complete: false if a limit cut the search or the list, or if there was no search.
    pub complete: bool,
    /// Whether the search reached the verdict among its outcomes. `false` is a defect of this model, unless the search
    /// was cut short or did not run.
    pub verdict_reached: bool,
    /// Events so far, sorted.
    pub events: Vec<Event>,
    pub(super) log: Vec<Change>,
    /// The requests that webhooks rejected on the way to the verdict.
    pub(super) rejected: Rejected,
}

impl Plan<'_> {
    /// Merges the steps from `first` on into one: the joint effect of a client's requests.
    #[must_use]
    pub fn together(mut self, first: usize) -> Self {
        let mut several = self
            .steps
            .split_off(first.min(self.steps.len()))
            .into_iter();
        let Some(mut one) = several.next() else {
            return self;
        };
        for StepPlan {
            responses,
            outcomes,
            complete,
            verdict_reached,
            events,
            log,
            rejected,
        } in several
        {
            one.responses.extend(responses);
            one.log.extend(log);
            one.rejected.extend(rejected);
            one.complete &= complete;
            one.verdict_reached &= verdict_reached;
            (one.outcomes, one.events) = (outcomes, events);
        }
        self.steps.push(one);
        self
    }

    /// Returns the simulated cluster.
    pub fn cluster(&self) -> &Cluster {
        self.cluster
    }

    /// Returns the verdict of the last step.
    pub fn verdict(&self) -> Option<&Outcome> {
        self.steps.last()?.outcomes.first()
    }

    /// Returns the fate of every object in one outcome, in the order of the keys.
    pub fn fates(&self, outcome: &Outcome) -> Vec<(ObjectKey, Fate)> {
        outcome::fates(self.cluster, &outcome.state(self.cluster))
    }

    /// Returns the fate of one object in one outcome.
    pub fn fate(&self, outcome: &Outcome, id: ObjectId) -> Fate {
        outcome::fate(self.cluster, &outcome.state(self.cluster), id)
    }

    /// Returns a predicate: whether the verdict leaves an object in the cluster, and not Terminating.
    pub fn keeps(&self) -> impl Fn(&ObjectKey) -> bool {
        let state = self.verdict().map(|verdict| verdict.state(self.cluster));
        move |key| {
            let known = state.as_deref().zip(self.cluster.find(key));
            let fate = known.map(|(state, id)| outcome::fate(self.cluster, state, id));
            matches!(fate, Some(Fate::Present(present)) if !present.terminating)
        }
    }

    /// Returns the objects whose fate in this outcome differs from the verdict, with both fates: (key, here, verdict).
    pub fn differences(&self, outcome: &Outcome) -> Vec<(ObjectKey, Fate, Fate)> {
        let state = outcome.state(self.cluster);
        let mut ids: Vec<ObjectId> = outcome
            .patched()
            .filter(|id| !self.cluster.is_assumed(*id))
            .collect();
        ids.sort_unstable();
        let both = ids.into_iter().map(|id| {
            let here = outcome::fate(self.cluster, &state, id);
            (
                self.cluster.key(id),
                here,
                outcome::fate(self.cluster, &outcome.base, id),
            )
        });
        both.filter(|(_, here, there)| here != there).collect()
    }

    /// Returns the changes of a step in the verdict, in order.
    pub fn changes(&self, step: usize) -> Vec<Change> {
        let log = self.steps.get(step).map_or(&[][..], |step| &step.log);
        log.iter()
            .filter(|change| !self.cluster.is_assumed(change.object))
            .copied()
            .collect()
    }

    /// Explains the fate in the verdict of every object that changed since the last step that
    /// settled, is stuck, or is [spared](Self::spared).
    pub fn why(&self, step: usize) -> BTreeMap<ObjectKey, Why> {
        let history = self.history(step);
        history.map_or_else(BTreeMap::new, |history| history.explain())
    }

    /// Returns only the causes of the objects that `why` explains, which takes a fraction of the time and the memory.
    pub fn causes(&self, step: usize) -> BTreeMap<ObjectId, Vec<Cause>> {
        let history = self.history(step).into_iter();
        history
            .flat_map(|history| history.causes())
            .map(|(id, (causes, _))| (id, causes))
            .collect()
    }

    fn history(&self, step: usize) -> Option<History<'_>> {
        let state = self.verdict_state(step)?;
        let settled = self.steps[..step]
            .iter()
            .rposition(|step| !step.outcomes.is_empty());
        let (before, since) = self.steps[..=step].split_at(settled.map_or(0, |step| step + 1));
        let rejected = since
            .iter()
            .flat_map(|step| step.rejected.keys())
            .map(|(id, _)| *id)
            .collect();
        Some(History {
            cluster: self.cluster,
            state,
            before: before.iter().flat_map(|step| &step.log).copied().collect(),
            since: since.iter().flat_map(|step| &step.log).copied().collect(),
            rejected,
        })
    }

    /// Returns the objects that stay Terminating in a step's verdict, with the holds of each.
    pub fn stuck(&self, step: usize) -> Vec<HeldObject> {
        let mut stuck = self
            .verdict_state(step)
            .map_or_else(Vec::new, |state| hold::stuck(self.cluster, &state));
        unattended::mark(self.cluster, &mut stuck);
        stuck
    }

    /// Returns the requests of a step, and of the controllers that react to it, that webhooks without a backend reject
    /// on the way to the verdict; in the order of the objects.
    pub fn rejections(&self, step: usize) -> Vec<Rejection> {
        let rejected = self.steps.get(step).map(|step| &step.rejected);
        rejected.map_or_else(Vec::new, |rejected| {
            webhooks::rejections(self.cluster, rejected)
        })
    }

    /// Returns the APIServices without a backend at the end of a step: while one of them exists, no namespace of the
    /// cluster is ever finished.
    pub fn failing_apis(&self, step: usize) -> Vec<FailingApi> {
        let state = self.verdict_state(step);
        state.map_or_else(Vec::new, |state| {
            View {
                cluster: self.cluster,
                state: &state,
            }
            .failing_apis()
            .collect()
        })
    }

    pub(super) fn verdict_state(&self, step: usize) -> Option<Arc<State>> {
        Some(self.steps.get(step)?.outcomes.first()?.base.clone())
    }
}
