//! The nodes of a finished tree in as few bytes as possible: an input may have millions.
//!
//! A node and an entry of a mapping take three words each: where the token begins, where it ends, and what belongs to it. What kind
//! of node it is stands in the two highest bits of the first and the second word, which no place in a text needs. Places are
//! counted from the first one of the tree, so a word of most trees has 16 bits; in a large one it has 32.

mod layout;
mod lists;
mod shared;
mod write;

use std::ops::Range;
use std::sync::Arc;

use self::layout::HeaderWord;
use self::lists::WordLists;
pub(super) use self::shared::SharedWords;
pub(super) use self::write::TreeParts;
use self::write::{WordRange, write};
use super::node::{NodeContent, NodeId, RawEntry, TreeNode};
use crate::text::Span;

/// Nodes, entries of mappings, items of sequences, where each collection begins and ends, and which keys are written elsewhere:
/// one list after the other, behind a [`HeaderWord`].
#[derive(Clone, Debug)]
pub(super) struct TreeWords {
    /// The words: each is one of these, or two where [`Self::is_wide`], the lower one first.
    halves: Arc<[u16]>,
    /// The place from which places are counted.
    base: u32,
    is_wide: bool,
    /// Whether nothing of the tree was left out.
    pub(super) is_whole: bool,
    /// Whether there are aliases in it, so that a value may be in several places.
    pub(super) has_aliases: bool,
}

impl TreeWords {
    /// The words for what was composed, `shared` with other trees if they are the same. No place may be beyond
    /// [`MAX_OFFSET`](super::limits::MAX_OFFSET).
    pub(super) fn of(parts: TreeParts<'_>, shared: &mut SharedWords) -> Self {
        let TreeParts {
            is_whole,
            has_aliases,
            ..
        } = parts;
        let range = WordRange::of(parts);
        let is_wide = !range.is_narrow();
        let halves = shared.words(range.words << u32::from(is_wide), |halves| match is_wide {
            true => write::<2>(parts, range, halves),
            false => write::<1>(parts, range, halves),
        });
        Self {
            halves,
            base: range.base,
            is_wide,
            is_whole,
            has_aliases,
        }
    }

    /// The node of the whole document.
    pub(super) fn root(&self) -> NodeId {
        NodeId(if self.is_wide {
            self.wide().header(HeaderWord::Root)
        } else {
            self.narrow().header(HeaderWord::Root)
        })
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> u32 {
        let nodes = if self.is_wide {
            self.wide().nodes()
        } else {
            self.narrow().nodes()
        };
        nodes as u32
    }

    /// Where the mappings are of which nothing was kept, in order.
    pub(super) fn left_out(&self) -> Vec<Span> {
        let nodes = (0..self.nodes()).map(|at| self.node(NodeId(at)));
        let left_out = nodes.filter(|node| node.content == NodeContent::LeftOut);
        let mut places: Vec<Span> = left_out.map(|node| node.span).collect();
        places.sort_unstable();
        places
    }

    /// How many entries there are.
    pub(super) fn entries(&self) -> u32 {
        let entries = if self.is_wide {
            self.wide().entries()
        } else {
            self.narrow().entries()
        };
        entries as u32
    }

    /// Where the entries of a mapping begin and end. `None`: it is none, or nothing of it was kept.
    #[inline]
    pub(super) fn entries_of(&self, map: NodeId) -> Option<Range<u32>> {
        if self.is_wide {
            self.wide().entries_of(map)
        } else {
            self.narrow().entries_of(map)
        }
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
        if self.is_wide {
            self.wide().node(id)
        } else {
            self.narrow().node(id)
        }
    }

    #[inline]
    pub(super) fn entry(&self, at: u32) -> RawEntry {
        if self.is_wide {
            self.wide().entry(at)
        } else {
            self.narrow().entry(at)
        }
    }

    #[inline]
    pub(super) fn item(&self, at: u32) -> NodeId {
        if self.is_wide {
            self.wide().item(at)
        } else {
            self.narrow().item(at)
        }
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
        WordLists {
            words: self.halves.as_chunks().0,
            base: self.base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::layout::mark;
    use super::*;
    use crate::yaml::limits::MAX_OFFSET;
    use crate::yaml::node::TextPlace;

    #[test]
    fn what_goes_in_comes_out_of_wide_words_and_of_narrow_ones() {
        let farthest = |narrow| {
            if narrow {
                (1 << mark(1)) - 1
            } else {
                MAX_OFFSET - 1
            }
        };
        let most = |narrow| if narrow { u16::MAX.into() } else { u32::MAX };
        for (narrow, base) in [
            (false, 0),
            (true, 0),
            (true, MAX_OFFSET - 1 - farthest(true)),
        ] {
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
        let nodes: Vec<_> = contents
            .into_iter()
            .enumerate()
            .map(|(at, content)| TreeNode {
                content,
                span: span(at),
            })
            .collect();
        let keys = [
            TextPlace::Elsewhere(3),
            TextPlace::Written,
            TextPlace::Quoted,
            TextPlace::Elsewhere(most),
        ];
        let entries: Vec<_> = keys
            .into_iter()
            .enumerate()
            .map(|(at, key)| RawEntry {
                key,
                key_span: span(at),
                value: NodeId(at as u32),
            })
            .collect();
        let items = [NodeId(2), NodeId(1)];
        let (is_whole, has_aliases, root) = (true, false, NodeId(11));
        let parts = TreeParts {
            nodes: &nodes,
            entries: &entries,
            items: &items,
            root,
            is_whole,
            has_aliases,
        };
        let words = TreeWords::of(parts, &mut SharedWords::default());
        assert_eq!(
            (words.is_wide, words.is_whole, words.has_aliases),
            (!narrow, true, false)
        );
        assert_eq!(words.root(), root);
        assert_eq!((words.nodes(), words.entries()), (12, 4));
        assert_eq!(
            (0..12).map(|at| words.node(NodeId(at))).collect::<Vec<_>>(),
            nodes
        );
        assert_eq!(
            (0..4).map(|at| words.entry(at)).collect::<Vec<_>>(),
            entries
        );
        assert_eq!([words.item(0), words.item(1)], items);
    }
}
