//! Selects the moves that the search follows from a state: the smallest set that loses no outcome
//! ([`super::independence`]), unless the search for it costs more than it saves.

use super::independence::{Seed, SetScratch, stubborn_moves};
use super::moves::Move;
use crate::ids::ObjectId;
use crate::world::Simulation;

/// Budget cost of examining one object.
const VISIT_COST: usize = 16;

/// Budget for the search for a smaller set of moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReductionBudget {
    pub(super) remaining: usize,
    /// The cost of following one more move.
    pub(super) per_move: usize,
}

/// Selector of the moves to follow.
#[derive(Debug)]
pub(super) struct Chooser {
    /// Whether to apply the reduction; if not, all moves are followed.
    reduce: bool,
    scratch: SetScratch,
}

impl Chooser {
    /// Creates a selector for a cluster of `objects` objects.
    pub(super) fn new(objects: usize, reduce: bool) -> Self {
        Chooser {
            reduce,
            scratch: SetScratch::new(objects),
        }
    }

    /// Returns the cost of the objects looked at since the last call.
    pub(super) fn spent(&mut self) -> usize {
        VISIT_COST * std::mem::take(&mut self.scratch.visited)
    }

    /// Returns the moves to follow from here. Items that would write nothing leave the queue.
    pub(super) fn choose(
        &mut self,
        world: &mut Simulation<'_>,
        retries_postponed: bool,
        budget: ReductionBudget,
    ) -> Vec<Move> {
        let mut best: Option<Vec<Move>> = None;
        let mut after = None;
        while let Some(item) = next_item(world, after) {
            after = Some(item);
            let prospect = world.prospect(item);
            if !prospect.writes() {
                world.discard(item, &prospect);
            } else if self.improves(world, budget, Seed::Object(item), &mut best) {
                if best.as_ref().is_some_and(|moves| moves.len() > 1) {
                    discard_idle(world, after);
                    discard_orphans(world);
                }
                return chosen(world, best, retries_postponed);
            }
        }
        discard_orphans(world);
        let orphans: Vec<ObjectId> = world.state.orphans.iter().collect();
        for owner in orphans {
            if self.improves(world, budget, Seed::Object(owner), &mut best) {
                return chosen(world, best, retries_postponed);
            }
        }
        let mut from = ObjectId::FIRST;
        while let Some((object, _)) = world.next_purge(from) {
            from = object.next();
            if self.improves(world, budget, Seed::Object(object), &mut best) {
                return chosen(world, best, retries_postponed);
            }
        }
        for namespace in world.finalizable() {
            if self.improves(world, budget, Seed::Object(namespace), &mut best) {
                return chosen(world, best, retries_postponed);
            }
        }
        let cluster_moves = best.is_some();
        for client in world.sending().filter(|client| world.may_send(*client)) {
            if self.improves(world, budget, Seed::Client(client), &mut best) {
                return chosen(world, best, retries_postponed || !cluster_moves);
            }
        }
        if !self.reduce && cluster_moves {
            for item in world.state.failed.iter() {
                self.improves(world, budget, Seed::Object(item), &mut best);
            }
        }
        // A failed item may be retried while anything else in the cluster moves. If nothing does, the client's next
        // request comes before the end of a back-off, and `Explorer::rest` handles the time after the last request.
        let mut moves = best.unwrap_or_default();
        if retries_postponed || !cluster_moves {
            moves.retain(|next| !is_retry(world, next));
        }
        moves
    }

    /// Replaces `best` with the moves around `seed` if these are fewer. Returns `true` if the search for a smaller set
    /// should stop: a single move is optimal, and looking must not cost more than following the moves in `best`.
    fn improves(
        &mut self,
        world: &Simulation<'_>,
        budget: ReductionBudget,
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
        let looked = VISIT_COST * self.scratch.visited;
        best.as_ref().is_some_and(|best| {
            best.len() == 1 || looked >= budget.remaining.min(best.len() * budget.per_move)
        })
    }
}

/// Whether a move retries a failed item.
fn is_retry(world: &Simulation<'_>, next: &Move) -> bool {
    matches!(next, Move::Attempt(item) if world.state.failed.contains(*item))
}

/// Returns the moves in `best`. If `without_retries` and there are several, retries of failed items are left out.
fn chosen(world: &Simulation<'_>, best: Option<Vec<Move>>, without_retries: bool) -> Vec<Move> {
    let mut moves = best.unwrap_or_default();
    if without_retries && moves.len() > 1 {
        moves.retain(|next| !is_retry(world, next));
    }
    moves
}

/// Removes from the queue the items after `after` that would write nothing.
fn discard_idle(world: &mut Simulation<'_>, mut after: Option<ObjectId>) {
    while let Some(item) = next_item(world, after) {
        after = Some(item);
        let prospect = world.prospect(item);
        if !prospect.writes() {
            world.discard(item, &prospect);
        }
    }
}

/// Removes from the queue the owners that are gone: they have nothing to orphan any more.
fn discard_orphans(world: &mut Simulation<'_>) {
    let gone: Vec<ObjectId> = world
        .state
        .orphans
        .iter()
        .filter(|id| world.state.gone(*id))
        .collect();
    for id in gone {
        world.state.orphans.remove(id);
    }
}

/// Returns the first queued or conflicting item after `after`.
fn next_item(world: &Simulation<'_>, after: Option<ObjectId>) -> Option<ObjectId> {
    let from = after.map_or(ObjectId::FIRST, ObjectId::next);
    let queued = world.state.queue.next_from(from);
    let conflict = world.state.conflicts.next_from(from);
    queued.into_iter().chain(conflict).min()
}
