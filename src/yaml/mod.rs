//! YAML and JSON as Kubernetes reads them.
//!
//! `read` turns the text of a file into [`Document`]s: split textually as Kubernetes' reader splits, parsed to a tape of
//! events, and composed into a [`Tree`] under Kubernetes' rules (go-yaml scalars, merge keys, last duplicate wins). What
//! Kubernetes silently drops or overrides is kept as a [`Problem`].
//!
//! The way through the room: `split` or `json` → `fast`, or `scan` → `grammar` → `tape` → `alias` and `compose` → [`Tree`]. The
//! fast parser reads what manifests are usually written in; the exact one, which is `scan` and `grammar`, reads everything and
//! decides what is right. `verify` compares them.
//!
//! `edit` goes the way back: from a change of the value to edits of the text.
//!
//! Knows nothing of Kubernetes objects.

mod alias;
mod block_header;
mod breakage;
mod comments;
mod compose;
mod document;
pub mod edit;
mod escape;
mod fast;
mod grammar;
mod growth;
mod json;
mod keys;
mod left_out;
mod limits;
mod measure;
mod node;
mod part_text;
mod passing;
mod read;
mod refusal;
mod root;
mod scalar;
mod scan;
mod split;
mod tape;
mod template;
mod text_ref;
mod tree;
mod verify;
mod words;

pub use document::{
    Comment, Content, Document, Dropped, Notation, Problem, ProblemKind, Quirk, ReadError,
};
pub use left_out::LeftOut;
pub use measure::{events, tape_length};
pub use node::NodeId;
pub use read::{ParserChoice, ReadChoice, read, read_each, read_whole, read_with};
pub use template::is_unrendered_template;
pub use tree::{Entry, Kind, Tree, Value, Visited};
pub use verify::{ParserDifference, Verified, verify};
