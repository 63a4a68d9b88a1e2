//! Writing the tape.

use super::source::SourceText;
use crate::text::Span;
use crate::yaml::tape::{EventKind, Properties, Style, Tape, TapeEvent, TextRef};

/// A scalar that was read and is not on the tape yet: it may turn out to be the first key of a mapping, whose start goes
/// before it.
#[derive(Clone, Copy)]
pub(super) struct WrittenScalar {
    pub(super) style: Style,
    /// As written, quotes included.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: ScalarText,
}

/// What a scalar says.
#[derive(Clone, Copy)]
pub(super) enum ScalarText {
    /// What is written from here to there.
    Written(usize, usize),
    /// What was added to [`Tape::decoded`] from here on.
    Decoded(usize),
}

/// The tape of one document, and where the document is in the file.
pub(super) struct TapeWriter<'t> {
    tape: &'t mut Tape,
    base: u32,
    /// The anchor of the next node, as [`TapeEvent::properties`] numbers it.
    properties: u32,
    /// Where the last token ends: block collections end there.
    pub(super) last_end: usize,
}

impl<'t> TapeWriter<'t> {
    pub(super) fn new(tape: &'t mut Tape, base: u32) -> Self {
        Self { tape, base, properties: 0, last_end: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tape.events.is_empty()
    }

    /// The text of scalars that differs from the file's, to be added to.
    pub(super) fn decoded(&mut self) -> &mut String {
        &mut self.tape.decoded
    }

    fn offset(&self, at: usize) -> u32 {
        self.base + at as u32
    }

    #[inline]
    fn push(&mut self, kind: EventKind, start: usize, end: usize, text: TextRef) {
        let (start, end) = (self.offset(start), self.offset(end));
        let properties = std::mem::take(&mut self.properties);
        self.tape.events.push(TapeEvent { kind, start, end, text, properties });
    }

    /// Writes a scalar, which is the last token then.
    #[inline]
    pub(super) fn scalar(&mut self, scalar: WrittenScalar) {
        let text = match scalar.text {
            ScalarText::Written(start, end) => self.written(start, end),
            ScalarText::Decoded(start) => {
                TextRef { start: start as u32, end: self.tape.decoded.len() as u32, decoded: true }
            }
        };
        self.last_end = scalar.end;
        self.push(EventKind::Scalar(scalar.style), scalar.start, scalar.end, text);
    }

    fn written(&self, start: usize, end: usize) -> TextRef {
        TextRef { start: self.offset(start), end: self.offset(end), decoded: false }
    }

    /// Whether the next node has an anchor.
    pub(super) fn has_anchor(&self) -> bool {
        self.properties != 0
    }

    /// The next node has the anchor whose `&` is at `start`.
    pub(super) fn anchor(&mut self, start: usize, end: usize) {
        self.last_end = end;
        let anchor = Some(self.written(start + 1, end));
        self.tape.properties.push(Properties { anchor, tag: None });
        self.properties = self.tape.properties.len() as u32;
    }

    /// Writes the alias whose `*` is at `start`.
    pub(super) fn alias(&mut self, start: usize, end: usize) {
        self.last_end = end;
        self.tape.has_aliases = true;
        self.push(EventKind::Alias, start, end, self.written(start + 1, end));
    }

    /// Notes that a line `...` ended the document.
    pub(super) fn marked_end(&mut self) {
        self.tape.ended_by_marker = true;
    }

    /// Writes a value that is left out after the mark that ends at `at`.
    pub(super) fn left_out(&mut self, at: usize) {
        self.push(EventKind::Scalar(Style::Plain), at, at, TextRef::default());
    }

    /// Writes the start or the end of a block collection, which has no token of its own.
    pub(super) fn block(&mut self, kind: EventKind, at: usize) {
        self.push(kind, at, at, TextRef::default());
    }

    /// Writes a bracket of a flow collection.
    pub(super) fn bracket(&mut self, kind: EventKind, at: usize) {
        self.last_end = at + 1;
        self.push(kind, at, at + 1, TextRef::default());
    }

    /// Writes the comment at `at`, and returns the line break that ends it.
    pub(super) fn comment(&mut self, source: SourceText<'_>, at: usize) -> usize {
        let end = source.line_end(at);
        self.tape.comments.push(Span::new(self.offset(at), self.offset(end)));
        end
    }
}
