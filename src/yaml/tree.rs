//! The composed value of one document.
//!
//! Nodes live in one flat arena, and texts stay where they are: in the file, or in what a parser decoded. An alias shares the
//! node it names, so a document never grows by expansion; walks that must expand carry their own budget. Nesting is walked
//! iteratively by every consumer: documents may be 10,000 deep.

use foldhash::HashSet;

use super::node::{NodeContent, NodeId, Number, RawEntry, TextPlace, TreeNode};
use super::part_text::PartText;
use super::text_ref::TextRef;
use super::words::TreeWords;
use crate::text::Span;

/// What a value is after Kubernetes' scalar resolution (go-yaml, then JSON).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// `null`, `~`, or nothing.
    Null,
    /// `true`, `yes`, `on` and their kin.
    Bool(bool),
    /// An integer that fits `i64`.
    Int(i64),
    /// An integer over `i64::MAX` that fits `u64`.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// Text, decoded.
    String(&'a str),
    /// A mapping: see [`Value::entries`].
    Map,
    /// A sequence: see [`Value::items`].
    Seq,
}

/// What few documents have: an input may have a million small ones.
#[derive(Clone, Debug)]
pub(super) struct RareValues {
    pub(super) numbers: Vec<Number>,
    /// Texts that differ from their token.
    pub(super) texts: Vec<TextRef>,
    /// Text that differs from the file's.
    pub(super) decoded: String,
}

/// The composed value of one document: an arena of nodes with their spans.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) words: TreeWords,
    /// The text of the file, or what the tree needs of it.
    pub(super) file: PartText,
    pub(super) rare: Option<Box<RareValues>>,
}

impl Tree {
    /// Whether the tree has everything that is written; if not, some mappings look as if they were empty.
    pub fn is_whole(&self) -> bool {
        self.words.is_whole
    }

    /// The mappings of which nothing was kept, in order; none where the tree looks its texts up in the file.
    pub(crate) fn left_out(&self) -> Vec<Span> {
        if self.is_whole() || !self.file.is_partial() {
            return Vec::new();
        }
        self.words.left_out()
    }

    /// The value of the whole document.
    pub fn root(&self) -> Value<'_> {
        Value {
            tree: self,
            id: self.words.root(),
        }
    }

    /// Every key of the document, at whatever depth; those reached through an alias come once.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        (0..self.words.entries()).map(|at| self.entry_at(at).key)
    }

    /// Every value of the document, in no order that means anything.
    pub(super) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.words.nodes()).map(|at| self.value(NodeId(at)))
    }

    /// The value at `id`, which must come from this tree.
    pub fn value(&self, id: NodeId) -> Value<'_> {
        Value { tree: self, id }
    }

    fn entry_at(&self, at: u32) -> Entry<'_> {
        let RawEntry {
            key,
            key_span,
            value,
        } = self.words.entry(at);
        Entry {
            key: self.text(key, key_span),
            key_span,
            value: self.value(value),
        }
    }

    /// The text at `place`, whose token is at `token`.
    pub(super) fn text(&self, place: TextPlace, token: Span) -> &str {
        match place {
            TextPlace::Written => self.written(token.start, token.end),
            TextPlace::Quoted => self.written(token.start + 1, token.end - 1),
            TextPlace::Elsewhere(at) => self.text_elsewhere(at).unwrap_or_default(),
        }
    }

    #[inline]
    fn written(&self, start: u32, end: u32) -> &str {
        self.file.get(start, end).unwrap_or_default()
    }

    fn text_elsewhere(&self, at: u32) -> Option<&str> {
        let rare = self.rare.as_deref()?;
        let text = rare.texts.get(at as usize)?;
        match text.decoded {
            true => rare.decoded.get(text.start as usize..text.end as usize),
            false => Some(self.written(text.start, text.end)),
        }
    }

    fn number(&self, at: u32) -> Option<Number> {
        self.rare.as_deref()?.numbers.get(at as usize).copied()
    }
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
    /// The key as a JSON object key.
    pub key: &'a str,
    /// Where the key is written, quotes included.
    pub key_span: Span,
    /// The value that won.
    pub value: Value<'a>,
}

/// The values that a walk through a tree has visited. Only aliases lead to a value twice, so where there is none nothing is
/// kept.
#[derive(Debug, Default)]
pub struct Visited(HashSet<NodeId>);

impl Visited {
    /// Notes a value. False: it was visited before.
    pub fn is_new(&mut self, value: Value<'_>) -> bool {
        !value.may_be_shared() || self.0.insert(value.id())
    }
}

