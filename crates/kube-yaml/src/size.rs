//! Computes the size of an object as JSON before any of it is kept.

use super::event::{Events, Properties, ScalarEvent, StartEvent, SyntaxError};
use super::limits::MAX_REQUEST;
use super::scalar;
use crate::Span;

/// The error for an object that is too large.
pub(super) const TOO_LARGE: &str = "the object is larger than the 3 MiB that an API server takes";

/// Shorter documents are never too large: `a,` is at most four bytes of JSON, `"a",`.
pub(super) const SMALL: usize = MAX_REQUEST / 2;

/// Counts the bytes of a document's JSON. In a list, each item counts on its own, since clients apply the items; a
/// document without a kind is not applied. Repeated keys count twice, although only the last one is sent.
#[derive(Default)]
pub(super) struct SizeCheck {
    size: usize,
    depth: usize,
    /// The offset at which it became too large.
    exceeded: Option<u32>,
    /// Whether the root is a mapping.
    is_map: bool,
    /// The key of the root whose value follows or is being read.
    key: Option<RootKey>,
    /// Whether the kind is that of a list, if there is a kind.
    kind: Option<bool>,
    /// The current item of the list: its offset, and the size before it.
    item: Option<(u32, usize)>,
    /// The first item that no client can apply, because it is too large or not an object.
    unfit: Option<u32>,
    /// Whether the innermost collection is empty so far.
    is_empty: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RootKey {
    Kind,
    Items,
    Other,
}

impl SizeCheck {
    /// Returns the error for an object that is too large for any API server.
    pub(super) fn error(&self) -> Option<SyntaxError> {
        let exceeded = self.exceeded?;
        let at = match self.kind {
            None if self.is_map => return None,
            Some(true) => self.unfit?,
            _ => exceeded,
        };
        Some(SyntaxError::new(at, TOO_LARGE))
    }

    fn add(&mut self, bytes: usize, at: u32) {
        self.size += bytes;
        if self.size > MAX_REQUEST {
            self.exceeded.get_or_insert(at);
        }
    }

    fn is_in_items(&self) -> bool {
        self.depth == 2 && self.key == Some(RootKey::Items)
    }

    /// Records a node of `bytes` bytes; `text` is that of a scalar.
    fn record(&mut self, is_map: bool, start: u32, bytes: usize, text: Option<&str>) {
        self.add(bytes, start);
        self.is_empty = false;
        match self.depth {
            0 => self.is_map = is_map,
            1 if self.is_map => self.record_member(text.unwrap_or_default()),
            _ => {}
        }
    }

    /// Records a key or a value of the root.
    fn record_member(&mut self, text: &str) {
        match self.key {
            None => {
                self.key = Some(match text {
                    "kind" => RootKey::Kind,
                    "items" => RootKey::Items,
                    _ => RootKey::Other,
                });
            }
            Some(RootKey::Kind) => {
                self.kind.get_or_insert(text.ends_with("List"));
            }
            Some(RootKey::Items | RootKey::Other) => {}
        }
    }

    /// Records the end of a value of the root.
    fn end_member(&mut self, was_key: bool) {
        if self.depth == 1 && !was_key {
            self.key = None;
        }
    }
}

impl Events for SizeCheck {
    fn scalar(&mut self, scalar: ScalarEvent<'_>, properties: &Properties<'_>) {
        // A number may be shorter in JSON, and a tag may change the type of text.
        let is_text = properties.is_empty() && scalar::is_text_as(scalar.style, scalar.text);
        let bytes = if is_text { scalar.text.len() + 3 } else { 2 };
        if self.is_in_items() {
            self.unfit.get_or_insert(scalar.span.start);
        }
        let was_key = self.key.is_none();
        self.record(false, scalar.span.start, bytes, Some(scalar.text));
        self.end_member(was_key);
    }

    fn start(&mut self, start: StartEvent, _: &Properties<'_>) {
        if self.is_in_items() {
            self.item = Some((start.span.start, self.size));
        }
        self.record(start.is_map, start.span.start, 2, None);
        self.depth += 1;
        self.is_empty = true;
    }

    fn end(&mut self, end: Span) {
        self.depth = self.depth.saturating_sub(1);
        // A collection ends with a bracket instead of the comma after its last member.
        self.add(usize::from(self.is_empty), end.start);
        if self.is_in_items()
            && let Some((start, before)) = self.item.take()
            && (self.is_empty || self.size - before > MAX_REQUEST)
        {
            self.unfit.get_or_insert(start);
        }
        self.is_empty = false;
        self.end_member(false);
    }

    fn alias(&mut self, span: Span, _: &str) {
        let was_key = self.key.is_none();
        self.record(false, span.start, 2, None);
        self.end_member(was_key);
    }
}
