//! The nodes of a finished tree in as few bytes as possible: an input may have millions.
//!
//! A node and an entry of a mapping take three words each: where the token begins, where it ends, and what belongs to it. What kind
//! of node it is stands in the two highest bits of the first and the second word, which no place in a text needs. Places are
//! counted from the first one of the tree, so a word of most trees has 16 bits; in a large one it has 32.

use std::ops::Range;

use super::limits::MAX_OFFSET;
use super::node::{NodeContent, NodeId, RawEntry, TextPlace, TreeNode};
use crate::text::Span;

/// Nodes, entries of mappings, items of sequences, where each collection begins and ends, and which keys are written elsewhere:
/// one list after the other, behind a [`HeaderWord`].
#[derive(Clone, Debug)]
pub(super) struct TreeWords {
    /// The words: each is one of these, or two where [`Self::is_wide`], the lower one first.
    halves: Box<[u16]>,
    /// The place from which places are counted.
    base: u32,
    is_wide: bool,
    /// Whether nothing of the tree was left out.
    pub(super) is_whole: bool,
    /// Whether there are aliases in it, so that a value may be in several places.
    pub(super) has_aliases: bool,
}

/// What a tree was composed of.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeParts<'a> {
    pub(super) nodes: &'a [TreeNode],
    pub(super) entries: &'a [RawEntry],
    pub(super) items: &'a [NodeId],
    pub(super) root: NodeId,
    pub(super) is_whole: bool,
    pub(super) has_aliases: bool,
}

/// The words of a tree, each of so many halves.
#[derive(Clone, Copy)]
struct WordLists<'w, const HALVES: usize> {
    words: &'w [[u16; HALVES]],
    base: u32,
}

/// The words before the first node, by what they say.
#[derive(Clone, Copy)]
enum HeaderWord {
    Root,
    /// Where the list begins, as of those below.
    Entries,
    Items,
    /// Pairs: the first entry or item of a collection, and the one after its last.
    Bounds,
    /// Pairs, in order: an entry, and the index of its key's text.
    Elsewhere,
}

/// How many words there are before the first node.
const NODES: usize = HeaderWord::Elsewhere as usize + 1;

/// How many words a node or an entry takes.
const WIDTH: usize = 3;

/// Where the bits begin that say what something is, in a word of that many halves.
const fn mark(halves: usize) -> u32 {
    16 * halves as u32 - 2
}

const _: () = assert!(MAX_OFFSET == 1 << mark(2));

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
    pub(super) fn of(parts: TreeParts<'_>) -> Self {
        let TreeParts { is_whole, has_aliases, .. } = parts;
        let range = WordRange::of(parts);
        let is_wide = !range.is_narrow();
        let halves = if is_wide { written::<2>(parts, range) } else { written::<1>(parts, range) };
        Self { halves: halves.into(), base: range.base, is_wide, is_whole, has_aliases }
    }

    /// The node of the whole document.
    pub(super) fn root(&self) -> NodeId {
        NodeId(if self.is_wide { self.wide().header(HeaderWord::Root) } else { self.narrow().header(HeaderWord::Root) })
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> u32 {
        let nodes = if self.is_wide { self.wide().nodes() } else { self.narrow().nodes() };
        nodes as u32
    }

    /// How many entries there are.
    pub(super) fn entries(&self) -> u32 {
        let entries = if self.is_wide { self.wide().entries() } else { self.narrow().entries() };
        entries as u32
    }

    /// Where the entries of a mapping begin and end. `None`: it is none, or nothing of it was kept.
    #[inline]
    pub(super) fn entries_of(&self, map: NodeId) -> Option<Range<u32>> {
        if self.is_wide { self.wide().entries_of(map) } else { self.narrow().entries_of(map) }
    }

    /// The first of some entries whose key has that length, as far as is known without a look at it, and is the one that `is_key`
    /// wants.
    #[inline]
    pub(super) fn find(
        &self,
        entries: Range<u32>,
        length: usize,
        is_key: impl FnMut(&RawEntry) -> bool,
    ) -> Option<RawEntry> {
        match self.is_wide {
            false => self.narrow().find(entries, length, is_key),
            true => self.wide().find(entries, length, is_key),
        }
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> TreeNode {
        if self.is_wide { self.wide().node(id) } else { self.narrow().node(id) }
    }

    #[inline]
    pub(super) fn entry(&self, at: u32) -> RawEntry {
        if self.is_wide { self.wide().entry(at) } else { self.narrow().entry(at) }
    }

    #[inline]
    pub(super) fn item(&self, at: u32) -> NodeId {
        if self.is_wide { self.wide().item(at) } else { self.narrow().item(at) }
    }

    #[inline]
    fn narrow(&self) -> WordLists<'_, 1> {
        self.words()
    }

    #[inline]
    fn wide(&self) -> WordLists<'_, 2> {
        self.words()
    }

    #[inline]
    fn words<const HALVES: usize>(&self) -> WordLists<'_, HALVES> {
        WordLists { words: self.halves.as_chunks().0, base: self.base }
    }
}

