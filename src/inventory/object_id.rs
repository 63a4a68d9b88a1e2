//! Ids of the objects of an inventory.

/// The place of an object in its [`Inventory`](super::Inventory). Objects are in the order of path, document and offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);
