//! Every outcome of one part of a cluster: an exhaustive, memoised search over the orders in which
//! moves can happen `[SIM-11]`.
//!
//! A *move* is an attempt at an item, the orphaning of an owner's dependents, a request of a purge or the next request
//! of a client, run to its end; moves race for which comes first. (An attempt that conflicts with itself `[GC-22a]`
//! ends there, and its retry is a move of its own.) The search goes depth first, makes moves until there is a choice,
//! and then follows each alternative once:
//!
//! * A state at a choice is identified by a fingerprint of everything that decides its future, queues included: orders
//!   that lead to the same state are continued only once. States between choices are not stored.
//! * An item that would write nothing is taken out of the queue at once: an attempt at it has no effect at any time,
//!   and a write that changes this queues it again.
//! * Where the moves of a few objects can be shown to commute with all others, only these are followed
//!   ([`super::independence`] says why no outcome is lost). Of several such sets the smallest is taken; one with a
//!   single move needs no choice at all.
//! * Outcomes that need a late retry are searched after all others, so that `late` means "only late" `[GC-16]`.
//!
//! The work is bounded by a budget, to which every object looked at, every move and every copied
//! state is charged. Once it is used up, a fixed set of pseudo-random orders is run instead. If
//! there are too many races between controllers and deletions, only some combinations are followed:
//! no race is won, or all are, or those of one controller, or one, or all but one. The number of
//! states at rest that are kept is limited too. In each case the result is marked as incomplete.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::choice::{Chooser, ReductionBudget};
use super::found::{Branch, Course, Races, Reached, ReachedEnds, Search};
use super::sampling::{Random, any_move};
use crate::client::{RestPoints, Sent, Stretch};
use crate::cluster::Cluster;
use crate::ids::{ControllerId, ObjectId};
use crate::options::SimulationOptions;
use crate::reconcilers::ReleaseRace;
use crate::state::State;
use crate::world::Simulation;

/// Maximum number of orders that are sampled when the search is cut short.
const SAMPLES: usize = 64;
/// Minimum number of sampled orders per stretch.
const MIN_SAMPLES: usize = 2;
/// Budget of objects for all sampled orders; [`MIN_SAMPLES`] orders are run in any case.
const SAMPLED: usize = 50_000;

/// Maximum number of simultaneous races between controllers and deletions of which all combinations are searched.
const MAX_MIXED: usize = 6;
/// Maximum number of races for which combinations with one race unlike all others are searched.
const MAX_SINGLED_OUT: usize = 50;

/// Cost of one state at a choice: the unit of `state_cap`.
pub(super) const CHOICE: usize = 16;
/// Cost of one move without a choice.
const MOVE: usize = 1;
/// Budget per object, so that a cluster without choices is searched completely, whatever its size.
pub(super) const EACH: usize = 256;
/// Maximum number of objects in all states at rest that are kept of one part; at least `MIN_KEPT` states are kept.
const MAX_KEPT: usize = 2_000_000;
const MIN_KEPT: usize = 16;
/// Maximum number of objects in all states that wait for their other branches, and in those that wait for a late retry.
const MAX_WAITING: usize = 1_000_000;

/// A search through one part.
#[derive(Debug)]
pub(super) struct Explorer<'c> {
    cluster: &'c Cluster,
    stretch: Option<&'c Stretch<'c>>,
    /// Whether a state is final once a client has halted, because no other client continues.
    is_sole_client: bool,
    kubelet: bool,
    /// Remaining budget: [`MOVE`] for a move, more for a choice.
    budget: usize,
    /// Remaining budget of objects for sampled orders.
    sampled: usize,
    chooser: Chooser,
}

impl<'c> Explorer<'c> {
    pub(super) fn new(
        cluster: &'c Cluster,
        options: &SimulationOptions,
        budget: usize,
        is_sole_client: bool,
    ) -> Self {
        Explorer {
            cluster,
            stretch: None,
            is_sole_client,
            kubelet: options.kubelet,
            budget,
            sampled: SAMPLED,
            chooser: Chooser::new(cluster.len(), options.reduction),
        }
    }

    /// Runs the search. Returns the possible states at the end of each stretch, and the unused
    /// budget. `sent` are the requests to this part; `rests` divide the stretches.
    pub(super) fn run(
        mut self,
        sent: &'c Sent<'c>,
        rests: &RestPoints<'_>,
    ) -> (ReachedEnds, usize) {
        let start = Branch::of(Simulation::new(self.cluster).state, Course::default());
        let first = self.settle(vec![start]);
        let mut ends = ReachedEnds::default();
        // Whether a stretch without requests changes nothing, by whether the rest before it
        // settles.
        let mut is_idle = [false; 2];
        let mut number = 0;
        while number < rests.len() {
            let settled = rests.settles_before(number);
            self.stretch = sent.at(number);
            if self.stretch.is_none() && is_idle[usize::from(settled)] {
                let next_sent = sent.next_from(number).unwrap_or(rests.len());
                number = if is_idle == [true; 2] {
                    next_sent
                } else {
                    next_sent.min(rests.next_different(number))
                };
                continue;
            }
            let before = ends.last().unwrap_or(&first);
            let reached = self.after(before, settled);
            if self.stretch.is_none() && reached.has_same_ends(before) {
                is_idle[usize::from(settled)] = true;
            } else {
                is_idle = [false; 2];
            }
            ends.push(number, reached);
            number += 1;
        }
        (ends, self.budget)
    }

