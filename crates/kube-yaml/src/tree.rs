//! The composed value of one document.
//!
//! Nodes, entries and items are in three lists. Text is a place in the file, unless escapes or folding changed it. An
//! alias shares the node it names, so a document never grows by expansion; walks that must expand have their own
//! budget. All code walks nested values iteratively: documents may be 10,000 deep.

use std::sync::Arc;

use foldhash::HashSet;

use crate::Span;
use crate::scalar::{Scalar, resolve_untagged};

/// A value after Kubernetes' scalar resolution (go-yaml, then JSON).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// `null`, `~`, or nothing.
    Null,
    /// `true`, `yes`, `on` and the other spellings.
    Bool(bool),
    /// An integer that fits `i64`.
    Int(i64),
    /// An integer over `i64::MAX` that fits `u64`.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// Decoded text.
    String(&'a str),
    /// A mapping: see [`Value::entries`].
    Map,
    /// A sequence: see [`Value::items`].
    Seq,
}

/// The index of a node in its [`Tree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// The place of a key's or a scalar's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextPlace {
    /// The token as written.
    Written,
    /// The part of the token between its quotes.
    Quoted,
    /// A part of [`Tree::decoded`], since the text differs from the token.
    Decoded(Span),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NodeContent {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(TextPlace),
    /// A part of [`Tree::entries`].
    Map(Range),
    /// A part of [`Tree::items`].
    Seq(Range),
}

/// A range of indices in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Range {
    pub(super) fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// A value and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) content: NodeContent,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeEntry {
    pub(super) key: TextPlace,
    pub(super) key_span: Span,
    pub(super) value: NodeId,
}

/// The composed value of one document: lists of nodes with their spans.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The text of the whole file.
    pub(super) file: Arc<String>,
    /// Texts that differ from what the file contains.
    pub(super) decoded: Box<str>,
    pub(super) nodes: Box<[Node]>,
    pub(super) entries: Box<[NodeEntry]>,
    pub(super) items: Box<[NodeId]>,
    pub(super) root: NodeId,
    /// Whether aliases may lead to values, too, so that a value is reached in several ways. False
    /// only if the document has no aliases.
    pub(super) has_aliases: bool,
}

impl Tree {
    /// Returns the value of the whole document.
    pub fn root(&self) -> Value<'_> {
        self.value(self.root)
    }

    /// Returns every key of the document, at any depth; only once if aliases reach it, too.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| self.entry(entry).key)
    }

    /// Returns every value of the document, in unspecified order.
    pub(super) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.nodes.len() as u32).map(|at| self.value(NodeId(at)))
    }

    /// Returns the value of `id`.
    ///
    /// # Panics
    /// Uses of the value may panic if `id` comes from a tree with more values.
    pub fn value(&self, id: NodeId) -> Value<'_> {
        Value { tree: self, id }
    }

    /// Returns a copy with new texts for some scalars, resolved as plain scalars; spans stay.
    pub fn with_scalars(&self, scalars: &[(NodeId, String)]) -> Self {
        let mut nodes = self.nodes.clone();
        let mut decoded = String::from(&*self.decoded);
        for (id, text) in scalars {
            let Some(node) = nodes.get_mut(id.0 as usize) else {
                continue;
            };
            node.content = match resolve_untagged(text) {
                Scalar::Null => NodeContent::Null,
                Scalar::Bool(value) => NodeContent::Bool(value),
                Scalar::Int(value) => NodeContent::Int(value),
                Scalar::Uint(value) => NodeContent::Uint(value),
                Scalar::Float(value) | Scalar::Big(value) => NodeContent::Float(value),
                Scalar::Text(text) => {
                    let start = decoded.len() as u32;
                    decoded.push_str(&text);
                    let end = decoded.len() as u32;
                    NodeContent::Text(TextPlace::Decoded(Span { start, end }))
                }
            };
        }
        Self {
            nodes,
            decoded: decoded.into(),
            ..self.clone()
        }
    }

    fn entry(&self, entry: &NodeEntry) -> Entry<'_> {
        Entry {
            key: self.text(entry.key, entry.key_span),
            key_span: entry.key_span,
            value: self.value(entry.value),
        }
    }

    fn text(&self, place: TextPlace, token: Span) -> &str {
        text_at(&self.file, &self.decoded, place, token)
    }
}

#[inline]
pub(super) fn text_at<'t>(
    file: &'t str,
    decoded: &'t str,
    place: TextPlace,
    token: Span,
) -> &'t str {
    let text = match place {
        TextPlace::Written => file.get(token.range()),
        TextPlace::Quoted => file.get(token.start as usize + 1..token.end as usize - 1),
        TextPlace::Decoded(span) => decoded.get(span.range()),
    };
    text.unwrap_or_default()
}

/// A cursor on one value of a [`Tree`].
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    tree: &'a Tree,
    id: NodeId,
}

/// One entry of a mapping: the key as Kubernetes normalises it (`yes:` is `"true"`), its place, and the value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The key in JSON.
    pub key: &'a str,
    /// The place of the key, including quotes.
    pub key_span: Span,
    /// The value; of a repeated key, the one that Kubernetes uses.
    pub value: Value<'a>,
}

/// The values that a walk through a tree has visited. Only aliases lead to a value twice, so without aliases no value
/// is recorded.
#[derive(Debug, Default)]
pub struct Visited(HashSet<NodeId>);

