//! Reading the words of a tree.

use std::ops::Range;

use super::layout::*;
use crate::text::Span;
use crate::yaml::node::{NodeContent, NodeId, RawEntry, TextPlace, TreeNode};

/// The words of a tree, each of so many halves.
#[derive(Clone, Copy)]
pub(super) struct WordLists<'w, const HALVES: usize> {
    pub(super) words: &'w [[u16; HALVES]],
    pub(super) base: u32,
}

impl<const HALVES: usize> WordLists<'_, HALVES> {
    pub(super) fn nodes(self) -> usize {
        (self.header(HeaderWord::Entries) as usize - NODES) / WIDTH
    }

    pub(super) fn entries(self) -> usize {
        (self.header(HeaderWord::Items) - self.header(HeaderWord::Entries)) as usize / WIDTH
    }

    #[inline]
    pub(super) fn entries_of(self, map: NodeId) -> Option<Range<u32>> {
        let [first, second, word] = self.three(NODES + WIDTH * map.0 as usize);
        (kind::<HALVES>(first, second) == MAP).then(|| {
            let [start, end] = self.bounds(word);
            start..end
        })
    }

    #[inline]
    pub(super) fn find(
        self,
        entries: Range<u32>,
        length: usize,
        mut is_key: impl FnMut(&RawEntry) -> bool,
    ) -> Option<RawEntry> {
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
        alike
            .map(|(at, _)| self.entry(at))
            .find(|entry| is_key(entry))
    }

    #[inline]
    pub(super) fn node(self, id: NodeId) -> TreeNode {
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
        TreeNode {
            content,
            span: self.span(first, offset::<HALVES>(second)),
        }
    }

    #[inline]
    pub(super) fn entry(self, at: u32) -> RawEntry {
        let [first, end, value] =
            self.three(self.header(HeaderWord::Entries) as usize + WIDTH * at as usize);
        let key = match kind_of_key::<HALVES>(first) {
            WRITTEN => TextPlace::Written,
            QUOTED => TextPlace::Quoted,
            _ => TextPlace::Elsewhere(self.key_elsewhere(at)),
        };
        RawEntry {
            key,
            key_span: self.span(first, end),
            value: NodeId(value),
        }
    }

    #[inline]
    pub(super) fn item(self, at: u32) -> NodeId {
        NodeId(self.word((self.header(HeaderWord::Items) + at) as usize))
    }

    #[inline]
    pub(super) fn header(self, what: HeaderWord) -> u32 {
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
        pairs
            .binary_search_by_key(&entry, |[of, _]| word(*of))
            .map_or(0, |at| word(pairs[at][1]))
    }
}

#[inline]
fn word<const HALVES: usize>(halves: [u16; HALVES]) -> u32 {
    halves
        .iter()
        .rev()
        .fold(0, |word, half| word << 16 | u32::from(*half))
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
