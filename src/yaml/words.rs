//! The nodes of a finished tree in as few bytes as possible: an input may have millions.
//!
//! A node and an entry of a mapping take three words each: where the token begins, where it ends, and what belongs to it. What kind
//! of node it is stands in the two highest bits of the first and the second word, which no place in a text needs.

use std::ops::Range;

use super::limits::MAX_OFFSET;
use super::node::{NodeContent, NodeId, RawEntry, TextPlace, TreeNode};
use crate::text::Span;

/// Nodes, entries of mappings, items of sequences, where each collection begins and ends, and which keys are written elsewhere:
/// one list after the other.
#[derive(Clone, Debug)]
pub(super) struct TreeWords {
    words: Box<[u32]>,
    entries: u32,
    items: u32,
    /// Pairs: the first entry or item of a collection, and the one after its last.
    bounds: u32,
    /// Pairs, in order: an entry, and the index of its key's text.
    elsewhere: u32,
}

/// How many words a node or an entry takes.
const WIDTH: usize = 3;

/// Where the bits begin that say what something is.
const MARK: u32 = MAX_OFFSET.ilog2();

const NULL: u32 = 0;
const FALSE: u32 = 1;
const TRUE: u32 = 2;
const NUMBER: u32 = 3;
const WRITTEN: u32 = 4;
const QUOTED: u32 = 5;
const ELSEWHERE: u32 = 6;
const MAP: u32 = 7;
const SEQ: u32 = 8;
const LEFT_OUT: u32 = 9;
const INT: u32 = 10;

