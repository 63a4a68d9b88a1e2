//! Turns changes to a document's value into edits of its text.
//!
//! A [`ValueChange`] describes the new value. [`Editor`] finds the text to change in whatever form the document is
//! written (block, flow, JSON, any line break) and touches nothing else. Every result is read again: edits count only
//! if the new value is the old one with the changes and nothing else.
//!
//! The steps: `layout` (all nodes with their forms) → `plan` (`remove`, `insert`, `write`) → `expect`.

mod change;
mod expect;
mod insert;
mod layout;
mod lines;
mod plan;
mod remove;
mod write;

use std::sync::Arc;

use foldhash::HashMap;

use self::expect::ExpectedTree;
use self::layout::{Layout, LayoutBuilder};
use self::lines::TextLines;
use self::plan::WrittenDocument;
use super::document::Notation;
use super::read::{reread, reread_value};
use super::tree::{NodeId, Tree};
use crate::{Span, replaced};

pub use change::{NewValue, Route, RouteStep, ValueChange};

/// The maximum number of times that a document is read again to verify its edits. All edits are verified together, so
/// one reading is usually enough; nearly every edit of a document would have to fail to reach the limit.
const MAX_READINGS: usize = 24;

/// The maximum number of bytes that are read again for one document, but two readings are always allowed.
const MAX_BYTES: usize = 8 << 20;

/// The maximum number of sets planned for routes from one mapping: planning takes time proportional
/// to the changed collection, and at most [`MAX_READINGS`] sets for one can be verified.
const MAX_PLANNED: usize = 8 * MAX_READINGS;

/// A replacement of a piece of text by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The replaced text; empty if text is only added.
    pub span: Span,
    /// The new text.
    pub replacement: String,
    /// The mapping or list whose members change.
    pub within: Span,
}

/// Edits one document.
#[derive(Debug)]
pub struct Editor<'a> {
    text: &'a str,
    span: Span,
    notation: Notation,
    tree: &'a Tree,
    layout: Layout,
    /// The mappings of the tree, by the offsets at which they begin.
    maps: HashMap<u32, NodeId>,
}

impl<'a> Editor<'a> {
    /// Creates an editor for the document at `span` of a file, with the value `tree`; `None` if rereading it fails.
    pub fn new(text: &'a str, span: Span, notation: Notation, tree: &'a Tree) -> Option<Self> {
        let mut layout = LayoutBuilder::default();
        let read = reread(text, span, notation, &mut layout)?;
        let layout = layout.finish(read.comments);
        let maps = tree.values().filter(|value| value.is_map());
        let maps = maps.map(|map| (map.span().start, map.id())).collect();
        Some(Self {
            text,
            span,
            notation,
            tree,
            layout,
            maps,
        })
    }

    /// Returns the edits for each set of changes, in their order; `None` for one that cannot be made. Each set is
    /// verified, and independent of the others.
    pub fn edits(&self, sets: &[&[ValueChange]]) -> Vec<Option<Vec<TextEdit>>> {
        let document = WrittenDocument {
            lines: TextLines {
                text: self.text,
                notation: self.notation,
            },
            layout: &self.layout,
        };
        let mut begun: HashMap<u32, usize> = HashMap::default();
        let planned = sets.iter().map(|changes| {
            let begun = begun.entry(changes.first()?.route().start).or_default();
            *begun += 1;
            if *begun > MAX_PLANNED {
                None
            } else {
                document.edits(changes)
            }
        });
        let mut planned: Vec<Option<Vec<TextEdit>>> = planned.collect();
        let mut readings = (MAX_BYTES / (self.span.len() as usize).max(1)).clamp(2, MAX_READINGS);
        let mut verified = vec![false; sets.len()];
        for batch in batches(&planned, readings) {
            let mut pending = vec![batch];
            while let Some(batch) = pending.pop() {
                if readings == 0 {
                    break;
                }
                readings -= 1;
                if self.is_right(sets, &planned, &batch) == Some(true) {
                    for &at in &batch {
                        verified[at] = true;
                    }
                } else if batch.len() > 1 {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    pending.extend([second.to_vec(), first.to_vec()]);
                }
            }
        }
        for (edits, verified) in planned.iter_mut().zip(verified) {
            *edits = edits.take().filter(|_| verified);
        }
        planned
    }

    /// Whether the edits of `batch` do exactly what its changes ask; `None` if they break the text.
    fn is_right(
        &self,
        sets: &[&[ValueChange]],
        planned: &[Option<Vec<TextEdit>>],
        batch: &[usize],
    ) -> Option<bool> {
        let edits = batch.iter().flat_map(|&at| &planned[at]).flatten();
        let edits = edits.map(|edit| {
            let start = edit.span.start.checked_sub(self.span.start)?;
            let span = Span::new(start, start + edit.span.len());
            Some((span, edit.replacement.as_str()))
        });
        let edits: Vec<_> = edits.collect::<Option<_>>()?;
        let text = replaced(self.text.get(self.span.range())?, edits)?;
        let expected =
            ExpectedTree::new(self.tree, &self.maps, batch.iter().flat_map(|&at| sets[at]))?;
        Some(expected.is_value_of(&reread_value(&Arc::new(text), self.notation)?))
    }
}

/// Groups edits into at most `most` groups. Edits in one group change different collections, so they do not interfere.
fn batches(planned: &[Option<Vec<TextEdit>>], most: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<(u32, u32, usize)> = planned
        .iter()
        .enumerate()
        .filter_map(|(at, edits)| {
            let edits = edits.as_ref()?;
            let start = edits.iter().map(|edit| edit.within.start).min()?;
            let end = edits.iter().map(|edit| edit.within.end).max()?;
            Some((start, end, at))
        })
        .collect();
    all.sort_unstable();
    let mut batches: Vec<(u32, Vec<usize>)> = Vec::new();
    for (start, end, at) in all {
        match batches.iter().position(|(until, _)| *until <= start) {
            Some(free) => {
                batches[free].0 = end;
                batches[free].1.push(at);
            }
            // Edits beyond the last group are not verified.
            None if batches.len() < most => batches.push((end, vec![at])),
            None => {}
        }
    }
    batches.into_iter().map(|(_, batch)| batch).collect()
}
