//! The text that trees point into.

use std::ops::Range;
use std::sync::Arc;

use crate::text::{KeptLines, Span};

/// The text of a file, shared by the trees of one part of it, or what one tree needs of it. Each part counts its own: threads that
/// count the same number wait for each other, and a file may have a million trees.
#[derive(Clone, Debug)]
pub(super) struct PartText(Arc<PartLines>);

#[derive(Debug)]
enum PartLines {
    /// With the count of the whole file.
    All(Arc<String>),
    Kept(KeptLines),
}

impl PartText {
    /// For the trees of a whole file.
    pub(super) fn new(text: Arc<String>) -> Self {
        Self(Arc::new(PartLines::All(text)))
    }

    /// For one tree: the lines of `part` of a text that are not inside one of `gaps`, which come in order.
    pub(super) fn without(text: &str, part: Span, gaps: impl IntoIterator<Item = Span>) -> Self {
        Self(Arc::new(PartLines::Kept(KeptLines::of(text, part, gaps))))
    }

    /// For the trees of another part.
    pub(super) fn apart(&self) -> Self {
        match &*self.0 {
            PartLines::All(text) => Self::new(Arc::clone(text)),
            PartLines::Kept(_) => self.clone(),
        }
    }

    /// Whether not the whole text of the file is kept for it.
    pub(super) fn is_partial(&self) -> bool {
        matches!(&*self.0, PartLines::Kept(_))
    }

    #[inline]
    pub(super) fn get(&self, start: u32, end: u32) -> Option<&str> {
        let range = start as usize..end as usize;
        match &*self.0 {
            PartLines::All(text) => text.get(range),
            PartLines::Kept(lines) => kept(lines, range),
        }
    }
}

/// Few trees have lines of their own: nobody else should pay for the search.
#[cold]
#[inline(never)]
fn kept(lines: &KeptLines, range: Range<usize>) -> Option<&str> {
    lines.get(range)
}

/// Where the trees of one part of a file find their texts.
#[derive(Clone, Debug)]
pub(super) enum TreeText {
    /// In the text of the file.
    Shared(PartText),
    /// Each keeps the lines that it needs, so that nobody keeps the text of the file.
    Own,
}

impl TreeText {
    /// For the trees of another part.
    pub(super) fn apart(&self) -> Self {
        match self {
            Self::Shared(text) => Self::Shared(text.apart()),
            Self::Own => Self::Own,
        }
    }
}
