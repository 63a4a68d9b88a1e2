//! An edit of a text.

use crate::text::Span;

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
