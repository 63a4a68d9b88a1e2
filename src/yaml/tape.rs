//! The tape: one document as a flat list of events, the interface between a parser and [`super::compose`].
//!
//! A parser only says where nodes begin and end and what their text is; what the text *means* is decided once, when the
//! tape is composed. Any parser that writes the same tape can stand in for another. Offsets are absolute in the file.

use super::document::Quirk;
use super::growth::push;
use super::limits::MAX_OFFSET;
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

/// All of them, by the number that an event writes.
const KINDS: [EventKind; 13] = [
    EventKind::Scalar(Style::Plain),
    EventKind::Scalar(Style::Single),
    EventKind::Scalar(Style::Double),
    EventKind::Scalar(Style::Block),
    EventKind::Scalar(Style::JsonWord),
    EventKind::MapStart { flow: false },
    EventKind::MapStart { flow: true },
    EventKind::MapEnd,
    EventKind::SeqStart { flow: false },
    EventKind::SeqStart { flow: true },
    EventKind::SeqEnd,
    EventKind::Alias,
    EventKind::LeftOut,
];

impl EventKind {
    fn number(self) -> u32 {
        match self {
            Self::Scalar(style) => style as u32,
            Self::MapStart { flow } => 5 + u32::from(flow),
            Self::MapEnd => 7,
            Self::SeqStart { flow } => 8 + u32::from(flow),
            Self::SeqEnd => 10,
            Self::Alias => 11,
            Self::LeftOut => 12,
        }
    }
}

/// One event, in twelve bytes: there are millions of them, one for each byte of some texts. What most do not have is in a list of
/// its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapeEvent {
    /// Where the token begins; the highest two bits are the lower ones of the kind's number.
    start: u32,
    /// Where it ends, and the higher ones.
    end: u32,
    /// Index into [`Tape::additions`] plus one; 0 is none.
    addition: u32,
}

/// The bits of a place in a text.
const PLACE: u32 = MAX_OFFSET - 1;
const PLACE_BITS: u32 = PLACE.count_ones();

/// What an event has besides its token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addition {
    text: TextRef,
    /// Index into [`Tape::properties`] plus one; 0 is none.
    properties: u32,
}

impl TapeEvent {
    /// An event without anchor and tag, whose text is as it is written.
    #[inline]
    pub(super) fn new(kind: EventKind, start: u32, end: u32) -> Self {
        let number = kind.number();
        Self {
            start: start & PLACE | number << PLACE_BITS,
            end: end & PLACE | number >> 2 << PLACE_BITS,
            addition: 0,
        }
    }

    /// What begins, ends or is here.
    #[inline]
    pub(super) fn kind(&self) -> EventKind {
        KINDS[(self.start >> PLACE_BITS | self.end >> PLACE_BITS << 2) as usize]
    }

    /// Where the token begins.
    #[inline]
    pub(super) fn start(&self) -> u32 {
        self.start & PLACE
    }

    /// Where the token ends.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.end & PLACE
    }

    /// The token as written: quotes included, a block scalar from its `|` or `>`, without anchor and tag.
    pub(super) fn span(&self) -> Span {
        Span::new(self.start(), self.end())
    }

    /// What is written between the quotes, after the `*`, or as the token.
    pub(super) fn written(&self) -> TextRef {
        let (start, end) = match self.kind() {
            EventKind::Scalar(Style::Plain | Style::JsonWord) => (self.start(), self.end()),
            EventKind::Scalar(Style::Single | Style::Double) => {
                (self.start() + 1, self.end().saturating_sub(1))
            }
            EventKind::Alias => (self.start() + 1, self.end()),
            _ => return TextRef::default(),
        };
        TextRef {
            start,
            end,
            decoded: false,
        }
    }
}

/// The anchor and the tag before a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Properties {
    /// The anchor's name without `&`.
    pub(super) anchor: Option<Span>,
    /// Index into [`Tape::tags`] plus one; 0 is none.
    pub(super) tag: u32,
}

/// A tag as go-yaml resolves it, `tag:yaml.org,2002:str` for `!!str`, in two parts: a document may say a long prefix once, and mean
/// it a million times.
#[derive(Clone, Copy, Debug)]
struct Tag {
    /// Index into [`Tape::tag_prefixes`].
    prefix: u32,
    /// What follows it, in [`Tape::tag_suffixes`].
    suffix: Span,
}

