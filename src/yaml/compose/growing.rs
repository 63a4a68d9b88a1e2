//! A tree while it grows: nodes, entries and items, and where texts are.

use std::borrow::Cow;

use foldhash::HashMap;

use crate::text::Span;
use crate::yaml::growth;
use crate::yaml::node::{NodeContent, NodeId, Number, RawEntry, TextPlace, TreeNode};
use crate::yaml::part_text::{PartText, TreeText};
use crate::yaml::scalar::Scalar;
use crate::yaml::tape::{Tape, TapeEvent, TextRef};
use crate::yaml::tree::{RareValues, Tree};
use crate::yaml::words::{SharedWords, TreeParts, TreeWords};

/// What a tree consists of. Each list is only ever added to.
#[derive(Default)]
pub(super) struct TreeLists {
    pub(super) nodes: Vec<TreeNode>,
    pub(super) entries: Vec<RawEntry>,
    pub(super) items: Vec<NodeId>,
    numbers: Vec<Number>,
    texts: Vec<TextRef>,
    /// What is to follow the tape's decoded texts: keys that are written otherwise than Kubernetes knows them, binary data.
    added: String,
}

/// What is composed so far.
pub(super) struct GrowingTree<'t> {
    tape: &'t Tape,
    file: &'t str,
    pub(super) lists: &'t mut TreeLists,
    /// How many nodes [`Self::same`] may still look at.
    looks: usize,
    /// Whether nothing was forgotten.
    is_whole: bool,
}

/// How far a tree had grown.
#[derive(Clone, Copy)]
pub(super) struct Growth {
    nodes: usize,
    entries: usize,
    items: usize,
    numbers: usize,
    texts: usize,
    added: usize,
}

/// Memory for more nodes than this is given back.
const KEPT_NODES: usize = 1 << 16;

impl TreeLists {
    fn clear(&mut self) {
        let Self {
            nodes,
            entries,
            items,
            numbers,
            texts,
            added,
        } = self;
        nodes.clear();
        entries.clear();
        items.clear();
        numbers.clear();
        texts.clear();
        added.clear();
    }
}

impl<'t> GrowingTree<'t> {
    /// Nothing yet, in `lists` that are empty.
    pub(super) fn new(tape: &'t Tape, file: &'t str, lists: &'t mut TreeLists) -> Self {
        Self {
            tape,
            file,
            lists,
            looks: tape.events.len(),
            is_whole: true,
        }
    }

    /// How far the tree has grown.
    pub(super) fn growth(&self) -> Growth {
        let TreeLists {
            nodes,
            entries,
            items,
            numbers,
            texts,
            added,
        } = &self.lists;
        let (nodes, entries, items) = (nodes.len(), entries.len(), items.len());
        Growth {
            nodes,
            entries,
            items,
            numbers: numbers.len(),
            texts: texts.len(),
            added: added.len(),
        }
    }

    /// Forgets what has grown since, which is all of what is in the mapping `node`.
    pub(super) fn forget(&mut self, node: NodeId, since: Growth) {
        let Growth {
            nodes,
            entries,
            items,
            numbers,
            texts,
            added,
        } = since;
        self.lists.nodes.truncate(nodes);
        self.lists.entries.truncate(entries);
        self.lists.items.truncate(items);
        self.lists.numbers.truncate(numbers);
        self.lists.texts.truncate(texts);
        self.lists.added.truncate(added);
        self.node_mut(node).content = NodeContent::LeftOut;
        self.is_whole = false;
    }

    /// A collection of which nothing is kept.
    pub(super) fn left_out(&mut self, is_map: bool, span: Span) -> NodeId {
        self.is_whole = false;
        self.add(
            if is_map {
                NodeContent::LeftOut
            } else {
                NodeContent::Seq { start: 0, end: 0 }
            },
            span,
        )
    }

    pub(super) fn add(&mut self, content: NodeContent, span: Span) -> NodeId {
        growth::push(&mut self.lists.nodes, TreeNode { content, span });
        NodeId(self.lists.nodes.len() as u32 - 1)
    }

