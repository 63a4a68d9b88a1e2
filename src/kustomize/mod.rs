//! kustomize's sources, where nothing was rendered: which files a root builds, what it makes of the names and namespaces of
//! their objects, and which objects its patches delete.
//!
//! A *root* is built directly: a kustomization that no other one includes, or that a delivery object points at. Objects that
//! kustomize generates, and other effects of patches, are not computed.
//!
//! Knows nothing of scopes.

mod closure;
mod counts;
mod edits;
mod flaws;
mod ignored;
mod inclusion;
mod kustomization;
mod path;
mod pointer;
mod repository;
mod roots;
mod tree;

pub use closure::{BuildObstacle, BuiltFile};
pub use counts::{BeyondLimit, Limit};
pub use edits::{BuildFate, Edits};
pub use flaws::TreeFlaws;
pub(crate) use ignored::IgnoredFiles;
pub use inclusion::included_by;
pub use kustomization::{KustomizationFile, Selector};
pub use path::{ancestors, folder_of, is_remote, name_of, resolve, resolved, shown};
pub use pointer::{Deliverer, FilePatterns, Pointer, SourceTool, pointers};
pub use repository::OwnRepositories;
pub use roots::{BuildRoot, BuildRoots};