/// One parsed document.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) events: Vec<TapeEvent>,
    /// Text that differs from the file's.
    pub(super) decoded: String,
    pub(super) properties: Vec<Properties>,
    tags: Vec<Tag>,
    tag_prefixes: Vec<Box<str>>,
    tag_suffixes: String,
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
    /// An empty tape of a parser that counts no depth.
    pub(super) fn that_may_be_deep() -> Self {
        Self {
            may_be_deep: true,
            ..Self::default()
        }
    }

    /// Forgets everything but the memory.
    pub(super) fn clear(&mut self) {
        let Self {
            events,
            decoded,
            properties,
            tags,
            tag_prefixes,
            tag_suffixes,
            additions,
            quirks,
            comments,
            ..
        } = self;
        events.clear();
        decoded.clear();
        properties.clear();
        tags.clear();
        tag_prefixes.clear();
        tag_suffixes.clear();
        additions.clear();
        quirks.clear();
        comments.clear();
        (self.dropped_from, self.ended_by_marker) = (None, false);
        (self.has_aliases, self.may_be_deep) = (false, false);
    }

    /// Adds an event with its text, and the number of its anchor and tag: their index plus one, or 0.
    pub(super) fn push(
        &mut self,
        kind: EventKind,
        start: u32,
        end: u32,
        text: TextRef,
        properties: u32,
    ) {
        let mut event = TapeEvent::new(kind, start, end);
        if properties != 0 || text != event.written() {
            push(&mut self.additions, Addition { text, properties });
            event.addition = self.additions.len() as u32;
        }
        self.add(event);
    }

    /// Adds an event whose text is as it is written.
    #[inline]
    pub(super) fn add(&mut self, event: TapeEvent) {
        push(&mut self.events, event);
    }

    /// Adds an anchor and a tag. Returns their index plus one.
    pub(super) fn add_properties(&mut self, properties: Properties) -> u32 {
        push(&mut self.properties, properties);
        self.properties.len() as u32
    }

    /// Adds a prefix of tags. Returns its index.
    pub(super) fn add_tag_prefix(&mut self, prefix: Box<str>) -> u32 {
        self.tag_prefixes.push(prefix);
        self.tag_prefixes.len() as u32 - 1
    }

    /// Adds a tag. Returns its index plus one.
    pub(super) fn add_tag(&mut self, prefix: u32, suffix: &str) -> u32 {
        let start = self.tag_suffixes.len() as u32;
        self.tag_suffixes.push_str(suffix);
        push(
            &mut self.tags,
            Tag {
                prefix,
                suffix: Span::new(start, self.tag_suffixes.len() as u32),
            },
        );
        self.tags.len() as u32
    }

    fn addition(&self, event: &TapeEvent) -> Option<Addition> {
        self.additions
            .get((event.addition as usize).checked_sub(1)?)
            .copied()
    }

    /// Where the text of an event is.
    pub(super) fn text_ref(&self, event: &TapeEvent) -> TextRef {
        self.addition(event)
            .map_or_else(|| event.written(), |addition| addition.text)
    }

    /// The text of an event; `file` is the text of the whole file.
    pub(super) fn text_of<'a>(&'a self, file: &'a str, event: &TapeEvent) -> &'a str {
        self.text(file, self.text_ref(event))
    }

    /// The text that `text` names; `file` is the text of the whole file.
    pub(super) fn text<'a>(&'a self, file: &'a str, text: TextRef) -> &'a str {
        let source = if text.decoded {
            self.decoded.as_str()
        } else {
            file
        };
        source
            .get(text.start as usize..text.end as usize)
            .unwrap_or_default()
    }

    /// The name of an event's anchor.
    pub(super) fn anchor(&self, event: &TapeEvent) -> Option<Span> {
        self.properties(event)?.anchor
    }

    /// The tag of an event, in its two parts.
    pub(super) fn tag(&self, event: &TapeEvent) -> Option<[&str; 2]> {
        let number = self.properties(event)?.tag;
        let tag = self.tags.get((number as usize).checked_sub(1)?)?;
        Some([
            self.tag_prefixes.get(tag.prefix as usize)?,
            self.tag_suffixes.get(tag.suffix.range())?,
        ])
    }

    /// Whether an event has an anchor or a tag.
    pub(super) fn has_properties(&self, event: &TapeEvent) -> bool {
        self.properties(event).is_some()
    }

    fn properties(&self, event: &TapeEvent) -> Option<&Properties> {
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
        Self {
            at,
            problem: problem.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_small_and_says_what_it_was_told() {
        assert_eq!(size_of::<TapeEvent>(), 12);
        for (kind, place) in KINDS
            .into_iter()
            .flat_map(|kind| [0, 7, PLACE].map(|place| (kind, place)))
        {
            let event = TapeEvent::new(kind, place, PLACE - place);
            assert_eq!(
                (event.kind(), event.span()),
                (kind, Span::new(place, PLACE - place))
            );
        }
    }
}
