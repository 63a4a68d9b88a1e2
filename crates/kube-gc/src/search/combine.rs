//! Combines the outcomes of independent parts: every combination is an outcome of the whole.
//!
//! The parts have one thing in common, the clients. If a client waits until objects are gone, and those of one part
//! stay, it *halts*: it sends nothing more. If no other client continues then, an outcome of the whole combines the
//! states of all parts at that moment. If others continue, all objects that the client deletes are in one part, and so
//! is its halt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use typed_index_collections::TiVec;

use super::explore::{CHOICE, EACH, Explorer};
use super::found::{Reached, ReachedEnds};
use super::parts::{Part, Partition};
use crate::client::{RestPoints, Sent};
use crate::cluster::Cluster;
use crate::flags::{UNWATCHED, VISIBLE};
use crate::ids::ObjectId;
use crate::names::{Policy, Wait};
use crate::options::SimulationOptions;
use crate::outcome::{Difference, Outcome, Patch};
use crate::plan::StepPlan;
use crate::state::State;
use crate::steps::{BoundOperation, BoundRequest};

/// Maximum number of outcomes besides the verdict that one step lists, however small the cluster.
const MAX_OUTCOMES: usize = 20_000;
/// Number of outcomes that a step may always list, however large the cluster.
const MIN_OUTCOMES: usize = 4;
/// Maximum number of objects in all outcomes of a plan besides the verdicts, within the two limits above.
const MAX_OBJECTS: usize = 200_000;

