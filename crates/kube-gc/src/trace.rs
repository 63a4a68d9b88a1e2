//! The log of one verdict: each change of an object with its round and cause. Plans explain fates from it.

use std::collections::BTreeMap;

use crate::cause::Cause;
use crate::ids::{CalloutId, NONE, ObjectId};
use crate::object::Verb;

/// The kind of a change of an object.
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
    /// Attributes the cause to `via`, which may be [`NONE`].
    pub(super) fn via(self, via: ObjectId) -> Reason {
        Reason {
            cause: self,
            via: (via != NONE).then_some(via),
        }
    }
}

/// A change of an object; an entry of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Round, counted from the start of the simulation. Changes in one round happened together.
    pub round: u32,
    /// The changed object.
    pub object: ObjectId,
    /// The kind of change.
    pub effect: Effect,
    /// The cause.
    pub cause: Cause,
    /// The object that the cause comes from.
    pub via: Option<ObjectId>,
}

/// Rejected requests, each with the webhook that rejected it and whether its Service existed.
pub(super) type Rejected = BTreeMap<(ObjectId, Verb), (CalloutId, bool)>;

#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) changes: Vec<Change>,
    pub(super) round: u32,
    pub(super) rejections: Rejected,
}

impl Trace {
    /// Removes and returns the changes and rejections since the last call.
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
