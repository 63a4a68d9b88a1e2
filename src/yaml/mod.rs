//! YAML and JSON as Kubernetes reads them.
//!
//! [`read`] turns the text of a file into [`Document`]s: split textually as Kubernetes' reader splits, parsed to a tape of
//! events, and composed into a [`Tree`] under Kubernetes' rules (go-yaml scalars, merge keys, last duplicate wins). What
//! Kubernetes drops or overrides in silence is kept as a [`Problem`].
//!
//! Knows nothing of Kubernetes objects.

mod tree;

pub use tree::{Entry, Kind, NodeId, Tree, Value};
