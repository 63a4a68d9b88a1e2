//! YAML and JSON as Kubernetes reads them.
//!
//! `read` turns the text of a file into [`Document`]s: split textually as Kubernetes' reader splits, parsed to a tape of
//! events, and composed into a [`Tree`] under Kubernetes' rules (go-yaml scalars, merge keys, last duplicate wins). What
//! Kubernetes silently drops or overrides is kept as a [`Problem`].
//!
//! The way through the room: `split` or `json` → `scan` → `grammar` → `tape` → `alias` and `compose` → [`Tree`].
//!
//! Knows nothing of Kubernetes objects.

mod alias;
mod comments;
mod compose;
mod document;
mod grammar;
mod json;
mod keys;
mod limits;
mod read;
mod refusal;
mod scalar;
mod scan;
mod split;
mod tape;
mod template;
mod text_ref;
mod tree;

pub use document::{Comment, Content, Document, Dropped, Notation, Problem, ProblemKind, Quirk, ReadError};
pub use read::read;
pub use template::is_unrendered_template;
pub use tree::{Entry, Kind, NodeId, Tree, Value};