impl<const HALVES: usize> WordLists<'_, HALVES> {
    fn nodes(self) -> usize {
        (self.header(HeaderWord::Entries) as usize - NODES) / WIDTH
    }

    fn entries(self) -> usize {
        (self.header(HeaderWord::Items) - self.header(HeaderWord::Entries)) as usize / WIDTH
    }

    #[inline]
    fn entries_of(self, map: NodeId) -> Option<Range<u32>> {
        let [first, second, word] = self.three(NODES + WIDTH * map.0 as usize);
        (kind::<HALVES>(first, second) == MAP).then(|| {
            let [start, end] = self.bounds(word);
            start..end
        })
    }

    #[inline]
    fn find(self, entries: Range<u32>, length: usize, mut is_key: impl FnMut(&RawEntry) -> bool) -> Option<RawEntry> {
        let first = self.header(HeaderWord::Entries) as usize + WIDTH * entries.start as usize;
        let (threes, _) = self.words[first..first + WIDTH * entries.len()].as_chunks::<WIDTH>();
        let of_length = |three: &[[u16; HALVES]; WIDTH]| {
            let [first, end] = [word(three[0]), word(three[1])];
            match kind_of_key::<HALVES>(first) {
                WRITTEN => end - offset::<HALVES>(first) == length as u32,
                QUOTED => end - offset::<HALVES>(first) == length as u32 + 2,
                _ => true,
            }
        };
        let alike = entries.zip(threes).filter(|(_, three)| of_length(three));
        alike.map(|(at, _)| self.entry(at)).find(|entry| is_key(entry))
    }

    #[inline]
    fn node(self, id: NodeId) -> TreeNode {
        let [first, second, word] = self.three(NODES + WIDTH * id.0 as usize);
        let content = match kind::<HALVES>(first, second) {
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
        TreeNode { content, span: self.span(first, offset::<HALVES>(second)) }
    }

    #[inline]
    fn entry(self, at: u32) -> RawEntry {
        let [first, end, value] = self.three(self.header(HeaderWord::Entries) as usize + WIDTH * at as usize);
        let key = match kind_of_key::<HALVES>(first) {
            WRITTEN => TextPlace::Written,
            QUOTED => TextPlace::Quoted,
            _ => TextPlace::Elsewhere(self.key_elsewhere(at)),
        };
        RawEntry { key, key_span: self.span(first, end), value: NodeId(value) }
    }

    #[inline]
    fn item(self, at: u32) -> NodeId {
        NodeId(self.word((self.header(HeaderWord::Items) + at) as usize))
    }

    #[inline]
    fn header(self, what: HeaderWord) -> u32 {
        self.word(what as usize)
    }

    #[inline]
    fn word(self, at: usize) -> u32 {
        word(self.words[at])
    }

    #[inline]
    fn three(self, at: usize) -> [u32; WIDTH] {
        let words = &self.words[at..at + WIDTH];
        [word(words[0]), word(words[1]), word(words[2])]
    }

    #[inline]
    fn span(self, first: u32, end: u32) -> Span {
        Span::new(self.base + offset::<HALVES>(first), self.base + end)
    }

    #[inline]
    fn bounds(self, collection: u32) -> [u32; 2] {
        let at = (self.header(HeaderWord::Bounds) + 2 * collection) as usize;
        [self.word(at), self.word(at + 1)]
    }

    fn key_elsewhere(self, entry: u32) -> u32 {
        let (pairs, _) = self.words[self.header(HeaderWord::Elsewhere) as usize..].as_chunks::<2>();
        pairs.binary_search_by_key(&entry, |[of, _]| word(*of)).map_or(0, |at| word(pairs[at][1]))
    }
}

