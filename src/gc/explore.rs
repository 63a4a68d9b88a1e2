//! Every outcome of one part of a cluster: an exhaustive, memoised search over the orders in which
//! moves can happen `[SIM-11]`.
//!
//! A *move* is an attempt at an item, the orphaning of an owner's dependents, a piece of a purge or the next request of a client, run to
//! its end: what races is which of them comes first. (An attempt that conflicts with itself `[GC-22a]` ends there, and its retry is a move
//! of its own.) The search goes depth first, makes moves until there is a choice, and there follows each alternative once:
//!
//! * A state at a choice is known by the fingerprint of everything that decides its future, queues included, so that two
//!   orders which lead to one state are followed on only once. Between choices nothing is remembered.
//! * An item that would write nothing is taken out of the queue at once: it has no effect whenever it runs, and a write that
//!   changes its mind queues it again.
//! * Where the moves of a few objects can be shown to commute with all others, only these are followed
//!   ([`super::independence`] says why no outcome is lost). Of several such sets the smallest is taken; one with a single
//!   move needs no choice at all.
//! * Outcomes that need a retry which comes late are searched after all others, so that `late` means "only late" `[GC-16]`.
//!
//! The work is bounded by a budget that every look at an object, every move and every copied state is charged to. Once it is
//! used up a number of fixed pseudo-random orders are run instead, and the result says that it is not complete.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::client::Stretch;
use super::cluster::Cluster;
use super::controllers::{ControllerSettings, Purge};
use super::flags::VISIBLE;
use super::ids::ObjectId;
use super::independence::{Seed, stubborn_moves};
use super::moves::Move;
use super::state::State;
use super::world::Simulation;
use crate::kube::Wait;

/// How many orders are sampled when the search is cut short.
const SAMPLES: u64 = 64;

/// What one state at a choice costs of the budget: the unit of the cap.
pub(super) const CHOICE: usize = 16;
/// What one move without a choice costs.
const MOVE: usize = 1;
/// How many objects may be looked at for one unit.
const LOOKS: usize = 1;

/// A state of the part, and how it came about.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub(super) state: State,
    pub(super) course: Course,
}

/// What a state does not show of how it came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Course {
    /// Some item's back-off had not ended when the cluster seemed at rest `[GC-16]`.
    pub(super) late: bool,
    /// Such items are left alone for the rest of this step.
    shelved: bool,
}

/// What a step can lead to.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    pub(super) ends: Vec<Branch>,
    pub(super) complete: bool,
}

/// A search through one part.
#[derive(Debug)]
pub(super) struct Explorer<'c> {
    cluster: &'c Cluster,
    stretch: Option<&'c Stretch<'c>>,
    /// Whether nothing follows once a client has halted: no other one goes on.
    lone: bool,
    settings: ControllerSettings,
    /// What the search may still spend: [`MOVE`] for a move, more for a choice.
    budget: usize,
    /// Whether commuting moves are made without branching; without, the search is naive.
    reduce: bool,
    /// Objects looked at in order to choose, since the budget was last charged.
    looked_at: Cell<usize>,
}

impl<'c> Explorer<'c> {
    pub(super) fn new(cluster: &'c Cluster, settings: ControllerSettings, budget: usize, reduce: bool) -> Self {
        Explorer { cluster, stretch: None, lone: true, settings, budget, reduce, looked_at: Cell::new(0) }
    }

    /// The same, where other clients may go on when one has halted.
    pub(super) fn with_others(self, others: bool) -> Self {
        Explorer { lone: !others, ..self }
    }

