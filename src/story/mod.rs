//! A plan in order: the objects that are deleted, stuck and kept in each step, why, and how to release stuck objects.
//!
//! * `view` the finished simulation with what its user called things
//! * `telling` one step, read once: every object that it touches, with its ending and its cause
//! * `written` where its objects are written
//! * `outline` as much of the tree of causes as a reader can take in; `graph` the same as nodes and arrows
//! * `extent` what a picture is about; `ties` what ties its objects
//! * `words`, `remedy`, `variation` why something happens, what to do about it, which other outcomes are possible
//! * `unanswered` webhooks and APIs that fail without a backend
//! * `command` how kubectl addresses an object
//!
//! Knows nothing of formats: what it returns is text of one line each, safe for a terminal, and numbers.

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
