//! One step of a plan, read once: every object that it touches, with its lot, its cause and its place in the tree of
//! causes.
//!
//! The log is in the order of time, and a parent is always an object whose own turn came earlier in it: the tree has no
//! cycles whatever the owner references look like, and each object stands in it once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Implied, PlanView};
use crate::gc::{Cause, Change, Effect, Fate, Hanging, Key, ObjectId, Present};

/// What becomes of an object in a step; the order in which siblings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lot {
    /// It becomes Terminating and stays so.
    Hangs,
    /// It is removed.
    Goes,
    /// It lives on, changed, or although an owner of it goes.
    Stays,
}

/// An object that a step touches.
#[derive(Clone, Debug)]
pub(super) struct Affected {
    pub(super) id: ObjectId,
    pub(super) key: Key,
    pub(super) lot: Lot,
    /// Place in [`Story::affected`] of the object because of which it was touched; always before its own.
    pub(super) parent: Option<usize>,
    /// What goes at the same time has the same number, counted from 1; 0 if it does not go.
    pub(super) turn: usize,
    /// What began it; `None` if the object was only spared.
    pub(super) began: Option<Change>,
    /// Every cause that had a say, each once.
    pub(super) causes: Vec<Cause>,
}

/// How many objects share a lot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) goes: usize,
    /// Of those that go, the ones that no manifest holds.
    pub(super) implied: usize,
    pub(super) hangs: usize,
    /// Terminating already before the step, and still.
    pub(super) still_hangs: usize,
    pub(super) stays: usize,
    pub(super) untouched: usize,
}

/// One step.
#[derive(Debug)]
pub(super) struct Story<'v> {
    pub(super) view: &'v PlanView<'v>,
    pub(super) step: usize,
    /// What goes or hangs in the order in which its turn came, then what stays.
    pub(super) affected: Vec<Affected>,
    /// Everything that is Terminating when the step is over.
    pub(super) hanging: Vec<Hanging>,
    /// What is Terminating since an earlier step, or was from the start.
    pub(super) hung_before: BTreeSet<Key>,
    pub(super) counts: Counts,
    pub(super) after: Vec<Fate>,
    implied: BTreeMap<&'v Key, &'v Implied>,
}

/// What the log of a step says about one object.
#[derive(Debug, Default)]
struct Touch {
    /// Position in the log of what began it.
    began: Option<usize>,
    /// Position of the removal of a reference.
    detached: Option<usize>,
    gone: Option<u32>,
    causes: Vec<Cause>,
}

/// All steps of a plan.
pub(super) fn stories<'v>(view: &'v PlanView<'v>) -> Vec<Story<'v>> {
    (0..view.plan.steps.len()).map(|step| Story::new(view, step)).collect()
}

impl<'v> Story<'v> {
    fn new(view: &'v PlanView<'v>, step: usize) -> Self {
        let (plan, cluster) = (view.plan, view.plan.cluster());
        let (before, after) = (plan.fates_before(step), plan.fates_after(step));
        let log = plan.changes(step);
        let touches = touches(&log);
        let mut story = Self {
            view,
            step,
            affected: Vec::new(),
            hanging: plan.hanging(step),
            hung_before: BTreeSet::new(),
            counts: Counts::default(),
            after,
            implied: view.implied.iter().map(|implied| (&implied.key, implied)).collect(),
        };
        let lots: BTreeMap<ObjectId, Lot> = cluster
            .ids()
            .zip(before.iter().zip(&story.after))
            // What is only assumed to exist is not the reader's.
            .filter(|(id, _)| !cluster.is_assumed(*id))
            .filter_map(|(id, (before, after))| Some((id, lot(before, after)?)))
            .collect();
        story.add_doomed(&log, &touches, &lots);
        story.add_survivors(&log, &touches, &lots);
        story.count(&before);
        story
    }

    /// What goes or hangs, each after its parent.
    fn add_doomed(&mut self, log: &[Change], touches: &BTreeMap<ObjectId, Touch>, lots: &BTreeMap<ObjectId, Lot>) {
        let cluster = self.view.plan.cluster();
        let turns: BTreeSet<u32> = touches.values().filter_map(|touch| touch.gone).collect();
        let turns: BTreeMap<u32, usize> = turns.into_iter().zip(1..).collect();
        let nothing = Touch::default();
        let doomed = lots.iter().filter(|(_, lot)| **lot != Lot::Stays);
        let mut doomed: Vec<_> = doomed.map(|(id, lot)| (touches.get(id).unwrap_or(&nothing), *id, *lot)).collect();
        // An object that was only waiting to be removed when the simulation began has no line in the log, and is first.
        doomed.sort_by_key(|(touch, id, _)| (touch.began, *id));
        let mut places: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for (touch, id, lot) in doomed {
            let began = touch.began.map(|at| log[at]);
            let via = began.and_then(|began| began.via);
            places.insert(id, self.affected.len());
            self.affected.push(Affected {
                id,
                key: cluster.key(id),
                lot,
                parent: via.filter(|via| *via != id).and_then(|via| places.get(&via)).copied(),
                turn: touch.gone.and_then(|round| turns.get(&round)).copied().unwrap_or(0),
                began,
                causes: touch.causes.clone(),
            });
        }
    }