/// How large the words of a tree have to be.
#[derive(Clone, Copy)]
struct WordRange {
    /// The first place.
    base: u32,
    /// The last place.
    end: u32,
    /// The largest word that is no place.
    largest: u32,
    /// How many words there are.
    words: usize,
}

impl WordRange {
    fn of(TreeParts { nodes, entries, items, .. }: TreeParts<'_>) -> Self {
        let (mut base, mut end, mut largest, mut pairs) = (u32::MAX, 0, 0, 0);
        for TreeNode { content, span } in nodes {
            (base, end) = (base.min(span.start), end.max(span.end));
            match *content {
                NodeContent::Int(word) | NodeContent::Number(word) | NodeContent::Text(TextPlace::Elsewhere(word)) => {
                    largest = largest.max(word);
                }
                NodeContent::Map { .. } | NodeContent::Seq { .. } => pairs += 1,
                _ => {}
            }
        }
        for RawEntry { key, key_span, .. } in entries {
            (base, end) = (base.min(key_span.start), end.max(key_span.end));
            if let TextPlace::Elsewhere(word) = *key {
                largest = largest.max(word);
                pairs += 1;
            }
        }
        let words = NODES + WIDTH * (nodes.len() + entries.len()) + items.len() + 2 * pairs;
        Self { base: base.min(end), end, largest, words }
    }

    /// Whether 16 bits are enough for each word. Nodes, entries and items are fewer than words.
    fn is_narrow(self) -> bool {
        self.end - self.base < 1 << mark(1) && self.largest.max(self.words as u32) <= u32::from(u16::MAX)
    }
}

/// The words of a tree, in so many halves each.
fn written<const HALVES: usize>(parts: TreeParts<'_>, WordRange { base, words, .. }: WordRange) -> Vec<u16> {
    let TreeParts { nodes, entries, items, root, .. } = parts;
    let mut halves = Vec::with_capacity(HALVES * words);
    let entries_at = NODES + WIDTH * nodes.len();
    let items_at = entries_at + WIDTH * entries.len();
    let bounds_at = items_at + items.len();
    let bounds = nodes.iter().filter_map(|node| match node.content {
        NodeContent::Map { start, end } | NodeContent::Seq { start, end } => Some([start, end]),
        _ => None,
    });
    let elsewhere_at = bounds_at + 2 * bounds.clone().count();
    let header = [root.0, entries_at as u32, items_at as u32, bounds_at as u32, elsewhere_at as u32];
    add::<HALVES, _>(&mut halves, header);
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
        let (low, high) = ((kind & 3) << mark(HALVES), (kind >> 2) << mark(HALVES));
        add::<HALVES, _>(&mut halves, [(span.start - base) | low, (span.end - base) | high, word]);
    }
    for RawEntry { key, key_span, value } in entries {
        let (kind, _) = packed(*key);
        let first = (key_span.start - base) | (kind & 3) << mark(HALVES);
        add::<HALVES, _>(&mut halves, [first, key_span.end - base, value.0]);
    }
    items.iter().for_each(|item| add::<HALVES, _>(&mut halves, [item.0]));
    bounds.for_each(|bounds| add::<HALVES, _>(&mut halves, bounds));
    for (at, entry) in (0u32..).zip(entries) {
        if let TextPlace::Elsewhere(text) = entry.key {
            add::<HALVES, _>(&mut halves, [at, text]);
        }
    }
    halves
}

