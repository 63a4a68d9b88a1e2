//! A value with its place.

use crate::text::Span;

/// A value with the places of its key and of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value as Kubernetes understands it.
    pub value: T,
    /// The place of the key; for items of a list, that of the value.
    pub key_span: Span,
    /// The place of the value, including quotes.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Applies `f` to the value and keeps the places.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: f(self.value),
            key_span: self.key_span,
            span: self.span,
        }
    }
}

impl Spanned<String> {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}