    /// What loses a reference and lives, and what a rule spares although its owner goes or hangs.
    fn add_survivors(&mut self, log: &[Change], touches: &BTreeMap<ObjectId, Touch>, lots: &BTreeMap<ObjectId, Lot>) {
        let cluster = self.view.plan.cluster();
        let places: BTreeMap<ObjectId, usize> =
            self.affected.iter().enumerate().map(|(place, affected)| (affected.id, place)).collect();
        let owner = |id: ObjectId| cluster.edges(id).find_map(|edge| places.get(&edge.owner?).copied());
        let spared: BTreeMap<ObjectId, Vec<Cause>> = self.view.plan.spared(self.step).into_iter().collect();
        let changed = lots.iter().filter(|(_, lot)| **lot == Lot::Stays).map(|(id, _)| *id);
        let ids: BTreeSet<ObjectId> =
            changed.chain(spared.keys().copied().filter(|id| !lots.contains_key(id) && owner(*id).is_some())).collect();
        for id in ids {
            let touch = touches.get(&id);
            let began = touch.and_then(|touch| touch.detached.or(touch.began)).map(|at| log[at]);
            let via = began.and_then(|began| began.via);
            let mut causes = touch.map(|touch| touch.causes.clone()).unwrap_or_default();
            add(&mut causes, spared.get(&id).into_iter().flatten());
            self.affected.push(Affected {
                id,
                key: cluster.key(id),
                lot: Lot::Stays,
                parent: via.and_then(|via| places.get(&via)).copied().or_else(|| owner(id)),
                turn: 0,
                began,
                causes,
            });
        }
    }

    fn count(&mut self, before: &[Fate]) {
        let of = |lot| self.affected.iter().filter(move |affected| affected.lot == lot);
        let terminating = |fate: &Fate| matches!(fate, Fate::Present(Present { terminating: true, .. }));
        let cluster = self.view.plan.cluster();
        let both = cluster.ids().zip(before.iter().zip(&self.after));
        let still =
            both.filter(|(id, (before, after))| terminating(before) && terminating(after) && !cluster.is_assumed(*id));
        self.hung_before = still.map(|(id, _)| cluster.key(id)).collect();
        let known = cluster.ids().zip(&self.after).filter(|(id, _)| !cluster.is_assumed(*id));
        let alive = known.filter(|(_, fate)| **fate != Fate::Gone).count();
        let (hangs, stays) = (of(Lot::Hangs).count(), of(Lot::Stays).count());
        self.counts = Counts {
            goes: of(Lot::Goes).count(),
            implied: of(Lot::Goes).filter(|affected| self.implied.contains_key(&affected.key)).count(),
            hangs,
            still_hangs: self.hung_before.len(),
            stays,
            untouched: alive - hangs - stays - self.hung_before.len(),
        };
    }

    /// Why the object exists although no manifest holds it.
    pub(super) fn implied(&self, key: &Key) -> Option<&'v Implied> {
        self.implied.get(key).copied()
    }

    /// The requests of the step that the API server did not accept: what they named, and the HTTP code.
    pub(super) fn refused(&self) -> Vec<(&'v Key, u16)> {
        let targets = self.view.targets.get(self.step).map_or(&[][..], Vec::as_slice);
        let responses = self.view.plan.steps[self.step].responses.iter().copied();
        targets.iter().zip(responses).filter(|(_, code)| *code >= 400).collect()
    }

    /// What is done in this step.
    pub(super) fn title(&self) -> String {
        self.view.titles.get(self.step).cloned().unwrap_or_else(|| format!("step {}", self.step + 1))
    }
}

/// `None` for an object that the step leaves as it was, or that was Terminating and is.
fn lot(before: &Fate, after: &Fate) -> Option<Lot> {
    match (before, after) {
        (Fate::Gone, _) => None,
        (Fate::Present(_), Fate::Gone) => Some(Lot::Goes),
        (Fate::Present(before), Fate::Present(after)) if after.terminating => {
            (!before.terminating).then_some(Lot::Hangs)
        }
        (Fate::Present(before), Fate::Present(after)) => {
            (before.owner_references != after.owner_references).then_some(Lot::Stays)
        }
    }
}

fn touches(log: &[Change]) -> BTreeMap<ObjectId, Touch> {
    let mut touches: BTreeMap<ObjectId, Touch> = BTreeMap::new();
    for (at, change) in log.iter().enumerate() {
        let touch = touches.entry(change.object).or_default();
        add(&mut touch.causes, [&change.cause]);
        match change.effect {
            Effect::Detached => _ = touch.detached.get_or_insert(at),
            Effect::Unblocked => {}
            Effect::Deleted | Effect::Released => _ = touch.began.get_or_insert(at),
            Effect::Gone => {
                touch.began.get_or_insert(at);
                touch.gone = Some(change.round);
            }
        }
    }
    touches
}

fn add<'c>(causes: &mut Vec<Cause>, more: impl IntoIterator<Item = &'c Cause>) {
    for cause in more {
        if !causes.contains(cause) {
            causes.push(*cause);
        }
    }
}
