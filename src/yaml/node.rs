//! The parts of a tree, as its composer and its readers see them.

use crate::text::Span;

/// The place of a node in its [`Tree`](super::Tree).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// Where the text of a key or a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextPlace {
    /// It is the token as written.
    Written,
    /// It is between the token's quotes.
    Quoted,
    /// It differs from what is written: the index in [`RareValues::texts`](super::tree::RareValues).
    Elsewhere(u32),
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeContent {
    Null,
    Bool(bool),
    /// Most numbers are small.
    Int(u32),
    /// Any other number: the index in [`RareValues::numbers`](super::tree::RareValues).
    Number(u32),
    Text(TextPlace),
    Map {
        start: u32,
        end: u32,
    },
    Seq {
        start: u32,
        end: u32,
    },
    /// A mapping that was checked, and of which nothing is kept.
    LeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Uint(u64),
    Float(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeNode {
    pub(super) content: NodeContent,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawEntry {
    pub(super) key: TextPlace,
    pub(super) key_span: Span,
    pub(super) value: NodeId,
}