    /// Returns the states that a stretch leads to.
    fn after(&mut self, before: &Reached, settled: bool) -> Reached {
        let going = before
            .ends
            .iter()
            .filter(|branch| !self.is_sole_client || branch.state.halted.is_empty());
        let clients = self.stretch.map_or(0, Stretch::clients);
        let starts: Vec<Branch> = going
            .map(|branch| self.start(branch, settled, clients))
            .collect();
        self.budget = self
            .budget
            .saturating_sub((starts.len().max(1) - 1) * self.cost_of_copy());
        let mut reached = self.settle(starts);
        reached.complete &= before.complete;
        let Some(stretch) = self.stretch else {
            return reached;
        };
        for branch in &mut reached.ends {
            let halted: Vec<usize> = stretch.halts(&branch.state).collect();
            if halted.is_empty() {
                continue;
            }
            let mut world = self.world((*branch.state).clone());
            if !self.is_sole_client {
                // The client waits forever: no controller was quick enough.
                world.flag_lost_needs();
            }
            world.state.halted.extend(halted);
            branch.state = Arc::new(world.state);
        }
        reached
    }

    /// Returns the cost of a state that is copied, hashed and stored: large ones cost more.
    fn cost_of_copy(&self) -> usize {
        CHOICE + self.cluster.len() / 4
    }

    /// Prepares a branch for a stretch in which `clients` clients send something.
    fn start(&self, branch: &Branch, settled: bool, clients: usize) -> Branch {
        let mut world = self.world((*branch.state).clone());
        if settled {
            world.flag_lost_needs();
        }
        (world.state.sent, world.state.silent) = (vec![0; clients], 0);
        let course = Course {
            late: branch.course.late,
            ..Course::default()
        };
        Branch::of(world.state, course)
    }

