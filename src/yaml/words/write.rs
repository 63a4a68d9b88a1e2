//! Writing the words of a tree.

use super::layout::*;
use crate::yaml::node::{NodeContent, NodeId, RawEntry, TextPlace, TreeNode};

/// What a tree was composed of.
#[derive(Clone, Copy, Debug)]
pub(in crate::yaml) struct TreeParts<'a> {
    pub(in crate::yaml) nodes: &'a [TreeNode],
    pub(in crate::yaml) entries: &'a [RawEntry],
    pub(in crate::yaml) items: &'a [NodeId],
    pub(in crate::yaml) root: NodeId,
    pub(in crate::yaml) is_whole: bool,
    pub(in crate::yaml) has_aliases: bool,
}

/// How large the words of a tree have to be.
#[derive(Clone, Copy)]
pub(super) struct WordRange {
    /// The first place.
    pub(super) base: u32,
    /// The last place.
    end: u32,
    /// The largest word that is no place.
    largest: u32,
    /// How many words there are.
    pub(super) words: usize,
}

impl WordRange {
    pub(super) fn of(
        TreeParts {
            nodes,
            entries,
            items,
            ..
        }: TreeParts<'_>,
    ) -> Self {
        let (mut base, mut end, mut largest, mut pairs) = (u32::MAX, 0, 0, 0);
        for TreeNode { content, span } in nodes {
            (base, end) = (base.min(span.start), end.max(span.end));
            match *content {
                NodeContent::Int(word)
                | NodeContent::Number(word)
                | NodeContent::Text(TextPlace::Elsewhere(word)) => {
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
        Self {
            base: base.min(end),
            end,
            largest,
            words,
        }
    }

    /// Whether 16 bits are enough for each word. Nodes, entries and items are fewer than words.
    pub(super) fn is_narrow(self) -> bool {
        self.end - self.base < 1 << mark(1)
            && self.largest.max(self.words as u32) <= u32::from(u16::MAX)
    }
}

/// Writes the words of a tree, each in so many of `halves`, of which there are just enough.
pub(super) fn write<const HALVES: usize>(
    parts: TreeParts<'_>,
    range: WordRange,
    mut halves: &mut [u16],
) {
    let TreeParts {
        nodes,
        entries,
        items,
        root,
        ..
    } = parts;
    let base = range.base;
    let halves = &mut halves;
    let entries_at = NODES + WIDTH * nodes.len();
    let items_at = entries_at + WIDTH * entries.len();
    let bounds_at = items_at + items.len();
    let bounds = nodes.iter().filter_map(|node| match node.content {
        NodeContent::Map { start, end } | NodeContent::Seq { start, end } => Some([start, end]),
        _ => None,
    });
    let elsewhere_at = bounds_at + 2 * bounds.clone().count();
    let header = [
        root.0,
        entries_at as u32,
        items_at as u32,
        bounds_at as u32,
        elsewhere_at as u32,
    ];
    add::<HALVES, _>(halves, header);
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
        add::<HALVES, _>(
            halves,
            [(span.start - base) | low, (span.end - base) | high, word],
        );
    }
    for RawEntry {
        key,
        key_span,
        value,
    } in entries
    {
        let (kind, _) = packed(*key);
        let first = (key_span.start - base) | (kind & 3) << mark(HALVES);
        add::<HALVES, _>(halves, [first, key_span.end - base, value.0]);
    }
    items
        .iter()
        .for_each(|item| add::<HALVES, _>(halves, [item.0]));
    bounds.for_each(|bounds| add::<HALVES, _>(halves, bounds));
    for (at, entry) in (0u32..).zip(entries) {
        if let TextPlace::Elsewhere(text) = entry.key {
            add::<HALVES, _>(halves, [at, text]);
        }
    }
}

/// Writes the next words.
#[inline]
fn add<const HALVES: usize, const COUNT: usize>(halves: &mut &mut [u16], words: [u32; COUNT]) {
    let (here, rest) = std::mem::take(halves).split_at_mut(HALVES * COUNT);
    match HALVES {
        1 => here.copy_from_slice(&words.map(|word| word as u16)),
        _ => here.copy_from_slice(
            words
                .map(|word| [word as u16, (word >> 16) as u16])
                .as_flattened(),
        ),
    }
    *halves = rest;
}

/// What a text is to the words, and what belongs to it.
fn packed(place: TextPlace) -> (u32, u32) {
    match place {
        TextPlace::Written => (WRITTEN, 0),
        TextPlace::Quoted => (QUOTED, 0),
        TextPlace::Elsewhere(at) => (ELSEWHERE, at),
    }
}
