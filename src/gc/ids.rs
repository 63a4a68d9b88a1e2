//! How objects are numbered: in the order of their keys, so that nothing depends on the order of the input.

/// Number of an object in its [`Cluster`](super::Cluster).
pub type ObjectId = u32;

/// No such object.
pub(super) const NONE: u32 = u32::MAX;
