//! Values and keys with their places.

use crate::text::Span;
use crate::yaml::{Entry, Value};

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

/// A key that the type does not have: strict clients reject it, others silently drop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The key.
    pub name: String,
    /// Where the key is.
    pub span: Span,
}

impl UnknownField {
    pub(super) fn new(entry: Entry<'_>) -> Self {
        Self {
            name: entry.key.to_owned(),
            span: entry.key_span,
        }
    }
}

impl<T> Spanned<T> {
    /// Returns `value`, which was read from `entry`, with the places of the entry.
    pub(super) fn of_entry(entry: Entry<'_>, value: T) -> Self {
        Self {
            value,
            key_span: entry.key_span,
            span: entry.value.span(),
        }
    }

    /// Returns `value`, which was read from `item` of a list, with the place of the item.
    pub(super) fn of_item(item: Value<'_>, value: T) -> Self {
        Self {
            value,
            key_span: item.span(),
            span: item.span(),
        }
    }

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
    /// Returns the text of an entry; `None` if it is empty or not a string.
    pub(super) fn filled(entry: Entry<'_>) -> Option<Self> {
        let text = entry.value.as_str().filter(|text| !text.is_empty())?;
        Some(Self::of_entry(entry, text.to_owned()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}
