//! Where a text is that a parser found.

/// A piece of text: of the file if it is as written, of the decoded text (the tape's, then the tree's) where escapes or folding
/// changed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextRef {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) decoded: bool,
}
