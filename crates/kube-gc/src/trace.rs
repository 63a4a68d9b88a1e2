//! The log of one verdict: what happened to which object in which round, and why. Everything a plan explains is read
//! from it.

use std::collections::BTreeMap;

use crate::cause::Cause;
use crate::ids::{CalloutId, NONE, ObjectId};
use crate::object::Verb;

/// An event in the life of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A DELETE was accepted; the object is Terminating until nothing holds it any more.
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

/// A cause, and the object that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) cause: Cause,
    pub(super) via: Option<ObjectId>,
}

impl From<Cause> for Reason {
    fn from(cause: Cause) -> Self {
        Self { cause, via: None }
    }
}

impl Cause {
    /// Because of `via`, which may be [`NONE`].
    pub(super) fn via(self, via: ObjectId) -> Reason {
        Reason {
            cause: self,
            via: (via != NONE).then_some(via),
        }
    }
}

/// Something that happened to an object; a line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Counted from the start of the simulation; what has the same number happened together.
    pub round: u32,
    /// To what.
    pub object: ObjectId,
    /// What.
    pub effect: Effect,
    /// Why.
    pub cause: Cause,
    /// The object because of which it happened.
    pub via: Option<ObjectId>,
}

/// Requests that a webhook rejected: which one, and whether its Service existed.
pub(super) type Rejected = BTreeMap<(ObjectId, Verb), (CalloutId, bool)>;

/// The log.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) changes: Vec<Change>,
    pub(super) round: u32,
    pub(super) rejections: Rejected,
}

impl Trace {
    /// Takes the events since the last call.
    pub(super) fn take(&mut self) -> (Vec<Change>, Rejected) {
        (
            std::mem::take(&mut self.changes),
            std::mem::take(&mut self.rejections),
        )
    }

    pub(super) fn note(&mut self, object: ObjectId, effect: Effect, Reason { cause, via }: Reason) {
        self.changes.push(Change {
            object,
            round: self.round,
            effect,
            cause,
            via,
        });
    }
}
