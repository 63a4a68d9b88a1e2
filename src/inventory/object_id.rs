//! Ids of the objects of an inventory.

/// The index of an object in its [`Inventory`](super::Inventory), which is in path, document and offset order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);
