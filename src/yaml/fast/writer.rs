//! Writing the tape.

use super::refused::Refused;
use super::source::SourceText;
use crate::text::Span;
use crate::yaml::passing::{Passing, PassingStep};
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

impl ScalarText {
    fn of<'s>(self, source: SourceText<'s>, tape: &'s Tape) -> &'s str {
        match self {
            Self::Written(start, end) => source.slice(start, end),
            Self::Decoded(start) => tape.decoded.get(start..).unwrap_or_default(),
        }
    }

    /// Whether it is `wanted`. Most texts differ in their length.
    fn is(self, wanted: &str, source: SourceText<'_>, tape: &Tape) -> bool {
        let length = match self {
            Self::Written(start, end) => end - start,
            Self::Decoded(start) => tape.decoded.len() - start,
        };
        length == wanted.len() && self.of(source, tape) == wanted
    }
}

/// What is left out may contain something that has to be said: it has to be on the tape.
pub(super) const IN_DOUBT: Refused = Refused("a mapping that cannot be left out");

/// The tape of one document, and where the document is in the file.
pub(super) struct TapeWriter<'t> {
    source: SourceText<'t>,
    tape: &'t mut Tape,
    base: u32,
    /// The anchor of the next node, as [`Tape::push`] numbers it.
    properties: u32,
    /// Where the last token ends: block collections end there.
    pub(super) last_end: usize,
    /// Mappings under these keys are not written.
    left_out: &'t [&'t str],
    /// The event that is left out if it begins a mapping.
    awaited: Option<usize>,
    /// The mapping that is being left out.
    passing: Option<Passing>,
    /// Whether something is or was left out.
    leaves_out: bool,
    is_in_doubt: bool,
}

