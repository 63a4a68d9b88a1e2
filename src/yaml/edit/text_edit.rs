//! An edit of a text.

use crate::text::Span;

/// A piece of text to put in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; empty where something is added.
    pub span: Span,
    /// What takes its place.
    pub replacement: String,
    /// The mapping or list whose members change.
    pub within: Span,
}
