//! The tape: one document as a flat list of events, the interface between a parser and [`super::compose`].
//!
//! A parser only says where nodes begin and end and what their text is; what the text *means* is decided once, when the
//! tape is composed. Any parser that writes the same tape can stand in for another. Offsets are absolute in the file.

use super::document::Quirk;
pub(super) use super::text_ref::TextRef;
use crate::text::Span;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Unquoted; also a value that is left out.
    Plain,
    /// `'…'`.
    Single,
    /// `"…"`.
    Double,
    /// `|` or `>`.
    Block,
    /// A bare JSON word: `true`, `false`, `null` or a number. Only the JSON reader writes it.
    JsonWord,
}

/// What begins, ends or is at this place of the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// A mapping begins; keys and values alternate until its end.
    MapStart { flow: bool },
    /// The innermost mapping ends.
    MapEnd,
    /// A sequence begins.
    SeqStart { flow: bool },
    /// The innermost sequence ends.
    SeqEnd,
    /// A scalar.
    Scalar(Style),
    /// An alias; its text is the anchor's name.
    Alias,
    /// A mapping that the parser was told to leave out, and that it checked.
    LeftOut,
}

/// One event. `start..end` is the token as written: quotes included, a block scalar from its `|` or `>`, without anchor and tag.
/// There are millions of them: what most do not have is in a list of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapeEvent {
    pub(super) kind: EventKind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index into [`Tape::additions`] plus one; 0 is none.
    addition: u32,
}

/// What an event has besides its token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addition {
    text: TextRef,
    /// Index into [`Tape::properties`] plus one; 0 is none.
    properties: u32,
}

impl TapeEvent {
    /// An event without anchor and tag, whose text is as it is written.
    pub(super) fn new(kind: EventKind, start: u32, end: u32) -> Self {
        Self { kind, start, end, addition: 0 }
    }

    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }

    /// What is written between the quotes, after the `*`, or as the token.
    pub(super) fn written(&self) -> TextRef {
        let (start, end) = match self.kind {
            EventKind::Scalar(Style::Plain | Style::JsonWord) => (self.start, self.end),
            EventKind::Scalar(Style::Single | Style::Double) => (self.start + 1, self.end.saturating_sub(1)),
            EventKind::Alias => (self.start + 1, self.end),
            _ => return TextRef::default(),
        };
        TextRef { start, end, decoded: false }
    }
}

/// The anchor and the tag before a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Properties {
    /// The anchor's name without `&`.
    pub(super) anchor: Option<TextRef>,
    /// The tag as go-yaml resolves it, `tag:yaml.org,2002:str` for `!!str`.
    pub(super) tag: Option<Box<str>>,
}

/// Events of a tape that is long.
const LONG: usize = 1 << 20;

/// One parsed document.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) events: Vec<TapeEvent>,
    /// Text that differs from the file's.
    pub(super) decoded: String,
    pub(super) properties: Vec<Properties>,
    pub(super) additions: Vec<Addition>,
    /// Where the text begins that Kubernetes never looks at.
    pub(super) dropped_from: Option<u32>,
    /// Whether the document ended with a line `...`.
    pub(super) ended_by_marker: bool,
    /// What Kubernetes accepts although YAML 1.2 does not.
    pub(super) quirks: Vec<(Quirk, Span)>,
    /// Whether there is an alias.
    pub(super) has_aliases: bool,
    /// Whether collections may be nested more deeply than Kubernetes reads.
    pub(super) may_be_deep: bool,
    /// Where comments are, up to where the grammar stopped.
    pub(super) comments: Vec<Span>,
}

impl Tape {
    /// Forgets everything but the memory.
    pub(super) fn clear(&mut self) {
        let Self { events, decoded, properties, additions, quirks, comments, .. } = self;
        events.clear();
        decoded.clear();
        properties.clear();
        additions.clear();
        quirks.clear();
        comments.clear();
        (self.dropped_from, self.ended_by_marker) = (None, false);
        (self.has_aliases, self.may_be_deep) = (false, false);
    }

    /// Adds an event with its text, and the number of its anchor and tag: their index plus one, or 0.
    pub(super) fn push(&mut self, kind: EventKind, start: u32, end: u32, text: TextRef, properties: u32) {
        let mut event = TapeEvent::new(kind, start, end);
        if properties != 0 || text != event.written() {
            self.additions.push(Addition { text, properties });
            event.addition = self.additions.len() as u32;
        }
        self.add(event);
    }

    /// Adds an event whose text is as it is written. A long tape does not double its memory.
    #[inline]
    pub(super) fn add(&mut self, event: TapeEvent) {
        let length = self.events.len();
        if length == self.events.capacity() && length >= LONG {
            self.events.reserve_exact(length / 4);
        }
        self.events.push(event);
    }

    fn addition(&self, event: &TapeEvent) -> Option<Addition> {
        self.additions.get((event.addition as usize).checked_sub(1)?).copied()
    }

    /// Where the text of an event is.
    pub(super) fn text_ref(&self, event: &TapeEvent) -> TextRef {
        self.addition(event).map_or_else(|| event.written(), |addition| addition.text)
    }

    /// The text of an event; `file` is the text of the whole file.
    pub(super) fn text_of<'a>(&'a self, file: &'a str, event: &TapeEvent) -> &'a str {
        self.text(file, self.text_ref(event))
    }

    /// The text that `text` names; `file` is the text of the whole file.
    pub(super) fn text<'a>(&'a self, file: &'a str, text: TextRef) -> &'a str {
        let source = if text.decoded { self.decoded.as_str() } else { file };
        source.get(text.start as usize..text.end as usize).unwrap_or_default()
    }

    /// The anchor and tag of an event.
    pub(super) fn properties(&self, event: &TapeEvent) -> Option<&Properties> {
        let number = self.addition(event)?.properties;
        self.properties.get((number as usize).checked_sub(1)?)
    }
}

/// Why a document cannot be parsed, in go-yaml's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// Where, as an offset in the file.
    pub(super) at: u32,
    /// go-yaml's problem text, such as `did not find expected key`.
    pub(super) problem: std::borrow::Cow<'static, str>,
}

impl SyntaxError {
    pub(super) fn new(at: u32, problem: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self { at, problem: problem.into() }
    }
}
