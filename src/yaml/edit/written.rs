//! A document as it is written.

use super::layout::{Layout, NodePlace};
use super::lines::TextLines;

/// A document with its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenDocument<'a> {
    pub(super) lines: TextLines<'a>,
    pub(super) layout: &'a Layout,
}

impl WrittenDocument<'_> {
    /// Returns the node, unless a change of it would also apply elsewhere.
    pub(super) fn unshared(self, place: NodePlace) -> Option<NodePlace> {
        (!self.layout.node(place).is_shared).then_some(place)
    }
}