    /// The outcomes at the end of each stretch over all orders, and what of the budget is unused.
    pub(super) fn run(mut self, stretches: &'c [Stretch<'c>]) -> (Vec<Reached>, usize) {
        let start = Branch { state: Simulation::new(self.cluster).state, course: Course::default() };
        let mut reached = self.settle(vec![start]);
        let mut ends = Vec::with_capacity(stretches.len());
        let mut settled = true;
        for stretch in stretches {
            self.stretch = Some(stretch);
            let going = reached.ends.iter().filter(|branch| !self.lone || branch.state.halted.is_empty());
            let starts = going.map(|branch| self.start(branch, settled, stretch.clients())).collect();
            let complete = reached.complete;
            reached = self.settle(starts);
            reached.complete &= complete;
            for branch in &mut reached.ends {
                let halted: Vec<usize> = stretch.halts(&branch.state).collect();
                if !halted.is_empty() && !self.lone {
                    // It waits forever: no controller was quick enough.
                    let mut world = self.world(branch.state.clone());
                    world.forget_lost_controllers();
                    branch.state = world.state;
                }
                branch.state.halted.extend(halted);
            }
            ends.push(reached.clone());
            settled = stretch.end == Wait::Settled;
        }
        (ends, self.budget)
    }

    /// A branch before the first request of a stretch in which so many clients send something.
    fn start(&self, branch: &Branch, settled: bool, clients: usize) -> Branch {
        let mut world = self.world(branch.state.clone());
        if settled {
            world.forget_lost_controllers();
        }
        world.state.sent = vec![0; clients];
        Branch { state: world.state, course: Course { shelved: false, ..branch.course } }
    }

    fn world(&self, state: State) -> Simulation<'c> {
        Simulation { cluster: self.cluster, state, stretch: self.stretch, watch: Vec::new(), trace: None }
    }

    /// All states at rest that can be reached.
    fn settle(&mut self, starts: Vec<Branch>) -> Reached {
        let mut search = Search::default();
        // What needs no late retry is searched first, so that `late` means "only late".
        let (late, mut open): (Vec<Branch>, Vec<Branch>) =
            starts.clone().into_iter().partition(|branch| branch.course.late);
        search.late = late;
        loop {
            let Some(branch) = open.pop().or_else(|| search.late.pop()) else {
                return Reached { ends: search.ends.into_values().collect(), complete: true };
            };
            if !self.follow(branch, &mut search, &mut open) {
                break;
            }
        }
        // Fewer where one order is long.
        let samples = (1_000_000 / (self.cluster.len() as u64 + 1)).clamp(2, SAMPLES);
        for (index, start) in (0..samples).zip(starts.iter().cycle()) {
            self.sample(start.clone(), index, &mut search);
        }
        Reached { ends: search.ends.into_values().collect(), complete: false }
    }

    /// Follows one branch to its end or to the next real choice. False when the budget is used up.
    fn follow(&mut self, branch: Branch, search: &mut Search, open: &mut Vec<Branch>) -> bool {
        let Branch { state, course } = branch;
        let mut world = self.world(state);
        loop {
            if self.budget == 0 {
                return false;
            }
            let moves = self.choose(&mut world, course.shelved);
            self.budget = self.budget.saturating_sub(self.looked_at.take() / LOOKS);
            match moves[..] {
                [] => match self.rest(&mut world, course, search) {
                    Rest::Goes => {}
                    Rest::Ended => {
                        let quick = self.quick_controllers(&world, course, search);
                        self.budget = self.budget.saturating_sub(quick.len() * (CHOICE + self.cluster.len() / 4));
                        if course.late {
                            search.late.extend(quick)
                        } else {
                            open.extend(quick)
                        }
                        return true;
                    }
                },
                [only] => {
                    self.budget = self.budget.saturating_sub(MOVE);
                    world.make(only);
                }
                _ => {
                    if !search.seen.insert((world.state.fingerprint(), Course { late: false, ..course })) {
                        return true;
                    }
                    // Large states cost more: they are copied, hashed and kept.
                    let cost = moves.len() * (CHOICE + self.cluster.len() / 4);
                    self.budget = self.budget.saturating_sub(cost);
                    for next in moves {
                        let mut world = world.clone();
                        world.make(next);
                        open.push(Branch { state: world.state, course });
                    }
                    // Late branches wait until all others are done.
                    if course.late {
                        search.late.append(open);
                    }
                    return true;
                }
            }
        }
    }

    /// Nothing in the queues can move: late retries, then the other controllers, then rest.
    fn rest(&self, world: &mut Simulation<'_>, course: Course, search: &mut Search) -> Rest {
        if !course.shelved {
            let ready = world.state.failed.iter().filter(|id| world.would_write(*id) || world.view().may_orphan(*id));
            let ready: Vec<ObjectId> = ready.collect();
            if !ready.is_empty() {
                // Either the back-off ends soon enough, or not before somebody looks.
                let course = Course { late: true, shelved: true };
                search.late.push(Branch { state: world.state.clone(), course });
                for id in ready {
                    world.state.failed.remove(id);
                    world.retry(id);
                }
                return Rest::Goes;
            }
        }
        if world.controllers_pass(self.settings) || world.reconcilers_pass() {
            world.apply_watch();
            return Rest::Goes;
        }
        let course = Course { shelved: false, ..course };
        search.ends.entry(world.state.fingerprint()).or_insert_with(|| Branch { state: world.state.clone(), course });
        Rest::Ended
    }

    /// Where everything is at rest, but controllers that are going may have been quick enough to let go: what follows then.
    fn quick_controllers(&self, world: &Simulation<'c>, course: Course, search: &mut Search) -> Vec<Branch> {
        let races = world.races();
        if races.is_empty() || !search.seen.insert((world.state.fingerprint(), Course { late: false, ..course })) {
            return Vec::new();
        }
        let quick = races.into_iter().map(|controller| {
            let mut world = world.clone();
            world.win_race(controller);
            world.apply_watch();
            Branch { state: world.state, course }
        });
        quick.collect()
    }

    /// The moves to be followed from here; the queue is cleared of what would write nothing.
    fn choose(&self, world: &mut Simulation<'_>, shelved: bool) -> Vec<Move> {
        let mut best: Option<Vec<Move>> = None;
        let mut after = None;
        while let Some(item) = next_item(world, after) {
            after = Some(item);
            let prospect = world.prospect(item);
            if !prospect.writes() {
                world.discard(item, &prospect);
            } else if self.improves(world, Seed::Object(item), &mut best) {
                return best.unwrap_or_default();
            }
        }
        // An owner that a purge removed in the meantime has nothing to orphan any more.
        let gone: Vec<ObjectId> = world.state.orphans.iter().filter(|id| world.state.gone(*id)).collect();
        gone.into_iter().for_each(|id| world.state.orphans.remove(id));
        let orphans: Vec<ObjectId> = world.state.orphans.iter().collect();
        for owner in orphans {
            if self.improves(world, Seed::Object(owner), &mut best) {
                return best.unwrap_or_default();
            }
        }
        let mut from = ObjectId::FIRST;
        while let Some((object, _)) = world.next_purge(from) {
            from = object.next();
            if self.improves(world, Seed::Object(object), &mut best) {
                return best.unwrap_or_default();
            }
        }
        for namespace in world.finalizable() {
            if self.improves(world, Seed::Object(namespace), &mut best) {
                return best.unwrap_or_default();
            }
        }
        let cluster_moves = best.is_some();
        let sending: Vec<usize> = world.sending().collect();
        for client in sending {
            if self.improves(world, Seed::Client(client), &mut best) {
                return best.unwrap_or_default();
            }
        }
        if !self.reduce && cluster_moves {
            for item in world.state.failed.iter() {
                self.improves(world, Seed::Object(item), &mut best);
            }
        }
        let mut moves = best.unwrap_or_default();
        // A failed item may be retried while anything else in the cluster moves. Where nothing does, the client's next request
        // comes before the end of a back-off, and what comes after the last request is for `rest` to say.
        if shelved || !cluster_moves {
            moves.retain(|next| !matches!(next, Move::Attempt(item) if world.state.failed.contains(*item)));
        }
        moves
    }

    /// Whether the moves around `seed` are a single one; otherwise they are kept if fewer than `best`.
    fn improves(&self, world: &Simulation<'_>, seed: Seed, best: &mut Option<Vec<Move>>) -> bool {
        if !self.reduce {
            let moves = best.get_or_insert_default();
            let mut more = Vec::new();
            match seed {
                Seed::Object(id) => world.moves_of(id, &mut more),
                Seed::Client(client) => more.push(Move::Send(client)),
            }
            more.retain(|next| !moves.contains(next));
            moves.extend(more);
            return false;
        }
        let limit = best.as_ref().map_or(usize::MAX, Vec::len);
        if let Some(moves) = stubborn_moves(world, seed, limit, &self.looked_at).filter(|moves| !moves.is_empty()) {
            *best = Some(moves);
        }
        best.as_ref().is_some_and(|moves| moves.len() == 1)
    }

    /// One pseudo-random order to its end.
    fn sample(&self, start: Branch, seed: u64, search: &mut Search) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut world = self.world(start.state);
        let mut found = Search::default();
        loop {
            if let Some(next) = any_move(&mut world, &mut random) {
                world.make(next);
            } else if let Rest::Ended = self.rest(&mut world, start.course, &mut found) {
                let mut quick = self.quick_controllers(&world, start.course, &mut found);
                if quick.is_empty() || random.below(2) == 0 {
                    break;
                }
                world = self.world(quick.swap_remove(random.below(quick.len())).state);
            }
        }
        search.ends.append(&mut found.ends);
    }
}

