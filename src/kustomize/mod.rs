//! Paths of a tree, and what delivery objects of an input that is checked reach, as far as names tell: the files that a
//! folder builds, and what its kustomizations make of the names and namespaces of their objects.
//!
//! Exact builds are those of the delivery graph ([`crate::graph`]).

mod closure;
mod counts;
mod edits;
mod ignored;
mod inclusion;
mod kustomization;
mod path;
mod pointer;
mod roots;
mod tree;

pub use counts::{BeyondLimit, Limit};
pub use edits::BuildFate;
pub(crate) use ignored::IgnoredFiles;
pub use inclusion::included_by;
pub use path::{ancestors, folder_of, is_remote, name_of, resolve, resolved, shown};
pub use pointer::{Deliverer, FilePatterns, Pointer, SourceTool, pointers};
pub use roots::BuildRoots;