impl<'a> Value<'a> {
    /// The arena index, to come back to this value later.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// What the value is.
    pub fn kind(self) -> Kind<'a> {
        let node = self.node();
        match node.content {
            NodeContent::Null => Kind::Null,
            NodeContent::Bool(value) => Kind::Bool(value),
            NodeContent::Int(value) => Kind::Int(i64::from(value)),
            NodeContent::Number(at) => match self.tree.number(at) {
                Some(Number::Int(value)) => Kind::Int(value),
                Some(Number::Uint(value)) => Kind::Uint(value),
                Some(Number::Float(value)) => Kind::Float(value),
                None => Kind::Null,
            },
            NodeContent::Text(place) => Kind::String(self.tree.text(place, node.span)),
            NodeContent::Map { .. } | NodeContent::LeftOut => Kind::Map,
            NodeContent::Seq { .. } => Kind::Seq,
        }
    }

    /// Where the value is written: quotes included; a block scalar starts at `|` or `>`; a value that is left out is
    /// the empty span after its key; a mapping starts at its first key. Values reached through an alias are at the
    /// anchor.
    pub fn span(self) -> Span {
        self.node().span
    }

    /// The text, when the value is a string.
    pub fn as_str(self) -> Option<&'a str> {
        match self.kind() {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, when the value is a boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, when the value is an integer that fits `i64`.
    pub fn as_int(self) -> Option<i64> {
        match self.kind() {
            Kind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Whether an alias may lead to the value, too.
    pub(super) fn may_be_shared(self) -> bool {
        self.tree.words.has_aliases
    }

    /// Whether the value is null or left out.
    pub fn is_null(self) -> bool {
        matches!(self.node().content, NodeContent::Null)
    }

    /// Whether the value is a mapping.
    pub fn is_map(self) -> bool {
        matches!(
            self.node().content,
            NodeContent::Map { .. } | NodeContent::LeftOut
        )
    }

    /// Whether the value is a mapping of which nothing was kept.
    pub fn is_left_out(self) -> bool {
        matches!(self.node().content, NodeContent::LeftOut)
    }

    /// Whether the value is a sequence.
    pub fn is_seq(self) -> bool {
        matches!(self.node().content, NodeContent::Seq { .. })
    }

    /// The entries of a mapping in written order, keys unique; nothing for other kinds.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = Entry<'a>> + ExactSizeIterator {
        let tree = self.tree;
        tree.words
            .entries_of(self.id)
            .unwrap_or_default()
            .map(move |at| tree.entry_at(at))
    }

    /// Every entry of every mapping at or below this value, each once however many aliases lead to it, in the order of
    /// their places.
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

    /// The items of a sequence; nothing for other kinds.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Value<'a>> + ExactSizeIterator {
        let range = match self.node().content {
            NodeContent::Seq { start, end } => start..end,
            _ => 0..0,
        };
        let tree = self.tree;
        range.map(move |at| tree.value(tree.words.item(at)))
    }

    /// The entry of a mapping with that key, compared exactly.
    pub fn entry(self, key: &str) -> Option<Entry<'a>> {
        let tree = self.tree;
        let is_it = |entry: &RawEntry| tree.text(entry.key, entry.key_span) == key;
        // Most keys differ in their length.
        let RawEntry {
            key,
            key_span,
            value,
        } = tree
            .words
            .find(tree.words.entries_of(self.id)?, key.len(), is_it)?;
        Some(Entry {
            key: tree.text(key, key_span),
            key_span,
            value: tree.value(value),
        })
    }

    /// The entry of a mapping in that place of [`Self::entries`], without a look at the text of its key: where the key is written, and
    /// the value.
    pub fn nth_entry(self, place: u32) -> Option<(Span, Value<'a>)> {
        let at = self.tree.words.entries_of(self.id)?.nth(place as usize)?;
        let RawEntry {
            key_span, value, ..
        } = self.tree.words.entry(at);
        Some((key_span, self.tree.value(value)))
    }

    /// The value under a key; `None` when this is not a mapping or has no such key. An explicit null is `Some`.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.entry(key).map(|entry| entry.value)
    }

    /// Follows keys through nested mappings: `["spec", "names", "kind"]`.
    pub fn at(self, path: &[&str]) -> Option<Value<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// How Kubernetes names the JSON type of this value in its errors: `string`, `number`, `bool`, `object`, `array`, `null`.
    pub fn type_name(self) -> &'static str {
        match self.node().content {
            NodeContent::Null => "null",
            NodeContent::Bool(_) => "bool",
            NodeContent::Int(_) | NodeContent::Number(_) => "number",
            NodeContent::Text(_) => "string",
            NodeContent::Map { .. } | NodeContent::LeftOut => "object",
            NodeContent::Seq { .. } => "array",
        }
    }

    fn node(self) -> TreeNode {
        self.tree.words.node(self.id)
    }
}
