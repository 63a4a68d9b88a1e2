//! Reads typed fields as Go's JSON decoder fills `TypeMeta` and `ObjectMeta`.
//!
//! Go leaves a field at its zero value on `null` and rejects any other type. A rejection becomes a
//! [`DecodeError`] with its place. The rest of the object is still read, so that one wrong field
//! hides nothing else. Field names are only formatted for errors.

use std::borrow::Cow;
use std::fmt;

use super::Spanned;
use super::time::is_time;
use crate::text::{Span, floor};
use crate::yaml::{Entry, NodeId, Value};

/// The type that Kubernetes expects in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A string.
    String,
    /// A boolean.
    Bool,
    /// A whole number.
    Integer,
    /// An RFC 3339 time.
    Time,
    /// A mapping.
    Object,
    /// A sequence.
    Array,
}

impl Expected {
    /// Returns the description for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Bool => "a boolean",
            Self::Integer => "a whole number",
            Self::Time => "a time like 2006-01-02T15:04:05Z",
            Self::Object => "a mapping",
            Self::Array => "a list",
        }
    }
}

/// A field of the wrong type: every client rejects the object, or, if the field is in a template, the API server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The field: `metadata.ownerReferences[0].uid`.
    pub field: String,
    /// The type that the API expects there.
    pub expected: Expected,
    /// The type that is there: `number`, `string`, ….
    pub found: &'static str,
    /// Where it is.
    pub span: Span,
    /// The value that is there.
    pub(crate) node: NodeId,
}

/// Reads typed fields and collects the errors.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) errors: Vec<DecodeError>,
}

/// The maximum length of a name, far above what the API server accepts in a name (253 bytes) or a finalizer (317).
pub(super) const MAX_NAME: usize = 1024;

/// Truncates a name that is too long, since every message about its object repeats the name.
pub(super) fn limited(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_NAME {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{}…", &name[..floor(name, MAX_NAME)]))
}

impl Decoder {
    pub(super) fn reject(
        &mut self,
        field: impl fmt::Display,
        expected: Expected,
        value: Value<'_>,
    ) {
        self.errors.push(DecodeError {
            field: field.to_string(),
            expected,
            found: value.type_name(),
            span: value.span(),
            node: value.id(),
        });
    }

    /// Rejects a value that does not have the expected type, unless it is null.
    fn check(
        &mut self,
        field: impl fmt::Display,
        expected: Expected,
        fits: bool,
        value: Value<'_>,
    ) {
        if !fits && !value.is_null() {
            self.reject(field, expected, value);
        }
    }

    /// Reads a string field; `None` if it is null or of another type.
    pub(super) fn string(
        &mut self,
        field: impl fmt::Display,
        entry: Entry<'_>,
    ) -> Option<Spanned<String>> {
        let text = limited(self.text(field, entry.value)?);
        Some(Spanned::of_entry(entry, text.into_owned()))
    }

    /// Returns the text without copying or truncating it.
    pub(super) fn text<'a>(
        &mut self,
        field: impl fmt::Display,
        value: Value<'a>,
    ) -> Option<&'a str> {
        let text = value.as_str();
        self.check(field, Expected::String, text.is_some(), value);
        text
    }

    pub(super) fn bool(
        &mut self,
        field: impl fmt::Display,
        entry: Entry<'_>,
    ) -> Option<Spanned<bool>> {
        let flag = entry.value.as_bool();
        self.check(field, Expected::Bool, flag.is_some(), entry.value);
        Some(Spanned::of_entry(entry, flag?))
    }

    pub(super) fn integer(&mut self, field: impl fmt::Display, value: Value<'_>) {
        self.check(field, Expected::Integer, value.as_int().is_some(), value);
    }

    /// Checks a `metav1.Time`: null, or a time as Go reads RFC 3339. The empty string is rejected.
    pub(super) fn time(&mut self, field: impl fmt::Display, value: Value<'_>) {
        let fits = value.as_str().is_some_and(is_time);
        self.check(field, Expected::Time, fits, value);
    }

    /// Reads the items of a list of strings; a null item is the empty string, as in Go.
    pub(super) fn strings(
        &mut self,
        field: impl fmt::Display,
        value: Value<'_>,
    ) -> Vec<Spanned<String>> {
        let mut strings = Vec::new();
        for (index, item) in self.items(&field, value).enumerate() {
            let text = self.text(format_args!("{field}[{index}]"), item);
            let text = text.or(item.is_null().then_some(""));
            strings.extend(text.map(|text| Spanned::of_item(item, limited(text).into_owned())));
        }
        // Saves memory: a `Vec` first grows to four items, and every object may have such a list.
        strings.shrink_to_fit();
        strings
    }

    /// Checks a `map[string]string`.
    pub(super) fn string_map(&mut self, field: impl fmt::Display, value: Value<'_>) {
        for entry in self.fields(&field, value) {
            self.text(format_args!("{field}.{}", entry.key), entry.value);
        }
    }

    /// Returns the items of a list; null has none, other types are errors.
    pub(super) fn items<'a, F: fmt::Display>(
        &mut self,
        field: F,
        value: Value<'a>,
    ) -> impl Iterator<Item = Value<'a>> + use<'a, F> {
        self.check(field, Expected::Array, value.is_seq(), value);
        value.items()
    }

    /// Returns the entries of a mapping; null has none, other types are errors.
    pub(super) fn fields<'a, F: fmt::Display>(
        &mut self,
        field: F,
        value: Value<'a>,
    ) -> impl Iterator<Item = Entry<'a>> + use<'a, F> {
        self.check(field, Expected::Object, value.is_map(), value);
        value.entries()
    }

    /// Checks that a value is a list, without reading its items.
    pub(super) fn array(&mut self, field: impl fmt::Display, value: Value<'_>) {
        self.check(field, Expected::Array, value.is_seq(), value);
    }
}
