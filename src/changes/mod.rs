//! Changes of the objects of a tree: added, removed, changed, moved, renamed.
//!
//! Objects are compared one *destination* at a time: an object that is removed from one overlay and stays in another is
//! removed from one cluster only. The hashes that kustomize appends to names make no difference.
//!
//! Knows nothing of deletion.

mod both;
mod built;
mod compare;
mod content;
mod destination;
mod immutable;
mod pairing;
mod similar;
mod tree;
mod unread;

pub use both::BothSides;
pub use built::{BuiltObjects, rejected_between};
pub use compare::{ChangeKind, ObjectChange, Sides, compare};
pub use content::{same_content, same_node, same_value};
pub use destination::{DeliveryName, Destination};
pub use immutable::{RejectedField, class_set_later, rejected_fields};
pub use tree::{
    DeliveredMarks, DeliveredObjects, KeptDelivery, KnownDelivery, PlacedFile, TreePart, TreePlace,
    WholeTree,
};
pub use unread::{
    Builds, GoneInputs, Home, OtherFile, SourceState, Unread, UnreadChanges, UnreadSide,
    UnreadWhat, WrittenAs, is_helmfile, is_jinja, unread, written_key, written_release,
};
