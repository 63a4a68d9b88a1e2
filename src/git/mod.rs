//! The states of a repository that git knows: commits, the index, the work tree. The git program reads them, so that every
//! format of its store is right; nothing that the repository configures is run.
//!
//! Knows nothing of YAML.

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