/// Adds the other outcomes to each step that settles, and so has its verdict already. `halts` says
/// whether a client halted on the way to the verdict.
pub(crate) fn add_outcomes(
    cluster: &Cluster,
    requests: &[BoundRequest<'_>],
    options: &SimulationOptions,
    halts: bool,
    steps: &mut [StepPlan],
) {
    let targets: Vec<ObjectId> = requests
        .iter()
        .flat_map(|request| &request.targets)
        .flatten()
        .copied()
        .collect();
    let mut active = targets.clone();
    let changes = steps.iter().flat_map(|step| &step.log);
    active.extend(changes.map(|change| change.object));
    let joined = joined(requests);
    let partition = Partition::new(cluster, &active, &targets, &joined);
    let rests = RestPoints::of(requests);
    let budget = options
        .state_cap
        .saturating_mul(CHOICE)
        .saturating_add(cluster.len() * EACH);
    let is_sole_client = joined.is_empty();
    let mut search = PartSearch {
        partition: &partition,
        requests,
        rests: &rests,
        options,
        is_sole_client,
        budget,
        found: Vec::new(),
    };
    let deleted = deleted(cluster, requests);
    let (certain, open): (Vec<usize>, Vec<usize>) = (0..partition.len()).partition(|part| {
        options.reduction && is_certain(cluster, partition.objects(*part), &deleted)
    });
    search.run(&open);
    // A certain part ends as the verdict does, unless its deletion is never sent. If its object stays, a client may
    // wait for it forever.
    let waits = requests.iter().any(|request| !request.waiting.is_empty());
    let may_halt = halts
        || waits
            && certain
                .iter()
                .any(|part| stays(cluster, partition.objects(*part)))
        || search
            .found
            .iter()
            .any(|part| part.reached.halting().next().is_some());
    if may_halt {
        search.run(&certain);
        search.found.sort_by_key(|part| part.number);
    }
    let parts = search.found;
    let mut room = MAX_OBJECTS / cluster.len().max(1);
    let halting = parts
        .iter()
        .flat_map(|part| part.reached.halting())
        .collect();
    let whole = Whole {
        cluster,
        parts: &parts,
        halting,
        is_sole_client,
    };
    for (stretch, (step, request)) in rests.iter().enumerate() {
        if request.wait == Wait::Settled {
            let listed = whole.add_to(
                &mut steps[step],
                stretch,
                room.clamp(MIN_OUTCOMES, MAX_OUTCOMES),
            );
            room = room.saturating_sub(listed);
        }
    }
}

/// Returns by object whether background DELETEs are the only requests to it; `None` if there is no request.
fn deleted(cluster: &Cluster, requests: &[BoundRequest<'_>]) -> TiVec<ObjectId, Option<bool>> {
    let mut deleted: TiVec<ObjectId, Option<bool>> = vec![None; cluster.len()].into();
    for request in requests {
        let background = BoundOperation::Delete {
            policy: Some(Policy::Background),
            force: false,
        };
        let is_plain = request.operation == background;
        for target in request.targets.iter().flatten() {
            *deleted[*target].get_or_insert(true) &= is_plain;
        }
    }
    deleted
}

/// Returns whether a part is a single object with the same fate in every order: it is only deleted, and is removed by
/// the request or stays because its finalizers are never removed. Most objects of a Helm release are like this.
fn is_certain(
    cluster: &Cluster,
    objects: &[ObjectId],
    deleted: &TiVec<ObjectId, Option<bool>>,
) -> bool {
    let [id] = *objects else { return false };
    let links = &cluster.links;
    let is_ordinary = cluster.nodes[id].flags & !UNWATCHED == 0 && !links.roles.contains_key(&id);
    let is_left_alone = links.reconciled_of(id).is_empty() && links.protections_of(id).is_empty();
    deleted[id] == Some(true)
        && is_ordinary
        && cluster.refs_of(id).is_empty()
        && is_left_alone
        && !cluster.asks_about_kind_of(objects)
}

/// Whether the object of a part that [`is_certain`] stays after its deletion: it has a finalizer.
fn stays(cluster: &Cluster, objects: &[ObjectId]) -> bool {
    objects
        .iter()
        .any(|id| !cluster.finalizers_of(*id).is_empty())
}

/// The search through parts, one after the other.
struct PartSearch<'a, 'c> {
    partition: &'a Partition<'c>,
    requests: &'a [BoundRequest<'a>],
    rests: &'a RestPoints<'a>,
    options: &'a SimulationOptions,
    /// Whether no other client continues once one has halted.
    is_sole_client: bool,
    budget: usize,
    found: Vec<SearchedPart>,
}

/// A part and its possible states.
struct SearchedPart {
    number: usize,
    part: Part,
    reached: ReachedEnds,
}

impl PartSearch<'_, '_> {
    fn run(&mut self, parts: &[usize]) {
        for (&number, sent) in
            parts
                .iter()
                .zip(&sent(self.requests, self.rests, self.partition, parts))
        {
            let part = self.partition.part(number);
            let explorer = Explorer::new(
                &part.cluster,
                self.options,
                self.budget,
                self.is_sole_client,
            );
            let (reached, left) = explorer.run(sent, self.rests);
            self.budget = left;
            self.found.push(SearchedPart {
                number,
                part,
                reached,
            });
        }
    }
}

/// Returns the deletions of each client that may halt; empty if no other client can continue then.
fn joined(requests: &[BoundRequest<'_>]) -> Vec<Vec<ObjectId>> {
    let waiting: BTreeSet<usize> = requests
        .iter()
        .flat_map(|request| request.waiting.iter().copied())
        .collect();
    let after = requests
        .iter()
        .skip_while(|request| request.waiting.is_empty())
        .skip(1);
    let going: BTreeSet<usize> = after
        .map(|request| request.client)
        .chain(waiting.iter().copied())
        .collect();
    if going.len() < 2 {
        return Vec::new();
    }
    let mut deleted: BTreeMap<usize, Vec<ObjectId>> = waiting
        .into_iter()
        .map(|client| (client, Vec::new()))
        .collect();
    for request in requests {
        if let Some(deleted) = deleted.get_mut(&request.client) {
            deleted.extend(request.targets.iter().flatten());
        }
    }
    deleted.into_values().collect()
}

/// Divides the requests of the clients among `parts`, which are ascending.
fn sent<'s>(
    requests: &'s [BoundRequest<'s>],
    rests: &RestPoints<'s>,
    partition: &Partition<'_>,
    parts: &[usize],
) -> Vec<Sent<'s>> {
    let mut all: Vec<Sent<'_>> = parts.iter().map(|_| Sent::default()).collect();
    let mut ends = rests.iter().enumerate().peekable();
    for (place, request) in requests.iter().enumerate() {
        let mut shares: BTreeMap<usize, Vec<Option<ObjectId>>> = BTreeMap::new();
        for target in request.targets.iter().flatten() {
            if let Some((part, local)) = partition.locate(*target)
                && let Ok(index) = parts.binary_search(&part)
            {
                shares.entry(index).or_default().push(Some(local));
            }
        }
        let Some(&(stretch, (last, end))) = ends.peek() else {
            break;
        };
        for (part, targets) in shares {
            all[part].push(stretch, end, request.to(targets));
        }
        if place == last {
            ends.next();
        }
    }
    all
}

