//! An edit of a text.

use crate::text::Span;

/// A piece of text to put in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The replaced text; empty where something is added.
    pub span: Span,
    /// The new text.
    pub replacement: String,
    /// The mapping or list whose members change.
    pub within: Span,
}
