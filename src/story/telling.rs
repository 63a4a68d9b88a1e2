//! One step of a plan: every object that it touches, with its ending, its cause and its place in the tree of causes.
//!
//! In the log, which is in the order of time, a parent comes before its children. So the tree has
//! no cycles, whatever the owner references are, and contains each object once.

use std::collections::{BTreeMap, BTreeSet};

use super::view::{ImpliedDependent, PlanView};
use crate::gc::{Cause, Change, Cluster, Effect, HeldObject, ObjectId, StoredObjects};
use crate::kube::{ObjectKey, kinds};

/// The ending of an object in a step. Siblings of one kind are shown in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// It becomes Terminating and stays Terminating.
    Stuck,
    /// It is removed.
    Deleted,
    /// It loses a reference, or an owner of it is deleted, and it stays.
    Kept,
}

/// An object that a step touches.
#[derive(Clone, Debug)]
pub(crate) struct Affected {
    pub(crate) id: ObjectId,
    pub(crate) key: ObjectKey,
    pub(crate) fate: Fate,
    /// The index in [`Story::affected`] of the object that caused this one to be touched; always less than its own.
    pub(crate) parent: Option<usize>,
    /// Objects with the same number are deleted together; counted from 1, 0 if it is not deleted.
    pub(crate) wave: usize,
    /// Its first change; `None` if the object was only spared.
    pub(crate) began: Option<Change>,
    /// All causes, each once.
    pub(crate) causes: Vec<Cause>,
}

impl Affected {
    /// Whether another object has the same kind and ending.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.key.group_kind() == other.key.group_kind() && self.fate == other.fate
    }
}

/// Number of objects with each ending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) deleted: usize,
    /// Deleted objects that no manifest contains.
    pub(crate) implied: usize,
    pub(crate) stuck: usize,
    /// Terminating until a tool releases them in a later step.
    pub(crate) waiting: usize,
    /// Terminating before the step and after it.
    pub(crate) still_stuck: usize,
    pub(crate) kept: usize,
    pub(crate) untouched: usize,
}

#[derive(Debug)]
pub(crate) struct Story<'v> {
    pub(crate) view: &'v PlanView<'v>,
    pub(crate) step: usize,
    /// The deleted or stuck objects, in the order of time, then the kept ones.
    pub(crate) affected: Vec<Affected>,
    /// All objects that are Terminating after the step, except those that tools release later.
    pub(crate) stuck: Vec<HeldObject>,
    /// Objects that have been Terminating since an earlier step, or from the start.
    pub(crate) stuck_before: BTreeSet<ObjectKey>,
    pub(crate) counts: Tally,
    pub(crate) after: StoredObjects<'v>,
    /// The objects after the last step, if tools send further steps after the requested ones.
    in_the_end: Option<StoredObjects<'v>>,
    implied: BTreeMap<&'v ObjectKey, &'v ImpliedDependent>,
}

/// The entries of a step's log about one object.
#[derive(Debug, Default)]
struct Touch {
    /// Index in the log of its first change.
    began: Option<usize>,
    /// Index in the log of the removal of a reference.
    detached: Option<usize>,
    gone: Option<u32>,
    causes: Vec<Cause>,
}

pub(crate) fn stories<'v>(view: &'v PlanView<'v>) -> Vec<Story<'v>> {
    (0..view.plan.steps.len())
        .map(|step| Story::new(view, step))
        .collect()
}

impl<'v> Story<'v> {
    fn new(view: &'v PlanView<'v>, step: usize) -> Self {
        let (plan, cluster) = (view.plan, view.plan.cluster());
        let before = plan.stored_before(step);
        let after = plan.stored_after(step).unwrap_or_else(|| before.clone());
        let log = plan.changes(step);
        let touches = touches(&log);
        let mut story = Self {
            view,
            step,
            affected: Vec::new(),
            stuck: plan.stuck(step),
            stuck_before: BTreeSet::new(),
            counts: Tally::default(),
            after,
            in_the_end: (view.follow_ups > 0)
                .then(|| plan.stored_after(plan.steps.len() - 1))
                .flatten(),
            implied: view
                .implied
                .iter()
                .map(|implied| (&implied.key, implied))
                .collect(),
        };
        let fates: BTreeMap<ObjectId, Fate> = shown(cluster)
            .filter_map(|id| Some((id, fate(id, &before, &story.after)?)))
            .collect();
        let stuck = story.stuck.iter().filter(|held| !story.waits(held.object));
        story.stuck = stuck.cloned().collect();
        story.add_doomed(&log, &touches, &fates);
        story.add_survivors(&log, &touches, &fates);
        story.count(&before);
        story
    }