/// The result of the search in all parts.
struct Whole<'a> {
    cluster: &'a Cluster,
    parts: &'a [SearchedPart],
    /// The stretches at whose end a client may wait forever.
    halting: BTreeSet<usize>,
    /// Whether no other client continues once one has halted.
    is_sole_client: bool,
}

impl Whole<'_> {
    /// Adds the outcomes at the end of a stretch that settles, at most `most` besides the verdict, and returns how many
    /// there are. Either everything was sent, or the client has halted at the end of an earlier stretch.
    fn add_to(&self, step: &mut StepPlan, stretch: usize, most: usize) -> usize {
        let Some(verdict) = step.outcomes.first().map(|verdict| verdict.base.clone()) else {
            return 0;
        };
        step.verdict_reached = false;
        let first = if self.is_sole_client { 0 } else { stretch };
        for moment in self.halting.range(first..stretch).copied().chain([stretch]) {
            let stops = moment < stretch;
            let parts = self
                .parts
                .iter()
                .filter_map(|found| Some((&found.part, found.reached.at(moment)?)));
            step.complete &= parts.clone().all(|(_, reached)| reached.complete);
            let choices = parts
                .map(|(part, reached)| self.ends(part, reached, &verdict))
                .collect();
            let choices = Choices {
                parts: choices,
                stops,
            };
            step.verdict_reached |= choices.hold_verdict();
            let room = most - (step.outcomes.len() - 1);
            step.complete &= choices.add_to(&mut step.outcomes, room);
        }
        step.outcomes[1..].sort_by_key(|outcome| (outcome.late, outcome.differs));
        step.outcomes.len() - 1
    }

    /// Returns the possible ends of one part, the verdict's first. States that look alike are merged (late if all are).
    fn ends(&self, part: &Part, reached: &Reached, verdict: &State) -> Vec<PartEnd> {
        let mut distinct: BTreeMap<_, (&Arc<State>, bool)> = BTreeMap::new();
        for branch in &reached.ends {
            let key = (
                visible(&part.cluster, &branch.state),
                self.is_sole_client && !branch.state.halted.is_empty(),
            );
            let seen = distinct
                .entry(key)
                .or_insert((&branch.state, branch.course.late));
            seen.1 &= branch.course.late;
        }
        let ends = distinct.into_iter().map(|((_, halts), (state, late))| {
            let patch = Patch {
                objects: part.objects.clone(),
                state: Arc::clone(state),
            };
            let difference = patch.difference(self.cluster, verdict);
            PartEnd {
                patch: difference.map(|difference| (patch, difference)),
                late,
                halts,
            }
        });
        let mut ends: Vec<PartEnd> = ends.collect();
        // Graver differences first: there may not be room for all.
        ends.sort_by_key(|end| {
            (
                end.patch.as_ref().map(|(_, difference)| *difference),
                end.late,
            )
        });
        ends
    }
}

/// A possible end of one part of the cluster.
#[derive(Debug, Clone)]
struct PartEnd {
    /// `None`: as in the verdict.
    patch: Option<(Patch, Difference)>,
    late: bool,
    /// Whether the client never continues.
    halts: bool,
}

/// The possible ends of all parts at one moment.
struct Choices {
    parts: Vec<Vec<PartEnd>>,
    /// Whether a combination counts only if the client halts at that moment.
    stops: bool,
}

impl Choices {
    fn hold_verdict(&self) -> bool {
        let mut ends = self.parts.iter().flatten();
        self.parts
            .iter()
            .all(|ends| ends.iter().any(|end| end.patch.is_none()))
            && (!self.stops || ends.any(|end| end.patch.is_none() && end.halts))
    }