impl TreeWords {
    /// The words for what was composed. No place may be beyond [`MAX_OFFSET`].
    pub(super) fn of(nodes: &[TreeNode], entries: &[RawEntry], items: &[NodeId]) -> Self {
        let collections = nodes.iter().filter_map(|node| match node.content {
            NodeContent::Map { start, end } | NodeContent::Seq { start, end } => Some([start, end]),
            _ => None,
        });
        let elsewhere = (0u32..).zip(entries).filter_map(|(at, entry)| match entry.key {
            TextPlace::Elsewhere(text) => Some([at, text]),
            TextPlace::Written | TextPlace::Quoted => None,
        });
        let pairs = collections.clone().count() + elsewhere.clone().count();
        let mut words = Vec::with_capacity(WIDTH * (nodes.len() + entries.len()) + items.len() + 2 * pairs);
        let mut collection = 0..;
        for TreeNode { content, span } in nodes {
            let (kind, word) = match *content {
                NodeContent::Null => (NULL, 0),
                NodeContent::Bool(false) => (FALSE, 0),
                NodeContent::Bool(true) => (TRUE, 0),
                NodeContent::Int(value) => (INT, value),
                NodeContent::Number(at) => (NUMBER, at),
                NodeContent::Text(place) => packed(place),
                NodeContent::Map { .. } => (MAP, collection.next().unwrap_or_default()),
                NodeContent::Seq { .. } => (SEQ, collection.next().unwrap_or_default()),
                NodeContent::LeftOut => (LEFT_OUT, 0),
            };
            words.extend([span.start | (kind & 3) << MARK, span.end | (kind >> 2) << MARK, word]);
        }
        let entries_at = words.len() as u32;
        for RawEntry { key, key_span, value } in entries {
            let (kind, _) = packed(*key);
            words.extend([key_span.start | (kind & 3) << MARK, key_span.end, value.0]);
        }
        let items_at = words.len() as u32;
        words.extend(items.iter().map(|item| item.0));
        let bounds = words.len() as u32;
        words.extend(collections.flatten());
        let elsewhere_at = words.len() as u32;
        words.extend(elsewhere.flatten());
        Self { words: words.into(), entries: entries_at, items: items_at, bounds, elsewhere: elsewhere_at }
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> u32 {
        self.entries / WIDTH as u32
    }

    /// How many entries there are.
    pub(super) fn entries(&self) -> u32 {
        (self.items - self.entries) / WIDTH as u32
    }

    /// Where the entries of a mapping begin and end. `None`: it is none, or nothing of it was kept.
    #[inline]
    pub(super) fn entries_of(&self, map: NodeId) -> Option<Range<u32>> {
        let [first, second, word] = self.three(WIDTH * map.0 as usize);
        (kind(first, second) == MAP).then(|| {
            let [start, end] = self.bounds(word);
            start..end
        })
    }

    /// The first of some entries whose key has that length, as far as is known without a look at it, and is the one that `is_key`
    /// wants.
    #[inline]
    pub(super) fn find(
        &self,
        entries: Range<u32>,
        length: usize,
        mut is_key: impl FnMut(&RawEntry) -> bool,
    ) -> Option<RawEntry> {
        let first = self.entries as usize + WIDTH * entries.start as usize;
        let (threes, _) = self.words[first..first + WIDTH * entries.len()].as_chunks::<WIDTH>();
        let of_length = |[first, end, _]: &[u32; WIDTH]| match kind_of_key(*first) {
            WRITTEN => end - offset(*first) == length as u32,
            QUOTED => end - offset(*first) == length as u32 + 2,
            _ => true,
        };
        let alike = entries.zip(threes).filter(|(_, three)| of_length(three));
        alike.map(|(at, _)| self.entry(at)).find(|entry| is_key(entry))
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> TreeNode {
        let [first, second, word] = self.three(WIDTH * id.0 as usize);
        let content = match kind(first, second) {
            NULL => NodeContent::Null,
            FALSE => NodeContent::Bool(false),
            TRUE => NodeContent::Bool(true),
            INT => NodeContent::Int(word),
            NUMBER => NodeContent::Number(word),
            WRITTEN => NodeContent::Text(TextPlace::Written),
            QUOTED => NodeContent::Text(TextPlace::Quoted),
            ELSEWHERE => NodeContent::Text(TextPlace::Elsewhere(word)),
            MAP => {
                let [start, end] = self.bounds(word);
                NodeContent::Map { start, end }
            }
            SEQ => {
                let [start, end] = self.bounds(word);
                NodeContent::Seq { start, end }
            }
            _ => NodeContent::LeftOut,
        };
        TreeNode { content, span: Span::new(offset(first), offset(second)) }
    }

    #[inline]
    pub(super) fn entry(&self, at: u32) -> RawEntry {
        let [first, end, value] = self.three(self.entries as usize + WIDTH * at as usize);
        let key = match kind_of_key(first) {
            WRITTEN => TextPlace::Written,
            QUOTED => TextPlace::Quoted,
            _ => TextPlace::Elsewhere(self.key_elsewhere(at)),
        };
        RawEntry { key, key_span: Span::new(offset(first), end), value: NodeId(value) }
    }

    #[inline]
    pub(super) fn item(&self, at: u32) -> NodeId {
        NodeId(self.words[(self.items + at) as usize])
    }

    #[inline]
    fn three(&self, at: usize) -> [u32; WIDTH] {
        let words = &self.words[at..at + WIDTH];
        [words[0], words[1], words[2]]
    }

    #[inline]
    fn bounds(&self, collection: u32) -> [u32; 2] {
        let at = (self.bounds + 2 * collection) as usize;
        [self.words[at], self.words[at + 1]]
    }

    fn key_elsewhere(&self, entry: u32) -> u32 {
        let (pairs, _) = self.words[self.elsewhere as usize..].as_chunks::<2>();
        pairs.binary_search_by_key(&entry, |[of, _]| *of).map_or(0, |at| pairs[at][1])
    }
}

/// What a text is to the words, and what belongs to it.
fn packed(place: TextPlace) -> (u32, u32) {
    match place {
        TextPlace::Written => (WRITTEN, 0),
        TextPlace::Quoted => (QUOTED, 0),
        TextPlace::Elsewhere(at) => (ELSEWHERE, at),
    }
}

/// What a node is, by its first two words.
#[inline]
fn kind(first: u32, second: u32) -> u32 {
    first >> MARK | (second >> MARK) << 2
}

/// Where the text of a key is, by its first word: three of the kinds, which differ in their two lowest bits.
#[inline]
fn kind_of_key(first: u32) -> u32 {
    first >> MARK | WRITTEN
}

/// The place in the text that a word names.
#[inline]
fn offset(word: u32) -> u32 {
    word & (MAX_OFFSET - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let contents = [
            NodeContent::Null,
            NodeContent::Bool(false),
            NodeContent::Bool(true),
            NodeContent::Int(u32::MAX),
            NodeContent::Number(7),
            NodeContent::Text(TextPlace::Written),
            NodeContent::Text(TextPlace::Quoted),
            NodeContent::Text(TextPlace::Elsewhere(9)),
            NodeContent::Map { start: 0, end: 3 },
            NodeContent::Seq { start: 1, end: 2 },
            NodeContent::Map { start: 3, end: 4 },
            NodeContent::LeftOut,
        ];
        let span = |at: usize| Span::new(at as u32, MAX_OFFSET - 1 - at as u32);
        let nodes: Vec<_> =
            contents.into_iter().enumerate().map(|(at, content)| TreeNode { content, span: span(at) }).collect();
        let keys = [TextPlace::Elsewhere(3), TextPlace::Written, TextPlace::Quoted, TextPlace::Elsewhere(u32::MAX)];
        let entries: Vec<_> = keys
            .into_iter()
            .enumerate()
            .map(|(at, key)| RawEntry { key, key_span: span(at), value: NodeId(at as u32) })
            .collect();
        let items = [NodeId(2), NodeId(1)];
        let words = TreeWords::of(&nodes, &entries, &items);
        assert_eq!((words.nodes(), words.entries()), (12, 4));
        assert_eq!((0..12).map(|at| words.node(NodeId(at))).collect::<Vec<_>>(), nodes);
        assert_eq!((0..4).map(|at| words.entry(at)).collect::<Vec<_>>(), entries);
        assert_eq!([words.item(0), words.item(1)], items);
    }
}
