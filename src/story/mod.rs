//! A plan in order: the objects that are deleted, stuck and kept in each step, why, and how to release stuck objects.
//!
//! * `view`: the finished simulation, with titles, targets and notes
//! * `telling`: one step: every object that it touches, with its ending and its cause
//! * `written`: the places of its objects in files
//! * `outline`: the tree of causes, truncated for display; `graph`: the same as nodes and arrows
//! * `extent`: the objects in a picture; `ties`: the references between them
//! * `words`, `remedy`, `variation`: the reason for an ending, how to release an object, other possible outcomes
//! * `unanswered`: webhooks and APIs that fail without a backend
//! * `command`: how kubectl addresses an object
//!
//! Does not depend on formats: it returns numbers, and texts of one line each that are safe for a terminal.

pub(crate) mod command;
pub(crate) mod extent;
pub(crate) mod graph;
pub(crate) mod outline;
pub(crate) mod remedy;
pub(crate) mod telling;
pub(crate) mod ties;
pub(crate) mod unanswered;
pub(crate) mod variation;
mod view;
pub(crate) mod words;
mod written;

pub use view::{ImpliedDependent, PlanView, RemovalView, SafeCommand};
pub use written::WrittenAt;
