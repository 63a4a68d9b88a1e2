//! The log of one verdict: what happened to which object in which round, by which rule, because of
//! which other object. Everything a plan explains is read from it.

use super::cluster::{NONE, ObjectId};

/// Something that happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A DELETE was accepted; the object is Terminating until something lets go of it.
    Deleted,
    /// It was removed from storage.
    Gone,
    /// Owner references were removed from it.
    Detached,
    /// Its references stopped blocking their owners.
    Unblocked,
    /// A finalizer was removed from it.
    Released,
}

/// Why something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) rules: &'static [&'static str],
    /// The object that made it happen, or [`NONE`].
    pub(super) via: ObjectId,
}

impl Cause {
    pub(super) fn rules(rules: &'static [&'static str]) -> Cause {
        Cause { rules, via: NONE }
    }

    pub(super) fn via(rules: &'static [&'static str], via: ObjectId) -> Cause {
        Cause { rules, via }
    }
}

/// One line of the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) object: ObjectId,
    pub(super) round: u32,
    pub(super) effect: Effect,
    pub(super) cause: Cause,
}

/// The log.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) entries: Vec<Entry>,
    pub(super) round: u32,
}

impl Trace {
    pub(super) fn note(&mut self, object: ObjectId, effect: Effect, cause: Cause) {
        self.entries.push(Entry { object, round: self.round, effect, cause });
    }
}
