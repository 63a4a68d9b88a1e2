//! Reads the states of a repository: commits, the index, the work tree. It runs the git program, which supports every
//! storage format, but no program that the repository configures.
//!
//! Does not depend on YAML.

mod blobs;
mod command;
mod error;
mod fetch;
mod folder;
mod repository;
mod snapshot;

pub use blobs::{Blobs, ObjectName, StoredContent};
pub use error::GitError;
pub use folder::{in_git_folder, is_git_folder};
pub use repository::Repository;
pub use snapshot::{FileContent, Snapshot, SnapshotFile};
