//! Passing over a collection of which nothing is kept, where nothing has to be said of it.
//!
//! Schemas of custom resources are most of what many repositories contain. They are checked like everything else, and nearly all
//! are right: to see that takes a fraction of the time of composing them. The fast parser does so while it reads them, and writes
//! no more than [`EventKind::LeftOut`]; what else comes on a tape is passed over before it is composed.

use super::scalar;
use super::tape::{EventKind, Style, Tape};
use crate::text::{Span, quick_hash};

/// A collection that was passed over.
pub(super) struct Passed {
    /// Its place in the text, as if it had been composed.
    pub(super) span: Span,
    /// The event that ends it.
    pub(super) last: usize,
}

/// More keys than this in one mapping are left to composing, which finds equal ones in linear time.
const MOST_KEYS: usize = 256;

/// Passes over the collection that begins at the event `first`. `None`: it may contain something that has to be said, or a key that
/// means other than is written; it is for composing. In doubt it is.
pub(super) fn pass(tape: &Tape, file: &str, json: bool, first: usize) -> Option<Passed> {
    let mut passing = Passing::new(json);
    for (last, event) in (first..).zip(tape.events.get(first..)?) {
        let step = match event.kind() {
            _ if tape.has_properties(event) => return None,
            EventKind::Scalar(style) => {
                passing.scalar(style, event.span(), tape.text_of(file, event))
            }
            kind => passing.collection(kind, event.span()),
        };
        match step {
            PassingStep::Inside => {}
            PassingStep::Doubtful => return None,
            PassingStep::Complete(span) => return Some(Passed { span, last }),
        }
    }
    None
}

/// What an event means to a collection that is passed over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PassingStep {
    /// It is inside.
    Inside,
    /// It ends the collection, whose place in the text this is.
    Complete(Span),
    /// Something may have to be said, so the collection is for composing.
    Doubtful,
}

/// A collection while it is passed over.
pub(super) struct Passing {
    json: bool,
    /// Its place so far.
    span: Span,
    /// Whether its first key is to come, at which a block mapping begins.
    begins: bool,
    open: Vec<Enclosing>,
    /// The hashes of the keys of all open mappings, those of the innermost last.
    keys: Vec<u32>,
}

/// A collection around the place that is passed over.
struct Enclosing {
    expects_key: bool,
    /// Of a mapping, where its keys begin.
    keys: Option<usize>,
    /// A bit for each of its keys. A key whose bit is not there yet is new, and most are.
    bits: u64,
}

impl Passing {
    /// Before the collection.
    pub(super) fn new(json: bool) -> Self {
        let (open, keys) = (Vec::with_capacity(16), Vec::with_capacity(64));
        Self {
            json,
            span: Span::default(),
            begins: false,
            open,
            keys,
        }
    }

    /// Takes notice of the beginning or the end of a collection, or of an alias.
    pub(super) fn collection(&mut self, kind: EventKind, span: Span) -> PassingStep {
        if self.open.is_empty() {
            self.span = span;
        }
        self.begins = self.open.is_empty() && kind == EventKind::MapStart { flow: false };
        self.span.end = self.span.end.max(span.end);
        let is_key = self.open.last().is_some_and(|open| open.expects_key);
        match kind {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } if is_key => {
                PassingStep::Doubtful
            }
            EventKind::MapStart { .. } => self.open(Enclosing {
                expects_key: true,
                keys: Some(self.keys.len()),
                bits: 0,
            }),
            EventKind::SeqStart { .. } => self.open(Enclosing {
                expects_key: false,
                keys: None,
                bits: 0,
            }),
            EventKind::MapEnd | EventKind::SeqEnd => {
                let Some(closed) = self.open.pop() else {
                    return PassingStep::Doubtful;
                };
                closed
                    .keys
                    .into_iter()
                    .for_each(|own| self.keys.truncate(own));
                if self.open.is_empty() {
                    PassingStep::Complete(self.span)
                } else {
                    self.value()
                }
            }
            EventKind::LeftOut => self.value(),
            EventKind::Scalar(_) | EventKind::Alias => PassingStep::Doubtful,
        }
    }

    /// Takes notice of a scalar.
    #[inline]
    pub(super) fn scalar(&mut self, style: Style, span: Span, text: &str) -> PassingStep {
        if std::mem::take(&mut self.begins) {
            self.span.start = span.start;
        }
        self.span.end = self.span.end.max(span.end);
        let Some(around) = self.open.last_mut() else {
            return PassingStep::Doubtful;
        };
        let Some(own) = around.keys.filter(|_| around.expects_key) else {
            return if is_json_value(text, style, self.json) {
                self.value()
            } else {
                PassingStep::Doubtful
            };
        };
        around.expects_key = false;
        let Some(key) = key_hash(text, style) else {
            return PassingStep::Doubtful;
        };
        let bit = 1 << (key % u64::BITS);
        let may_be_there = around.bits & bit != 0;
        around.bits |= bit;
        let own = &self.keys[own..];
        if own.len() >= MOST_KEYS || (may_be_there && own.contains(&key)) {
            return PassingStep::Doubtful;
        }
        self.keys.push(key);
        PassingStep::Inside
    }

    fn open(&mut self, collection: Enclosing) -> PassingStep {
        self.open.push(collection);
        PassingStep::Inside
    }

    /// After a value.
    fn value(&mut self) -> PassingStep {
        match self.open.last_mut() {
            Some(around) => around.expects_key = around.keys.is_some(),
            None => return PassingStep::Doubtful,
        }
        PassingStep::Inside
    }
}

/// The hash of a key that is nothing but text.
#[inline]
fn key_hash(text: &str, style: Style) -> Option<u32> {
    let is_text = style != Style::Plain || (text != "<<" && scalar::is_text(text));
    is_text.then(|| quick_hash(text.as_bytes()) as u32)
}

/// Whether a value can be said in JSON.
#[inline]
fn is_json_value(text: &str, style: Style, json: bool) -> bool {
    match (style, text.as_bytes().first()) {
        // Only what begins like a number can be one that JSON has not.
        (Style::Plain, Some(b'0'..=b'9' | b'+' | b'-' | b'.')) => {
            scalar::resolve(text, true, None).is_ok_and(|value| value.through_json(json).is_ok())
        }
        (Style::JsonWord, _) => scalar::resolve_json(text).is_some(),
        (Style::Plain | Style::Single | Style::Double | Style::Block, _) => true,
    }
}
