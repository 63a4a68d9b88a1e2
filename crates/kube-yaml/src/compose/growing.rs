//! A tree that is being built.

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::HashMap;

use crate::Span;
use crate::event::{ScalarEvent, Style};
use crate::scalar::Scalar;
use crate::tree::{Node, NodeContent, NodeEntry, NodeId, Range, TextPlace, Tree, text_at};

/// The lists of a tree, to which nodes are only appended.
pub(super) struct GrowingTree<'t> {
    file: &'t str,
    decoded: String,
    pub(super) nodes: Vec<Node>,
    pub(super) entries: Vec<NodeEntry>,
    pub(super) items: Vec<NodeId>,
    /// The number of nodes that [`Self::same`] has compared.
    looks: usize,
}

/// The estimated number of bytes of a document per node, for the capacity.
const BYTES_PER_NODE: usize = 32;

/// The maximum number of comparisons in [`GrowingTree::same`] per node of a document, so that
/// comparing takes no longer than composing.
const LOOKS_PER_NODE: usize = 3;

impl<'t> GrowingTree<'t> {
    /// Creates an empty tree for a document of `length` bytes of `file`.
    pub(super) fn new(file: &'t str, length: usize) -> Self {
        let capacity = length / BYTES_PER_NODE + 4;
        Self {
            file,
            decoded: String::new(),
            nodes: Vec::with_capacity(capacity),
            entries: Vec::with_capacity(capacity),
            items: Vec::new(),
            looks: 0,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, content: NodeContent, span: Span) -> NodeId {
        self.nodes.push(Node { content, span });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(super) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    #[inline]
    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn content(&mut self, value: Scalar<'_>, event: &ScalarEvent<'_>) -> NodeContent {
        match value {
            Scalar::Null => NodeContent::Null,
            Scalar::Bool(value) => NodeContent::Bool(value),
            Scalar::Int(value) => NodeContent::Int(value),
            Scalar::Uint(value) => NodeContent::Uint(value),
            Scalar::Float(value) | Scalar::Big(value) => NodeContent::Float(value),
            Scalar::Text(text) => NodeContent::Text(self.text_place(text, event)),
        }
    }

    /// Returns the place of a scalar's text; if the text is borrowed and verbatim, that is the token itself.
    #[inline]
    pub(super) fn text_place(&mut self, text: Cow<'_, str>, event: &ScalarEvent<'_>) -> TextPlace {
        if event.is_verbatim && matches!(text, Cow::Borrowed(_)) {
            return match event.style {
                Style::Single | Style::Double => TextPlace::Quoted,
                Style::Plain | Style::Block | Style::JsonWord => TextPlace::Written,
            };
        }
        let start = self.decoded.len() as u32;
        self.decoded.push_str(&text);
        TextPlace::Decoded(Span::new(start, self.decoded.len() as u32))
    }

    #[inline]
    pub(super) fn text(&self, place: TextPlace, token: Span) -> &str {
        text_at(self.file, &self.decoded, place, token)
    }

    #[inline]
    pub(super) fn key(&self, entry: &NodeEntry) -> &str {
        self.text(entry.key, entry.key_span)
    }

    /// Whether two finished nodes have the same value. Aliases let a small text compare large values many times, so the
    /// number of comparisons in a document is limited; beyond the limit, values count as different.
    pub(super) fn same(&mut self, one: NodeId, other: NodeId) -> bool {
        let mut pairs = vec![(one, other)];
        while let Some((one, other)) = pairs.pop() {
            if one == other {
                continue;
            }
            let (here, there) = (self.node(one), self.node(other));
            let cost = match here.content {
                NodeContent::Map(Range { start, end }) | NodeContent::Seq(Range { start, end }) => {
                    1 + (end - start) as usize
                }
                _ => 1,
            };
            self.looks += cost;
            if self.looks > LOOKS_PER_NODE * self.nodes.len() {
                return false;
            }
            match (here.content, there.content) {
                (NodeContent::Seq(ours), NodeContent::Seq(theirs)) => {
                    let (ours, theirs) = (ours.of(&self.items), theirs.of(&self.items));
                    if ours.len() != theirs.len() {
                        return false;
                    }
                    pairs.extend(ours.iter().copied().zip(theirs.iter().copied()));
                }
                (NodeContent::Map(ours), NodeContent::Map(theirs)) => {
                    let (ours, theirs) = (ours.of(&self.entries), theirs.of(&self.entries));
                    if ours.len() != theirs.len() {
                        return false;
                    }
                    let values: HashMap<&str, NodeId> = theirs
                        .iter()
                        .map(|entry| (self.key(entry), entry.value))
                        .collect();
                    for entry in ours {
                        let Some(value) = values.get(self.key(entry)) else {
                            return false;
                        };
                        pairs.push((entry.value, *value));
                    }
                }
                (NodeContent::Text(ours), NodeContent::Text(theirs)) => {
                    if self.text(ours, here.span) != self.text(theirs, there.span) {
                        return false;
                    }
                }
                (ours, theirs) if ours == theirs => {}
                _ => return false,
            }
        }
        true
    }

    pub(super) fn finish(self, root: NodeId, file: Arc<String>, has_aliases: bool) -> Tree {
        Tree {
            file,
            decoded: self.decoded.into(),
            nodes: self.nodes.into(),
            entries: self.entries.into(),
            items: self.items.into(),
            root,
            has_aliases,
        }
    }
}
