//! The results of a search through one part so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::moves::Move;
use crate::state::State;
use crate::world::Simulation;

/// A state of the part, and how it came about.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// All branches of one choice share the state before it.
    pub(super) state: Arc<State>,
    /// The move to make from that state.
    pub(super) next: Option<Move>,
    pub(super) course: Course,
    /// Number of choices that led here. The state before each of them is stored until its other branches are explored.
    pub(super) depth: usize,
}

impl Branch {
    pub(super) fn of(state: State, course: Course) -> Self {
        Branch {
            state: Arc::new(state),
            next: None,
            course,
            depth: 0,
        }
    }
}

/// The parts of a state's history that the state itself does not record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Course {
    /// Whether the cluster seemed at rest while a failed item was still backing off `[GC-16]`.
    pub(super) late: bool,
    /// Whether such items are left alone for the rest of this step.
    pub(super) retries_postponed: bool,
    pub(super) races: Races,
}

/// The ends of races between controllers and deletions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Races {
    /// Both ends are followed.
    #[default]
    Open,
    /// Controllers lose all that are still open, because there are too many to follow both ends.
    Lost,
    /// Controllers win all, because there are too many to follow both ends.
    Won,
}

/// The possible results of a step.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    pub(super) ends: Vec<Branch>,
    pub(super) complete: bool,
}

impl Reached {
    /// Whether both have the same ends, and so the same future.
    pub(super) fn has_same_ends(&self, other: &Self) -> bool {
        self.complete == other.complete
            && self.ends.len() == other.ends.len()
            && self.ends.iter().zip(&other.ends).all(|(one, other)| {
                one.course == other.course && one.state.fingerprint() == other.state.fingerprint()
            })
    }
}

/// The possible states of a part at the end of each stretch.
#[derive(Debug, Default)]
pub(super) struct ReachedEnds {
    /// Each new result with the number of the first stretch that ends with it, in order.
    changes: Vec<(usize, Reached)>,
}

impl ReachedEnds {
    /// Adds the possible states of the part at the end of `stretch`, which is later than all others so far.
    pub(super) fn push(&mut self, stretch: usize, reached: Reached) {
        self.changes.push((stretch, reached));
    }

    pub(super) fn last(&self) -> Option<&Reached> {
        self.changes.last().map(|(_, reached)| reached)
    }

    /// Returns the possible states of the part at the end of a stretch; `None` before the first one.
    pub(super) fn at(&self, stretch: usize) -> Option<&Reached> {
        let known = self.changes.partition_point(|(first, _)| *first <= stretch);
        self.changes[..known].last().map(|(_, reached)| reached)
    }

    /// Returns the stretches at whose end a client may begin to wait forever.
    pub(super) fn halting(&self) -> impl Iterator<Item = usize> + '_ {
        let halting = self.changes.iter().filter(|(_, reached)| {
            let mut ends = reached.ends.iter();
            ends.any(|end| !end.state.halted.is_empty())
        });
        halting.map(|(stretch, _)| *stretch)
    }
}

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Search {
    seen: BTreeSet<((u64, u64), Course)>,
    pub(super) ends: BTreeMap<(u64, u64), Branch>,
    pub(super) late: Vec<Branch>,
    /// Whether something was left out.
    pub(super) cut: bool,
}

impl Search {
    /// Records a visit. Returns `false` if the state was visited before, late or not.
    pub(super) fn visit(&mut self, world: &Simulation<'_>, course: Course) -> bool {
        let course = Course {
            late: false,
            ..course
        };
        self.seen.insert((world.state.fingerprint(), course))
    }

    /// Keeps a state at rest, unless `most` are kept already.
    pub(super) fn add_end(&mut self, world: &Simulation<'_>, course: Course, most: usize) {
        let key = world.state.fingerprint();
        if self.ends.contains_key(&key) {
            return;
        }
        if self.ends.len() >= most {
            self.cut = true;
            return;
        }
        let course = Course {
            retries_postponed: false,
            ..course
        };
        self.ends
            .insert(key, Branch::of(world.state.clone(), course));
    }
}