    /// Returns the holds of an object that is Terminating after this step.
    pub(crate) fn held(&self, id: ObjectId) -> Option<&HeldObject> {
        let at = self.stuck.binary_search_by_key(&id, |held| held.object);
        at.ok().map(|at| &self.stuck[at])
    }

    /// Whether an object that is Terminating after this step is gone after the steps that tools send later.
    pub(crate) fn waits(&self, id: ObjectId) -> bool {
        self.in_the_end.as_ref().is_some_and(|end| !end.has(id))
    }

    /// Adds the deleted or stuck objects, each after its parent.
    fn add_doomed(
        &mut self,
        log: &[Change],
        touches: &BTreeMap<ObjectId, Touch>,
        fates: &BTreeMap<ObjectId, Fate>,
    ) {
        let cluster = self.view.plan.cluster();
        let waves: BTreeSet<u32> = touches.values().filter_map(|touch| touch.gone).collect();
        let waves: BTreeMap<u32, usize> = waves.into_iter().zip(1..).collect();
        let nothing = Touch::default();
        let mut doomed: Vec<_> = fates
            .iter()
            .filter(|(_, fate)| **fate != Fate::Kept)
            .map(|(id, fate)| (touches.get(id).unwrap_or(&nothing), *id, *fate))
            .collect();
        // Objects that only waited to be removed from the start are not in the log: they are first.
        doomed.sort_by_key(|(touch, id, _)| (touch.began, *id));
        let mut places: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for (touch, id, fate) in doomed {
            let began = touch.began.map(|at| log[at]);
            let via = began.and_then(|began| began.via);
            places.insert(id, self.affected.len());
            self.affected.push(Affected {
                id,
                key: cluster.key(id),
                fate,
                parent: via
                    .filter(|via| *via != id)
                    .and_then(|via| places.get(&via))
                    .copied(),
                wave: touch
                    .gone
                    .and_then(|round| waves.get(&round))
                    .copied()
                    .unwrap_or(0),
                began,
                causes: touch.causes.clone(),
            });
        }
    }

    /// Adds objects that lose a reference, and objects that a rule spares although their owner is deleted or stuck.
    fn add_survivors(
        &mut self,
        log: &[Change],
        touches: &BTreeMap<ObjectId, Touch>,
        fates: &BTreeMap<ObjectId, Fate>,
    ) {
        let cluster = self.view.plan.cluster();
        let affected = self.affected.iter().map(|affected| affected.id);
        let places: BTreeMap<ObjectId, usize> = affected.zip(0..).collect();
        let spared: BTreeMap<ObjectId, Vec<Cause>> =
            self.view.plan.spared(self.step).into_iter().collect();
        let changed = fates
            .iter()
            .filter(|(_, fate)| **fate == Fate::Kept)
            .map(|(id, _)| *id);
        let unchanged = spared.keys().copied().filter(|id| {
            !fates.contains_key(id) && place_of_owner(cluster, *id, &places).is_some()
        });
        let ids: BTreeSet<ObjectId> = changed.chain(unchanged).collect();
        for id in ids {
            let touch = touches.get(&id);
            let began = touch
                .and_then(|touch| touch.detached.or(touch.began))
                .map(|at| log[at]);
            let via = began.and_then(|began| began.via);
            let mut causes = touch.map(|touch| touch.causes.clone()).unwrap_or_default();
            add(&mut causes, spared.get(&id).into_iter().flatten());
            self.affected.push(Affected {
                id,
                key: cluster.key(id),
                fate: Fate::Kept,
                parent: via
                    .and_then(|via| places.get(&via))
                    .copied()
                    .or_else(|| place_of_owner(cluster, id, &places)),
                wave: 0,
                began,
                causes,
            });
        }
    }

    /// Returns the objects that have an ending, in order.
    pub(crate) fn with_fate(&self, fate: Fate) -> impl Iterator<Item = &Affected> {
        let affected = self.affected.iter();
        affected.filter(move |affected| affected.fate == fate)
    }

