//! Paths of a tree, kustomizations, and the delivery objects that point at them. The delivery graph ([`crate::graph`])
//! evaluates what they build.

mod deliverer;
mod ignored;
mod inclusion;
mod limit;
mod path;
mod pointer;

pub use deliverer::{Deliverer, SourceTool, UNEVALUATED, UNEVALUATED_DELIVERIES};
pub(crate) use ignored::IgnoredFiles;
pub use inclusion::included_by;
pub use limit::{BeyondLimit, Limit};
pub use path::{ancestors, folder_of, is_remote, name_of, resolve, resolved, shown};
pub use pointer::{PointedFolder, pointed_folders};