impl<'t> TapeWriter<'t> {
    pub(super) fn new(
        source: SourceText<'t>,
        base: u32,
        left_out: &'t [&'t str],
        tape: &'t mut Tape,
    ) -> Self {
        Self {
            source,
            tape,
            base,
            properties: 0,
            last_end: 0,
            left_out,
            awaited: None,
            passing: None,
            leaves_out: false,
            is_in_doubt: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tape.events.is_empty() && self.passing.is_none()
    }

    /// Whether all that was left out may be.
    #[inline]
    pub(super) fn is_sure(&self) -> Result<(), Refused> {
        if self.is_in_doubt {
            Err(IN_DOUBT)
        } else {
            Ok(())
        }
    }

    /// The text of scalars that differs from the file's, to be added to.
    pub(super) fn decoded(&mut self) -> &mut String {
        &mut self.tape.decoded
    }

    /// Whether somebody may ask for the text of the block scalar that comes, or for unquoted text of several lines. Where it is passed
    /// over nobody does: such a text is none that JSON lacks, and no key.
    pub(super) fn keeps_text(&self) -> bool {
        self.passing.is_none()
    }

    fn offset(&self, at: usize) -> u32 {
        self.base + at as u32
    }

    /// Writes an event whose text is as it is written.
    #[inline]
    fn push(&mut self, kind: EventKind, start: usize, end: usize) {
        let (start, end) = (self.offset(start), self.offset(end));
        match std::mem::take(&mut self.properties) {
            0 => self.tape.add(TapeEvent::new(kind, start, end)),
            properties => {
                let text = TapeEvent::new(kind, start, end).written();
                self.tape.push(kind, start, end, text, properties);
            }
        }
    }

    /// Writes a scalar, which is the last token then.
    #[inline]
    pub(super) fn scalar(&mut self, scalar: WrittenScalar) {
        if self.passing.is_some() {
            return self.pass_scalar(scalar);
        }
        self.last_end = scalar.end;
        let kind = EventKind::Scalar(scalar.style);
        match scalar.text {
            ScalarText::Written(..) => self.push(kind, scalar.start, scalar.end),
            ScalarText::Decoded(start) => {
                let text = TextRef {
                    start: start as u32,
                    end: self.tape.decoded.len() as u32,
                    decoded: true,
                };
                let (start, end) = (self.offset(scalar.start), self.offset(scalar.end));
                let properties = std::mem::take(&mut self.properties);
                self.tape.push(kind, start, end, text, properties);
            }
        }
    }

    /// Writes a scalar that is a key.
    #[inline]
    pub(super) fn key(&mut self, key: WrittenScalar) {
        if self.passing.is_some() {
            return self.pass_scalar(key);
        }
        self.scalar(key);
        if self
            .left_out
            .iter()
            .any(|left_out| key.text.is(left_out, self.source, self.tape))
        {
            self.awaited = Some(self.tape.events.len());
        }
    }

    fn pass_scalar(&mut self, scalar: WrittenScalar) {
        self.last_end = scalar.end;
        let span = Span::new(self.offset(scalar.start), self.offset(scalar.end));
        let Some(passing) = &mut self.passing else {
            return;
        };
        let step = passing.scalar(scalar.style, span, scalar.text.of(self.source, self.tape));
        if let ScalarText::Decoded(start) = scalar.text {
            self.tape.decoded.truncate(start);
        }
        self.go_on(step);
    }

    /// Writes the beginning or the end of a collection.
    #[inline]
    fn collection(&mut self, kind: EventKind, start: usize, end: usize) {
        if self.passing.is_none() {
            let is_left_out = matches!(kind, EventKind::MapStart { .. })
                && self.awaited == Some(self.tape.events.len());
            // What an alias names has to be on the tape.
            if !is_left_out || !self.tape.properties.is_empty() || self.tape.has_aliases {
                return self.push(kind, start, end);
            }
            self.leaves_out = true;
            self.passing = Some(Passing::new(false));
        }
        let span = Span::new(self.offset(start), self.offset(end));
        let step = self
            .passing
            .as_mut()
            .map_or(PassingStep::Doubtful, |passing| {
                passing.collection(kind, span)
            });
        self.go_on(step);
    }

    /// Passes over a key, and over the unquoted text after it if there is any, each with its place.
    #[inline]
    pub(super) fn pass_entry(&mut self, key: (usize, usize), value: Option<(usize, usize)>) {
        let (source, base) = (self.source, self.base);
        let Some(passing) = &mut self.passing else {
            return;
        };
        let mut pass = |(start, end): (usize, usize)| {
            let span = Span::new(base + start as u32, base + end as u32);
            passing.scalar(Style::Plain, span, source.slice(start, end))
        };
        let steps = (pass(key), value.map_or(PassingStep::Inside, pass));
        self.is_in_doubt |= steps != (PassingStep::Inside, PassingStep::Inside);
        self.last_end = value.map_or(key.1 + 1, |(_, end)| end);
    }

    /// Whether a mapping is being left out.
    #[inline]
    pub(super) fn is_passing(&self) -> bool {
        self.passing.is_some()
    }

    fn go_on(&mut self, step: PassingStep) {
        match step {
            PassingStep::Inside => {}
            PassingStep::Doubtful => self.is_in_doubt = true,
            PassingStep::Complete(Span { start, end }) => {
                self.passing = None;
                self.tape
                    .add(TapeEvent::new(EventKind::LeftOut, start, end));
            }
        }
    }

    /// Whether the next node has an anchor.
    pub(super) fn has_anchor(&self) -> bool {
        self.properties != 0
    }

    /// The next node has the anchor whose `&` is at `start`.
    pub(super) fn anchor(&mut self, start: usize, end: usize) {
        self.last_end = end;
        self.is_in_doubt |= self.leaves_out;
        let anchor = Some(Span::new(self.offset(start + 1), self.offset(end)));
        self.properties = self.tape.add_properties(Properties { anchor, tag: 0 });
    }

    /// Writes the alias whose `*` is at `start`.
    pub(super) fn alias(&mut self, start: usize, end: usize) {
        self.last_end = end;
        self.is_in_doubt |= self.leaves_out;
        self.tape.has_aliases = true;
        self.push(EventKind::Alias, start, end);
    }

    /// Notes that a line `...` ended the document.
    pub(super) fn marked_end(&mut self) {
        self.tape.ended_by_marker = true;
    }

    /// Writes a value that is not written after the mark that ends at `at`.
    pub(super) fn nothing(&mut self, at: usize) {
        let last_end = self.last_end;
        let text = ScalarText::Written(at, at);
        self.scalar(WrittenScalar {
            style: Style::Plain,
            start: at,
            end: at,
            text,
        });
        self.last_end = last_end;
    }

    /// Writes the start or the end of a block collection, which has no token of its own.
    pub(super) fn block(&mut self, kind: EventKind, at: usize) {
        self.collection(kind, at, at);
    }

    /// Writes a bracket of a flow collection.
    pub(super) fn bracket(&mut self, kind: EventKind, at: usize) {
        self.last_end = at + 1;
        self.collection(kind, at, at + 1);
    }

    /// Writes the comment at `at`, and returns the line break that ends it.
    pub(super) fn comment(&mut self, source: SourceText<'_>, at: usize) -> usize {
        let end = source.line_end(at);
        self.tape
            .comments
            .push(Span::new(self.offset(at), self.offset(end)));
        end
    }
}