    fn count(&mut self, before: &StoredObjects<'_>) {
        let cluster = self.view.plan.cluster();
        let still =
            shown(cluster).filter(|id| before.terminating(*id) && self.after.terminating(*id));
        let (waiting_before, still): (Vec<_>, Vec<_>) = still.partition(|id| self.waits(*id));
        self.stuck_before = still.into_iter().map(|id| cluster.key(id)).collect();
        let alive = shown(cluster).filter(|id| self.after.has(*id)).count();
        let all_stuck = self.with_fate(Fate::Stuck).count();
        let kept = self.with_fate(Fate::Kept).count();
        let waiting = self.with_fate(Fate::Stuck);
        let waiting = waiting.filter(|stuck| self.waits(stuck.id)).count();
        let implied = self.with_fate(Fate::Deleted);
        let implied = implied.filter(|deleted| self.implied.contains_key(&deleted.key));
        let before = self.stuck_before.len() + waiting_before.len();
        self.counts = Tally {
            deleted: self.with_fate(Fate::Deleted).count(),
            implied: implied.count(),
            stuck: all_stuck - waiting,
            waiting,
            still_stuck: self.stuck_before.len(),
            kept,
            untouched: alive - all_stuck - kept - before,
        };
    }

    /// Returns the kinds of deleted data with their numbers, claims first.
    pub(crate) fn data(&self) -> Vec<(&str, usize)> {
        let deleted = self.with_fate(Fate::Deleted);
        let mut kinds: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        for affected in deleted.filter(|affected| self.view.data.contains_key(&affected.key)) {
            let kind = if affected.key.is(kinds::PERSISTENT_VOLUME_CLAIM) {
                (false, "claim")
            } else {
                (true, affected.key.kind())
            };
            *kinds.entry(kind).or_default() += 1;
        }
        let kinds = kinds.into_iter();
        kinds.map(|((_, kind), number)| (kind, number)).collect()
    }

    /// Returns the reason why an object exists that no manifest contains; `None` for other objects.
    pub(crate) fn implied(&self, key: &ObjectKey) -> Option<&'v ImpliedDependent> {
        self.implied.get(key).copied()
    }

    /// Returns the targets of the requests that the API server rejected, each with the HTTP status code.
    pub(crate) fn rejected(&self) -> Vec<(&'v ObjectKey, u16)> {
        let targets = self.view.targets.get(self.step).into_iter().flatten();
        let responses = self.view.plan.steps[self.step].responses.iter().copied();
        let answered = targets.zip(responses);
        answered.filter(|(_, code)| *code >= 400).collect()
    }

    /// Whether the step may delete more: it deletes a delivery object with unknown objects.
    pub(crate) fn is_incomplete(&self) -> bool {
        let unread = self.view.unread;
        if unread.is_empty() {
            return false;
        }
        let mut targets = self.view.targets.get(self.step).into_iter().flatten();
        let mut with_others = self.affected.iter().filter(|one| {
            let mut requested = self.view.targets.iter().flatten();
            one.fate != Fate::Kept && !requested.any(|key| *key == one.key)
        });
        targets.any(|key| unread.contains(key)) || with_others.any(|one| unread.contains(&one.key))
    }

    pub(crate) fn title(&self) -> String {
        let title = self.view.titles.get(self.step).cloned();
        title.unwrap_or_else(|| format!("step {}", self.step + 1))
    }
}

/// Returns the ending of an object; `None` if the step does not change it, or it was Terminating and still is.
fn fate(id: ObjectId, before: &StoredObjects<'_>, after: &StoredObjects<'_>) -> Option<Fate> {
    match (before.has(id), after.has(id)) {
        (false, _) => None,
        (true, false) => Some(Fate::Deleted),
        (true, true) if after.terminating(id) => (!before.terminating(id)).then_some(Fate::Stuck),
        (true, true) => (!before.same_references(after, id)).then_some(Fate::Kept),
    }
}

/// Returns the objects of a cluster except assumed ones, which are not in the input.
fn shown(cluster: &Cluster) -> impl Iterator<Item = ObjectId> {
    cluster.ids().filter(|id| !cluster.is_assumed(*id))
}

/// Returns the place of the first owner that has one.
fn place_of_owner(
    cluster: &Cluster,
    id: ObjectId,
    places: &BTreeMap<ObjectId, usize>,
) -> Option<usize> {
    let mut edges = cluster.edges(id);
    edges.find_map(|edge| places.get(&edge.owner?).copied())
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