    /// Appends every combination that differs from the verdict. If there are more than `most`, appends at most `most`
    /// of those in which one part deviates or all parts take the same position in their lists, and returns `false`.
    fn add_to(&self, outcomes: &mut Vec<Outcome>, most: usize) -> bool {
        // Most parts have no choice.
        let (fixed, free): (Vec<_>, Vec<_>) = self.parts.iter().partition(|ends| ends.len() == 1);
        let Some(verdict) = outcomes.first().cloned() else {
            return true;
        };
        let mut start = Combination {
            outcome: verdict,
            halts: false,
        };
        fixed.into_iter().flatten().for_each(|end| start.add(end));
        let number = free
            .iter()
            .fold(1, |number: usize, ends| number.saturating_mul(ends.len()));
        // One of them may be the verdict.
        let whole = number <= most + 1;
        let combinations = if whole {
            all(start, &free)
        } else {
            some(&start, &free, most)
        };
        let wanted = combinations
            .into_iter()
            .filter(|it| it.outcome.differs.is_some() && (it.halts || !self.stops));
        let known = outcomes.len();
        outcomes.extend(wanted.map(|combination| combination.outcome));
        let listed = outcomes.len() - known;
        outcomes.truncate(known + most);
        whole && listed <= most
    }
}

#[derive(Clone)]
struct Combination {
    outcome: Outcome,
    halts: bool,
}

impl Combination {
    fn add(&mut self, end: &PartEnd) {
        if let Some((patch, difference)) = &end.patch {
            self.outcome.patches.push(patch.clone());
            self.outcome.differs = Some(difference.or_graver(self.outcome.differs));
        }
        self.outcome.late |= end.late;
        self.halts |= end.halts;
    }

    /// Returns a copy with an end of each part added: the one at `choice(part)`, or else the last.
    fn choosing(&self, parts: &[&Vec<PartEnd>], choice: impl Fn(usize) -> usize) -> Self {
        let mut combination = self.clone();
        for (part, ends) in parts.iter().enumerate() {
            combination.add(&ends[choice(part).min(ends.len() - 1)]);
        }
        combination
    }
}

fn all(start: Combination, parts: &[&Vec<PartEnd>]) -> Vec<Combination> {
    let mut combinations = vec![start];
    for ends in parts {
        let longer = ends.iter().flat_map(|end| {
            let mut same = combinations.clone();
            for combination in &mut same {
                combination.add(end);
            }
            same
        });
        combinations = longer.collect();
    }
    combinations
}

/// Returns at most `most` combinations that differ from the verdict: first those in which all parts take the same
/// position in their lists, then those in which one part chooses and all others take their first end.
fn some(start: &Combination, parts: &[&Vec<PartEnd>], most: usize) -> Vec<Combination> {
    let longest = parts.iter().map(|ends| ends.len()).max().unwrap_or(0);
    let alike = (0..longest).map(|choice| start.choosing(parts, |_| choice));
    let single = parts
        .iter()
        .enumerate()
        .flat_map(|(chooser, ends)| (1..ends.len()).map(move |choice| (chooser, choice)));
    let single = single.map(|(chooser, choice)| {
        start.choosing(parts, |part| if part == chooser { choice } else { 0 })
    });
    alike
        .chain(single)
        .filter(|combination| combination.outcome.differs.is_some())
        .take(most)
        .collect()
}

/// Encodes the fields of a state that a user can see, to distinguish outcomes.
fn visible(cluster: &Cluster, state: &State) -> Vec<u8> {
    let mut bytes =
        Vec::with_capacity(state.flags.len() + state.refs.len() + state.finalizers.len());
    for id in cluster.ids() {
        let flags = state.flags[id] & VISIBLE;
        bytes.extend(flags.to_le_bytes());
        if state.live(id) {
            bytes.extend(cluster.refs_of(id).map(|index| state.refs[index] as u8));
            bytes.extend(
                cluster
                    .finalizers_of(id)
                    .map(|slot| u8::from(state.finalizers[slot])),
            );
        }
    }
    bytes
}
