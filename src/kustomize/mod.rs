//! Paths of a tree, and the words of those who build it: kustomizations and the objects that point at them. What is
//! built is decided in the delivery graph ([`crate::graph`]).

mod deliverer;
mod ignored;
mod inclusion;
mod limit;
mod path;
mod pointer;

pub use deliverer::{Deliverer, SourceTool};
pub(crate) use ignored::IgnoredFiles;
pub use inclusion::included_by;
pub use limit::{BeyondLimit, Limit};
pub use path::{ancestors, folder_of, is_remote, name_of, resolve, resolved, shown};
pub use pointer::{PointedFolder, pointed_folders};
