//! Pseudo-random orders of moves, for parts with too many orders to follow them all.

use super::moves::Move;
use crate::controllers::Purge;
use crate::ids::ObjectId;
use crate::world::Simulation;

/// A deterministic pseudo-random number generator (xorshift).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Returns a pseudo-random move that is possible now; `None` if there is none.
pub(super) fn any_move(world: &mut Simulation<'_>, random: &mut Random) -> Option<Move> {
    loop {
        let from = ObjectId::from(random.below(world.cluster.len()));
        let state = &world.state;
        let queues = [&state.queue, &state.conflicts, &state.orphans];
        let idle = queues.iter().all(|queue| queue.is_empty());
        let chosen = random.below(5);
        if chosen == 4 || idle {
            let purge = world
                .next_purge(from)
                .or_else(|| world.next_purge(ObjectId::FIRST))
                .map(|(_, purge)| purge);
            if let Some(purge) = purge.or_else(|| world.finalizable().next().map(Purge::Finalize)) {
                return Some(Move::Purge(purge));
            }
        }
        if chosen == 3 || idle {
            let (first, end) = (world.state.silent, world.clients());
            let from = first + random.below(end.saturating_sub(first));
            if let Some(client) = (from..end)
                .chain(first..from)
                .find(|client| world.may_send(*client))
            {
                return Some(Move::Send(client));
            }
        }
        if idle {
            return None;
        }
        let state = &world.state;
        let queue = [&state.queue, &state.conflicts, &state.orphans][chosen % 3];
        let Some(item) = queue
            .next_from(from)
            .or_else(|| queue.next_from(ObjectId::FIRST))
        else {
            continue;
        };
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
