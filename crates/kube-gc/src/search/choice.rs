//! Which moves the search follows from a state: the smallest set that loses no outcome ([`super::independence`]), as far as it is
//! worth looking for.

use super::independence::{Seed, SetScratch, stubborn_moves};
use super::moves::Move;
use crate::ids::ObjectId;
use crate::world::Simulation;

/// The cost of each object that is looked at.
const LOOK: usize = 16;

/// The means of a search to find fewer moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Means {
    /// Remaining budget.
    pub(super) budget: usize,
    /// The cost of following one more move.
    pub(super) copy: usize,
}

/// Chooses moves.
#[derive(Debug)]
pub(super) struct Chooser {
    /// Whether commuting moves are made without branching; without, the search is naive.
    reduce: bool,
    scratch: SetScratch,
}

impl Chooser {
    /// For a cluster of so many objects.
    pub(super) fn new(objects: usize, reduce: bool) -> Self {
        Chooser {
            reduce,
            scratch: SetScratch::new(objects),
        }
    }

    /// The cost of looking since the last call.
    pub(super) fn spent(&mut self) -> usize {
        LOOK * std::mem::take(&mut self.scratch.looked_at)
    }

    /// The moves to be followed from here; items that would write nothing leave the queue.
    pub(super) fn choose(
        &mut self,
        world: &mut Simulation<'_>,
        shelved: bool,
        means: Means,
    ) -> Vec<Move> {
        let mut best: Option<Vec<Move>> = None;
        let mut after = None;
        while let Some(item) = next_item(world, after) {
            after = Some(item);
            let prospect = world.prospect(item);
            if !prospect.writes() {
                world.discard(item, &prospect);
            } else if self.improves(world, means, Seed::Object(item), &mut best) {
                if best.as_ref().is_some_and(|moves| moves.len() > 1) {
                    discard_idle(world, after);
                    discard_orphans(world);
                }
                return chosen(world, best, shelved);
            }
        }
        discard_orphans(world);
        let orphans: Vec<ObjectId> = world.state.orphans.iter().collect();
        for owner in orphans {
            if self.improves(world, means, Seed::Object(owner), &mut best) {
                return chosen(world, best, shelved);
            }
        }
        let mut from = ObjectId::FIRST;
        while let Some((object, _)) = world.next_purge(from) {
            from = object.next();
            if self.improves(world, means, Seed::Object(object), &mut best) {
                return chosen(world, best, shelved);
            }
        }
        for namespace in world.finalizable() {
            if self.improves(world, means, Seed::Object(namespace), &mut best) {
                return chosen(world, best, shelved);
            }
        }
        let cluster_moves = best.is_some();
        for client in world.sending().filter(|client| world.may_send(*client)) {
            if self.improves(world, means, Seed::Client(client), &mut best) {
                return chosen(world, best, shelved || !cluster_moves);
            }
        }
        if !self.reduce && cluster_moves {
            for item in world.state.failed.iter() {
                self.improves(world, means, Seed::Object(item), &mut best);
            }
        }
        // A failed item may be retried while anything else in the cluster moves. Where nothing does, the client's next request
        // comes before the end of a back-off, and what comes after the last request is for `rest` to say.
        let mut moves = best.unwrap_or_default();
        if shelved || !cluster_moves {
            moves.retain(|next| !is_retry(world, next));
        }
        moves
    }

    /// Keeps the moves around `seed` if they are fewer than `best`. True when there is no need to look on: a single move is best,
    /// and to look for a smaller set may cost no more than to follow the one at hand.
    fn improves(
        &mut self,
        world: &Simulation<'_>,
        means: Means,
        seed: Seed,
        best: &mut Option<Vec<Move>>,
    ) -> bool {
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
        if let Some(moves) =
            stubborn_moves(world, seed, limit, &mut self.scratch).filter(|moves| !moves.is_empty())
        {
            *best = Some(moves);
        }
        let looked = LOOK * self.scratch.looked_at;
        best.as_ref().is_some_and(|best| {
            best.len() == 1 || looked >= means.budget.min(best.len() * means.copy)
        })
    }
}

/// Whether a move tries a failed item again.
fn is_retry(world: &Simulation<'_>, next: &Move) -> bool {
    matches!(next, Move::Attempt(item) if world.state.failed.contains(*item))
}

/// The moves of a set that is good enough: a single one, or several without retries if failed items are to be left alone.
fn chosen(world: &Simulation<'_>, best: Option<Vec<Move>>, without_retries: bool) -> Vec<Move> {
    let mut moves = best.unwrap_or_default();
    if without_retries && moves.len() > 1 {
        moves.retain(|next| !is_retry(world, next));
    }
    moves
}

/// Removes items that would write nothing from the queue, after an item.
fn discard_idle(world: &mut Simulation<'_>, mut after: Option<ObjectId>) {
    while let Some(item) = next_item(world, after) {
        after = Some(item);
        let prospect = world.prospect(item);
        if !prospect.writes() {
            world.discard(item, &prospect);
        }
    }
}

/// An owner that a purge removed in the meantime has nothing to orphan any more.
fn discard_orphans(world: &mut Simulation<'_>) {
    let gone: Vec<ObjectId> = world
        .state
        .orphans
        .iter()
        .filter(|id| world.state.gone(*id))
        .collect();
    for id in gone.into_iter() {
        world.state.orphans.remove(id);
    }
}

/// The first queued or conflicting item after another.
fn next_item(world: &Simulation<'_>, after: Option<ObjectId>) -> Option<ObjectId> {
    let from = after.map_or(ObjectId::FIRST, ObjectId::next);
    let queued = world.state.queue.next_from(from);
    let conflict = world.state.conflicts.next_from(from);
    queued.into_iter().chain(conflict).min()
}
