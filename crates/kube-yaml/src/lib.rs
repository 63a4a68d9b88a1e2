#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! [`read`] turns a text into [`Document`]s: split textually as Kubernetes' reader does, parsed to events,
//! and composed into a [`Tree`] under Kubernetes' rules (go-yaml scalars, merge keys, last duplicate wins). Values that
//! Kubernetes silently drops or overrides are kept as [`Problem`]s.
//!
//! The steps: `split` → `scan` → `grammar`, or `json` → events → `compose` → [`Tree`].
//!
//! `edit` is the reverse: it turns a change of the value into edits of the text.

mod breakage;
mod characters;
mod comments;
mod compose;
mod document;
pub mod edit;
mod escape;
mod event;
mod grammar;
mod json;
mod keys;
mod limits;
mod read;
mod refusal;
mod replaced;
mod scalar;
mod scan;
mod size;
mod span;
mod split;
mod trace;
mod tree;

pub use document::{
    Comment, Content, Document, Dropped, Notation, Problem, ProblemKind, Quirk, ReadError,
};
pub use read::{read, read_each};
pub use replaced::replaced;
pub use scalar::base64;
pub use span::Span;
pub use trace::events;
pub use tree::{Entry, Kind, NodeId, Tree, Value, Visited};