    fn world(&self, state: State) -> Simulation<'c> {
        Simulation {
            cluster: self.cluster,
            state,
            stretch: self.stretch,
            watch: Vec::new(),
            trace: None,
        }
    }

    /// Returns all states at rest that can be reached from `starts`.
    fn settle(&mut self, starts: Vec<Branch>) -> Reached {
        let mut search = Search::default();
        // States that need no late retry are searched first, so that `late` means "only late".
        let mut open;
        (search.late, open) = starts.iter().cloned().partition(|it| it.course.late);
        while let Some(branch) = open.pop().or_else(|| search.late.pop()) {
            if !self.follow(branch, &mut search, &mut open) {
                search.cut = true;
                self.sample_all(&starts, &mut search);
                break;
            }
        }
        Reached {
            ends: search.ends.into_values().collect(),
            complete: !search.cut,
        }
    }

    /// Runs pseudo-random orders: fewer if the part is large, or if many were run already.
    fn sample_all(&mut self, starts: &[Branch], search: &mut Search) {
        let objects = self.cluster.len() + 1;
        let samples = (self.sampled / objects).clamp(MIN_SAMPLES, SAMPLES);
        self.sampled = self.sampled.saturating_sub(samples * objects);
        for (index, start) in (0..samples).zip(starts.iter().cycle()) {
            self.sample(start.clone(), index as u64, search);
        }
    }

    /// Follows one branch to its end or to the next real choice. Returns `false` when a limit is reached.
    fn follow(&mut self, branch: Branch, search: &mut Search, open: &mut Vec<Branch>) -> bool {
        if self.budget == 0 {
            return false;
        }
        let Branch {
            state,
            next,
            course,
            depth,
        } = branch;
        let mut world = self.world(Arc::unwrap_or_clone(state));
        if let Some(next) = next {
            self.budget = self.budget.saturating_sub(self.cost_of_copy());
            world.make(next);
        }
        loop {
            if self.budget == 0 {
                return false;
            }
            let budget = ReductionBudget {
                remaining: self.budget,
                per_move: self.cost_of_copy(),
            };
            let moves = self
                .chooser
                .choose(&mut world, course.retries_postponed, budget);
            self.budget = self.budget.saturating_sub(self.chooser.spent());
            match moves[..] {
                [] => {
                    if self.continues(&mut world, course, search) {
                        continue;
                    }
                    let quick = self.quick_controllers(&world, course, search);
                    self.budget = self
                        .budget
                        .saturating_sub(quick.len() * self.cost_of_copy());
                    if course.late {
                        search.late.extend(quick);
                    } else {
                        open.extend(quick);
                    }
                    return true;
                }
                [only] => {
                    self.budget = self.budget.saturating_sub(MOVE);
                    world.make(only);
                }
                _ => {
                    if !search.visit(&world, course) {
                        return true;
                    }
                    let depth = depth + 1;
                    if depth > self.most_waiting() {
                        return false;
                    }
                    let state = Arc::new(world.state);
                    open.extend(moves.into_iter().map(|next| Branch {
                        state: Arc::clone(&state),
                        next: Some(next),
                        course,
                        depth,
                    }));
                    // Late branches wait until all others are done.
                    if course.late {
                        search.late.append(open);
                    }
                    return true;
                }
            }
        }
    }

    /// Handles a state in which no queued item can move: late retries, then the other controllers. If nothing moves,
    /// keeps the state as one at rest and returns `false`.
    fn continues(&self, world: &mut Simulation<'_>, course: Course, search: &mut Search) -> bool {
        if !course.retries_postponed {
            let ready = world
                .state
                .failed
                .iter()
                .filter(|id| world.prospect(*id).writes() || world.view().may_orphan(*id));
            let ready: Vec<ObjectId> = ready.collect();
            if !ready.is_empty() {
                // Both are followed: the back-off ends in time, or not before the end of the step.
                let course = Course {
                    late: true,
                    retries_postponed: true,
                    ..course
                };
                if search.late.len() < self.most_waiting() {
                    search.late.push(Branch::of(world.state.clone(), course));
                } else {
                    search.cut = true;
                }
                for id in ready {
                    world.state.failed.remove(id);
                    world.retry(id);
                }
                return true;
            }
        }
        if world.controllers_pass(self.kubelet) || world.reconcilers_pass(&world.awaited_by_any()) {
            world.apply_watch();
            return true;
        }
        if course.races == Races::Won && win_all_races(world) {
            return true;
        }
        search.add_end(world, course, self.most_kept());
        false
    }

    /// Returns the branches from a state at rest in which controllers that are losing their needs were quick enough to
    /// release some objects.
    fn quick_controllers(
        &self,
        world: &Simulation<'c>,
        course: Course,
        search: &mut Search,
    ) -> Vec<Branch> {
        if course.races != Races::Open {
            return Vec::new();
        }
        let races = world.races();
        let count = races.len();
        if races.is_empty() || !search.visit(world, course) {
            return Vec::new();
        }
        // Each race is won or lost: as many states as there are subsets.
        let sets = 1_usize.checked_shl(count as u32).unwrap_or(usize::MAX);
        let all = count <= MAX_MIXED
            && sets.saturating_mul(count * self.cost_of_copy()) / 2 <= self.budget;
        if all {
            // `course` leaves the other races open.
            return races
                .into_iter()
                .map(|race| won(world, &BTreeSet::from([race]), course))
                .collect();
        }
        let lost = Course {
            races: Races::Lost,
            ..course
        };
        search.cut = true;
        let mut quick = vec![Branch::of(
            world.state.clone(),
            Course {
                races: Races::Won,
                ..course
            },
        )];
        let mut by_controller: BTreeMap<ControllerId, BTreeSet<ReleaseRace>> = BTreeMap::new();
        for one in &world.cluster.links.reconciled {
            let race = ReleaseRace::of(one);
            if races.contains(&race) {
                by_controller
                    .entry(one.controller)
                    .or_default()
                    .insert(race);
            }
        }
        let of_one = by_controller.into_values();
        quick.extend(of_one.map(|races| won(world, &races, lost)));
        // The combinations in which one race ends differently from all others.
        for race in races.iter().filter(|_| count <= MAX_SINGLED_OUT) {
            let others = races
                .iter()
                .filter(|other| *other != race)
                .copied()
                .collect();
            quick.extend([
                won(world, &BTreeSet::from([*race]), lost),
                won(world, &others, lost),
            ]);
        }
        quick
    }

    fn most_kept(&self) -> usize {
        (MAX_KEPT / (self.cluster.len() + 1)).max(MIN_KEPT)
    }

    fn most_waiting(&self) -> usize {
        MAX_WAITING / (self.cluster.len() + 1) + 1
    }

    /// Runs one pseudo-random order to its end.
    fn sample(&self, start: Branch, seed: u64, search: &mut Search) {
        let mut random = Random::new(seed);
        let mut world = self.world(Arc::unwrap_or_clone(start.state));
        let mut found = Search::default();
        loop {
            if let Some(next) = any_move(&mut world, &mut random) {
                world.make(next);
            } else if !self.continues(&mut world, start.course, &mut found) {
                let races: Vec<ReleaseRace> = world.races().into_iter().collect();
                if races.is_empty() || random.below(2) == 0 {
                    break;
                }
                world.win_races(&BTreeSet::from([races[random.below(races.len())]]));
                world.apply_watch();
            }
        }
        let room = self.most_kept().saturating_sub(search.ends.len());
        search.ends.extend(found.ends.into_iter().take(room));
    }
}

/// Lets controllers win all open races. Returns `false` if there is none.
fn win_all_races(world: &mut Simulation<'_>) -> bool {
    let races = world.races();
    world.win_races(&races);
    world.apply_watch();
    !races.is_empty()
}

/// Returns the branch in which controllers win `races`.
fn won(world: &Simulation<'_>, races: &BTreeSet<ReleaseRace>, course: Course) -> Branch {
    let mut world = world.clone();
    world.win_races(races);
    world.apply_watch();
    Branch::of(world.state, course)
}
