//! The delivery graph: which objects a tree puts into which cluster, who applies them, and under which key.
//!
//! Everything that cannot be evaluated is an [`UnreadInput`](unread::UnreadInput): nothing is skipped silently.

pub mod argo;
mod chart;
pub mod delivery;
pub mod files;
pub mod flux;
pub mod kustomize;
pub mod node;
mod reached;
pub mod scopes;
pub mod unreached;
pub mod unread;