impl Visited {
    /// Records a value. Returns `false` if it was already visited.
    pub fn is_new(&mut self, value: Value<'_>) -> bool {
        !value.tree.has_aliases || self.0.insert(value.id())
    }
}

impl<'a> Value<'a> {
    /// Returns the index of the value, for later access.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// Returns the kind of the value.
    pub fn kind(self) -> Kind<'a> {
        let node = self.node();
        match node.content {
            NodeContent::Null => Kind::Null,
            NodeContent::Bool(value) => Kind::Bool(value),
            NodeContent::Int(value) => Kind::Int(value),
            NodeContent::Uint(value) => Kind::Uint(value),
            NodeContent::Float(value) => Kind::Float(value),
            NodeContent::Text(place) => Kind::String(self.tree.text(place, node.span)),
            NodeContent::Map(_) => Kind::Map,
            NodeContent::Seq(_) => Kind::Seq,
        }
    }

    /// Returns the place of the value, including quotes. A block scalar starts at `|` or `>`; a value that is left out
    /// is the empty span after its key; a block mapping starts at its first key. A value that an alias reaches is at
    /// its anchor.
    pub fn span(self) -> Span {
        self.node().span
    }

    /// Returns the text, if the value is a string.
    pub fn as_str(self) -> Option<&'a str> {
        match self.kind() {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the truth value, if the value is a boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the number, if the value is an integer that fits `i64`.
    pub fn as_int(self) -> Option<i64> {
        match self.kind() {
            Kind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the value is null or left out.
    pub fn is_null(self) -> bool {
        matches!(self.node().content, NodeContent::Null)
    }

    /// Whether the value is a mapping.
    pub fn is_map(self) -> bool {
        matches!(self.node().content, NodeContent::Map(_))
    }

    /// Whether the value is a sequence.
    pub fn is_seq(self) -> bool {
        matches!(self.node().content, NodeContent::Seq(_))
    }

    fn raw_entries(self) -> &'a [NodeEntry] {
        match self.node().content {
            NodeContent::Map(range) => range.of(&self.tree.entries),
            _ => &[],
        }
    }

    /// Returns the entries of a mapping in written order, with unique keys; other kinds have none.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = Entry<'a>> + ExactSizeIterator {
        let tree = self.tree;
        self.raw_entries()
            .iter()
            .map(move |entry| tree.entry(entry))
    }

    /// Returns every entry of every mapping at or below this value, in the order of their places. An entry that several
    /// aliases reach is returned once.
    pub fn entries_below(self) -> Vec<Entry<'a>> {
        let mut visited = Visited::default();
        let mut pending = vec![self];
        let mut found = Vec::new();
        while let Some(value) = pending.pop() {
            if visited.is_new(value) {
                pending.extend(
                    value
                        .entries()
                        .map(|entry| entry.value)
                        .chain(value.items()),
                );
                found.extend(value.entries());
            }
        }
        found.sort_by_key(|entry| entry.key_span);
        found
    }

    /// Returns the items of a sequence; other kinds have none.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Value<'a>> + ExactSizeIterator {
        let tree = self.tree;
        let items = match self.node().content {
            NodeContent::Seq(range) => range.of(&tree.items),
            _ => &[],
        };
        items.iter().map(move |item| tree.value(*item))
    }

    /// Returns the entry of a mapping with this key, compared exactly.
    pub fn entry(self, key: &str) -> Option<Entry<'a>> {
        let tree = self.tree;
        let mut entries = self.raw_entries().iter();
        let found = entries.find(|entry| tree.text(entry.key, entry.key_span) == key)?;
        Some(tree.entry(found))
    }

    /// Returns the value of a key; `None` if this is not a mapping or has no such key. An explicit null is `Some`.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.entry(key).map(|entry| entry.value)
    }

    /// Follows keys through nested mappings: `["spec", "names", "kind"]`.
    pub fn at(self, path: &[&str]) -> Option<Value<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Returns the string at a path of keys.
    pub fn str_at(self, path: &[&str]) -> Option<&'a str> {
        self.at(path)?.as_str()
    }

    /// Returns the string at a path of keys, unless it is empty.
    pub fn text_at(self, path: &[&str]) -> Option<&'a str> {
        self.str_at(path).filter(|text| !text.is_empty())
    }

    /// Whether the value at a path of keys is `true`.
    pub fn is_true_at(self, path: &[&str]) -> bool {
        self.at(path).and_then(Self::as_bool) == Some(true)
    }

    /// Returns the items of a sequence under a key of a mapping; none for anything else.
    pub fn items_at(self, key: &str) -> impl Iterator<Item = Self> {
        self.get(key).into_iter().flat_map(Self::items)
    }

    /// Returns the strings in a sequence under a key of a mapping.
    pub fn texts_at(self, key: &str) -> Vec<String> {
        let texts = self.items_at(key).filter_map(Self::as_str);
        texts.map(str::to_owned).collect()
    }

    /// Returns Kubernetes' name for the JSON type of this value: `string`, `number`, `bool`, `object`, `array`, `null`.
    pub fn type_name(self) -> &'static str {
        match self.kind() {
            Kind::Null => "null",
            Kind::Bool(_) => "bool",
            Kind::Int(_) | Kind::Uint(_) | Kind::Float(_) => "number",
            Kind::String(_) => "string",
            Kind::Map => "object",
            Kind::Seq => "array",
        }
    }

    fn node(self) -> &'a Node {
        &self.tree.nodes[self.id.0 as usize]
    }
}
