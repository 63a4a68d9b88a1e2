//! A fact with its place.

use crate::text::Span;

/// A value with the place of its key and of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value as Kubernetes understands it.
    pub value: T,
    /// The key; the value's own place for items of a list.
    pub key_span: Span,
    /// The value, quotes included.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Returns the place with another view of the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: f(self.value),
            key_span: self.key_span,
            span: self.span,
        }
    }
}

impl Spanned<String> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}
