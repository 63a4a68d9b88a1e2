//! Passing over a collection of which nothing is kept, where nothing has to be said of it.
//!
//! Schemas of custom resources are most of what many repositories contain. They are checked like everything else, and nearly all
//! are right: to see that takes a fraction of the time of composing them.

use crate::text::Span;
use crate::yaml::keys::quick_hash;
use crate::yaml::scalar::{self, Scalar};
use crate::yaml::tape::{EventKind, Style, Tape};

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
    let mut open: Vec<Enclosing> = Vec::with_capacity(16);
    // The hashes of the keys of all open mappings, those of the innermost last.
    let mut keys: Vec<u32> = Vec::with_capacity(64);
    let [start, inside, ..] = tape.events.get(first..)? else { return None };
    let mut span = start.span();
    // A block mapping begins at its first key.
    if start.kind == (EventKind::MapStart { flow: false }) && matches!(inside.kind, EventKind::Scalar(_)) {
        span.start = inside.start;
    }
    for (at, event) in (first..).zip(&tape.events[first..]) {
        if event.properties != 0 {
            return None;
        }
        span.end = span.end.max(event.end);
        let is_key = open.last().is_some_and(|open| open.expects_key);
        match event.kind {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } if is_key => return None,
            EventKind::MapStart { .. } => open.push(Enclosing { expects_key: true, keys: Some(keys.len()) }),
            EventKind::SeqStart { .. } => open.push(Enclosing { expects_key: false, keys: None }),
            EventKind::Scalar(style) => {
                let text = tape.text(file, event.text);
                let around = open.last_mut()?;
                match around.keys {
                    Some(own) if is_key => {
                        let key = key_hash(text, style)?;
                        if keys[own..].contains(&key) || keys.len() - own == MOST_KEYS {
                            return None;
                        }
                        keys.push(key);
                        around.expects_key = false;
                        continue;
                    }
                    _ if !is_json_value(text, style, json) => return None,
                    _ => around.expects_key = around.keys.is_some(),
                }
            }
            EventKind::MapEnd | EventKind::SeqEnd => {
                if let Some(own) = open.pop()?.keys {
                    keys.truncate(own);
                }
                let Some(around) = open.last_mut() else { return Some(Passed { span, last: at }) };
                around.expects_key = around.keys.is_some();
            }
            EventKind::Alias => return None,
        }
    }
    None
}

/// A collection around the place that is passed over.
struct Enclosing {
    expects_key: bool,
    /// Of a mapping, where its keys begin.
    keys: Option<usize>,
}

/// The hash of a key that is nothing but text.
fn key_hash(text: &str, style: Style) -> Option<u32> {
    let is_text =
        style != Style::Plain || (text != "<<" && matches!(scalar::resolve(text, true, None), Ok(Scalar::Text(_))));
    is_text.then(|| quick_hash(text) as u32)
}

/// Whether a value can be said in JSON.
fn is_json_value(text: &str, style: Style, json: bool) -> bool {
    match style {
        // Only what begins like a number can be one that JSON has not.
        Style::Plain if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) => {
            true
        }
        Style::Plain => scalar::resolve(text, true, None).is_ok_and(|value| value.through_json(json).is_ok()),
        Style::JsonWord => scalar::resolve_json(text).is_some(),
        Style::Single | Style::Double | Style::Block => true,
    }
}

/// Whether the root is a mapping without that key.
pub(super) fn is_mapping_without(tape: &Tape, file: &str, wanted: &str) -> bool {
    let Some(EventKind::MapStart { .. }) = tape.events.first().map(|event| event.kind) else { return false };
    let (mut depth, mut is_key) = (0_usize, true);
    for event in &tape.events {
        match event.kind {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } => depth += 1,
            EventKind::MapEnd | EventKind::SeqEnd => depth = depth.saturating_sub(1),
            EventKind::Scalar(_) | EventKind::Alias => {}
        }
        // What begins or ends in the root leaves it where a key or its value does.
        if depth == 1 {
            is_key = !is_key;
            if is_key && tape.text(file, event.text) == wanted {
                return false;
            }
        }
    }
    true
}