    pub(super) fn node(&self, id: NodeId) -> TreeNode {
        self.lists.nodes[id.0 as usize]
    }

    pub(super) fn number(&self, at: u32) -> Number {
        self.lists.numbers[at as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut TreeNode {
        &mut self.lists.nodes[id.0 as usize]
    }

    /// A value after JSON as the tree keeps it.
    pub(super) fn content(&mut self, value: Scalar<'_>, event: &TapeEvent) -> NodeContent {
        let number = match value {
            Scalar::Null => return NodeContent::Null,
            Scalar::Bool(value) => return NodeContent::Bool(value),
            Scalar::Text(text) => return NodeContent::Text(self.text_place(text, event)),
            Scalar::Int(value) => match u32::try_from(value) {
                Ok(small) => return NodeContent::Int(small),
                Err(_) => Number::Int(value),
            },
            Scalar::Uint(value) => Number::Uint(value),
            Scalar::Float(value) | Scalar::Big(value) => Number::Float(value),
        };
        growth::push(&mut self.lists.numbers, number);
        NodeContent::Number(self.lists.numbers.len() as u32 - 1)
    }

    /// Where a text is that came from an event, borrowed if it is the event's own.
    pub(super) fn text_place(&mut self, text: Cow<'_, str>, event: &TapeEvent) -> TextPlace {
        let text = match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => return self.added_text(&text),
        };
        let at = self.tape.text_ref(event);
        let TextRef {
            start,
            end,
            decoded,
        } = at;
        match () {
            () if !decoded && (start, end) == (event.start(), event.end()) => TextPlace::Written,
            () if !decoded
                && (start, end) == (event.start() + 1, event.end().saturating_sub(1)) =>
            {
                TextPlace::Quoted
            }
            () if text.is_empty() => self.text_at(TextRef::default()),
            () => self.text_at(at),
        }
    }

    /// A text that is written nowhere.
    pub(super) fn added_text(&mut self, text: &str) -> TextPlace {
        let start = (self.tape.decoded.len() + self.lists.added.len()) as u32;
        self.lists.added.push_str(text);
        self.text_at(TextRef {
            start,
            end: start + text.len() as u32,
            decoded: true,
        })
    }

    fn text_at(&mut self, text: TextRef) -> TextPlace {
        growth::push(&mut self.lists.texts, text);
        TextPlace::Elsewhere(self.lists.texts.len() as u32 - 1)
    }

    /// The text of a key of an open mapping.
    pub(super) fn text(&self, key: TextPlace, span: Span) -> &str {
        let text = match key {
            TextPlace::Written => TextRef {
                start: span.start,
                end: span.end,
                decoded: false,
            },
            TextPlace::Quoted => TextRef {
                start: span.start + 1,
                end: span.end - 1,
                decoded: false,
            },
            TextPlace::Elsewhere(at) => self
                .lists
                .texts
                .get(at as usize)
                .copied()
                .unwrap_or_default(),
        };
        self.text_of(text)
    }

    fn text_of(&self, text: TextRef) -> &str {
        match (text.start as usize).checked_sub(self.tape.decoded.len()) {
            Some(start) if text.decoded => self
                .lists
                .added
                .get(start..start + (text.end - text.start) as usize)
                .unwrap_or_default(),
            _ => self.tape.text(self.file, text),
        }
    }

    /// Whether two finished nodes have the same value. Aliases let a small text name large values many times, so the looks
    /// of one document are limited; what is not looked at counts as different.
    pub(super) fn same(&mut self, one: NodeId, other: NodeId) -> bool {
        let mut pairs = vec![(one, other)];
        while let Some((one, other)) = pairs.pop() {
            if one == other {
                continue;
            }
            let (here, there) = (
                self.lists.nodes[one.0 as usize],
                self.lists.nodes[other.0 as usize],
            );
            let cost = match here.content {
                NodeContent::Map { start, end } | NodeContent::Seq { start, end } => {
                    1 + (end - start) as usize
                }
                _ => 1,
            };
            let Some(left) = self.looks.checked_sub(cost) else {
                return false;
            };
            self.looks = left;
            match (here.content, there.content) {
                (
                    NodeContent::Seq { start, end },
                    NodeContent::Seq {
                        start: from,
                        end: to,
                    },
                ) if end - start == to - from => {
                    pairs.extend((start..end).zip(from..to).map(|(a, b)| {
                        (self.lists.items[a as usize], self.lists.items[b as usize])
                    }));
                }
                (
                    NodeContent::Map { start, end },
                    NodeContent::Map {
                        start: from,
                        end: to,
                    },
                ) if end - start == to - from => {
                    let key = |entry: &RawEntry| self.text(entry.key, entry.key_span);
                    let there = &self.lists.entries[from as usize..to as usize];
                    let values: HashMap<&str, NodeId> = there
                        .iter()
                        .map(|entry| (key(entry), entry.value))
                        .collect();
                    for entry in &self.lists.entries[start as usize..end as usize] {
                        let Some(value) = values.get(key(entry)) else {
                            return false;
                        };
                        pairs.push((entry.value, *value));
                    }
                }
                (NodeContent::Null, NodeContent::Null) => {}
                (NodeContent::Bool(one), NodeContent::Bool(other)) if one == other => {}
                (NodeContent::Int(one), NodeContent::Int(other)) if one == other => {}
                (NodeContent::Number(one), NodeContent::Number(other))
                    if self.lists.numbers[one as usize] == self.lists.numbers[other as usize] => {}
                (NodeContent::Text(one), NodeContent::Text(other))
                    if self.text(one, here.span) == self.text(other, there.span) => {}
                _ => return false,
            }
        }
        true
    }

    /// The tree. What it needs of the lists that it grew in and of the tape's decoded texts is copied, for both serve the next
    /// document.
    pub(super) fn finish(
        mut self,
        root: NodeId,
        tree_text: &TreeText,
        shared: &mut SharedWords,
    ) -> Tree {
        let decoded = match self.is_whole {
            true if self.lists.added.is_empty() => self.tape.decoded.clone(),
            true => [self.tape.decoded.as_str(), &self.lists.added].concat(),
            false => self.take_decoded(),
        };
        let Self {
            tape,
            lists,
            is_whole,
            ..
        } = self;
        let TreeLists {
            nodes,
            entries,
            items,
            numbers,
            texts,
            ..
        } = &*lists;
        let has_aliases = tape.has_aliases;
        let words = TreeWords::of(
            TreeParts {
                nodes,
                entries,
                items,
                root,
                is_whole,
                has_aliases,
            },
            shared,
        );
        let file = match tree_text {
            TreeText::Shared(file) => file.clone(),
            TreeText::Own => {
                let spans = || {
                    nodes
                        .iter()
                        .map(|node| node.span)
                        .chain(entries.iter().map(|entry| entry.key_span))
                };
                let start = spans().map(|span| span.start).min().unwrap_or_default();
                let end = spans().map(|span| span.end).max().unwrap_or_default();
                PartText::without(self.file, Span::new(start, end), words.left_out())
            }
        };
        let has_rare = !numbers.is_empty() || !texts.is_empty() || !decoded.is_empty();
        let rare = has_rare.then(|| {
            Box::new(RareValues {
                numbers: numbers.clone(),
                texts: texts.clone(),
                decoded,
            })
        });
        let tree = Tree { words, file, rare };
        match lists.nodes.capacity() > KEPT_NODES {
            true => *lists = TreeLists::default(),
            false => lists.clear(),
        }
        tree
    }

    /// The decoded texts that are still needed, where most were forgotten. Every text gets its new place.
    fn take_decoded(&mut self) -> String {
        let mut needed = String::new();
        for at in 0..self.lists.texts.len() {
            let text = self.lists.texts[at];
            if text.decoded {
                let start = needed.len() as u32;
                needed.push_str(self.text_of(text));
                self.lists.texts[at] = TextRef {
                    start,
                    end: needed.len() as u32,
                    decoded: true,
                };
            }
        }
        needed
    }
}