/// A fixed sequence of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Some move that is possible now.
fn any_move(world: &mut Simulation<'_>, random: &mut Random) -> Option<Move> {
    loop {
        let from = ObjectId::from(random.below(world.cluster.len()));
        let State { queue, conflicts, orphans, .. } = &world.state;
        let idle = [queue, conflicts, orphans].iter().all(|queue| queue.is_empty());
        let chosen = random.below(5);
        if chosen == 4 || idle {
            let purge = world.next_purge(from).or_else(|| world.next_purge(ObjectId::FIRST)).map(|(_, purge)| purge);
            let finalize = || world.finalizable().next().map(Purge::Finalize);
            if let Some(purge) = purge.or_else(finalize) {
                return Some(Move::Purge(purge));
            }
        }
        if chosen == 3 || idle {
            let sending: Vec<usize> = world.sending().collect();
            if !sending.is_empty() {
                return Some(Move::Send(sending[random.below(sending.len())]));
            }
        }
        if idle {
            return None;
        }
        let queue = [&world.state.queue, &world.state.conflicts, &world.state.orphans][chosen % 3];
        let Some(item) = queue.next_from(from).or_else(|| queue.next_from(ObjectId::FIRST)) else { continue };
        if chosen % 3 == 2 {
            return Some(Move::Orphan(item));
        }
        let prospect = world.prospect(item);
        if prospect.writes() {
            return Some(Move::Attempt(item));
        }
        world.discard(item, &prospect);
    }
}

/// What has been found.
#[derive(Debug, Default)]
struct Search {
    seen: BTreeSet<((u64, u64), Course)>,
    ends: BTreeMap<(u64, u64), Branch>,
    late: Vec<Branch>,
}

enum Rest {
    Goes,
    Ended,
}

/// The first queued or conflicting item after another.
fn next_item(world: &Simulation<'_>, after: Option<ObjectId>) -> Option<ObjectId> {
    let from = after.map_or(ObjectId::FIRST, ObjectId::next);
    let queued = world.state.queue.next_from(from);
    let conflict = world.state.conflicts.next_from(from);
    queued.into_iter().chain(conflict).min()
}

/// What a user can see of a state, to tell outcomes apart.
pub(super) fn visible(cluster: &Cluster, state: &State) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(state.flags.len() + state.refs.len() + state.finalizers.len());
    for id in cluster.ids() {
        let flags = state.flags[id] & VISIBLE;
        bytes.extend(flags.to_le_bytes());
        if state.live(id) {
            bytes.extend(cluster.refs_of(id).map(|index| state.refs[index] as u8));
            bytes.extend(cluster.finalizers_of(id).map(|slot| u8::from(state.finalizers[slot])));
        }
    }
    bytes
}