#[inline]
fn add<const HALVES: usize, const COUNT: usize>(halves: &mut Vec<u16>, words: [u32; COUNT]) {
    match HALVES {
        1 => halves.extend_from_slice(&words.map(|word| word as u16)),
        _ => halves.extend_from_slice(words.map(|word| [word as u16, (word >> 16) as u16]).as_flattened()),
    }
}

#[inline]
fn word<const HALVES: usize>(halves: [u16; HALVES]) -> u32 {
    halves.iter().rev().fold(0, |word, half| word << 16 | u32::from(*half))
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
fn kind<const HALVES: usize>(first: u32, second: u32) -> u32 {
    first >> mark(HALVES) | (second >> mark(HALVES)) << 2
}

/// Where the text of a key is, by its first word: three of the kinds, which differ in their two lowest bits.
#[inline]
fn kind_of_key<const HALVES: usize>(first: u32) -> u32 {
    first >> mark(HALVES) | WRITTEN
}

/// The place that a word names, counted from the first.
#[inline]
fn offset<const HALVES: usize>(word: u32) -> u32 {
    word & ((1 << mark(HALVES)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_of_wide_words_and_of_narrow_ones() {
        let farthest = |narrow| if narrow { (1 << mark(1)) - 1 } else { MAX_OFFSET - 1 };
        let most = |narrow| if narrow { u16::MAX.into() } else { u32::MAX };
        for (narrow, base) in [(false, 0), (true, 0), (true, MAX_OFFSET - 1 - farthest(true))] {
            comes_out(base, farthest(narrow), most(narrow), narrow);
        }
        for (farthest, most) in [(farthest(true) + 1, 0), (0, most(true) + 1)] {
            comes_out(0, farthest.max(100), most, false);
        }
    }

    fn comes_out(base: u32, farthest: u32, most: u32, narrow: bool) {
        let contents = [
            NodeContent::Null,
            NodeContent::Bool(false),
            NodeContent::Bool(true),
            NodeContent::Int(most),
            NodeContent::Number(7),
            NodeContent::Text(TextPlace::Written),
            NodeContent::Text(TextPlace::Quoted),
            NodeContent::Text(TextPlace::Elsewhere(9)),
            NodeContent::Map { start: 0, end: 3 },
            NodeContent::Seq { start: 1, end: 2 },
            NodeContent::Map { start: 3, end: 4 },
            NodeContent::LeftOut,
        ];
        let span = |at: usize| Span::new(base + at as u32, base + farthest - at as u32);
        let nodes: Vec<_> =
            contents.into_iter().enumerate().map(|(at, content)| TreeNode { content, span: span(at) }).collect();
        let keys = [TextPlace::Elsewhere(3), TextPlace::Written, TextPlace::Quoted, TextPlace::Elsewhere(most)];
        let entries: Vec<_> = keys
            .into_iter()
            .enumerate()
            .map(|(at, key)| RawEntry { key, key_span: span(at), value: NodeId(at as u32) })
            .collect();
        let items = [NodeId(2), NodeId(1)];
        let (is_whole, has_aliases, root) = (true, false, NodeId(11));
        let parts = TreeParts { nodes: &nodes, entries: &entries, items: &items, root, is_whole, has_aliases };
        let words = TreeWords::of(parts);
        assert_eq!((words.is_wide, words.is_whole, words.has_aliases), (!narrow, true, false));
        assert_eq!(words.root(), root);
        assert_eq!((words.nodes(), words.entries()), (12, 4));
        assert_eq!((0..12).map(|at| words.node(NodeId(at))).collect::<Vec<_>>(), nodes);
        assert_eq!((0..4).map(|at| words.entry(at)).collect::<Vec<_>>(), entries);
        assert_eq!([words.item(0), words.item(1)], items);
    }
}
