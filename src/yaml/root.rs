//! What the root of a document says, before the document is composed.

use super::limits::MAX_REQUEST;
use super::scalar;
use super::tape::{EventKind, Style, SyntaxError, Tape, TapeEvent};

/// Whether the root is nothing, or `null` as a word.
pub(super) fn is_null(tape: &Tape, file: &str) -> bool {
    let [root] = tape.events.as_slice() else {
        return false;
    };
    root.kind() == EventKind::Scalar(Style::Plain)
        && !tape.has_properties(root)
        && scalar::is_null(tape.text_of(file, root))
}

/// Whether the root is a mapping without that key.
pub(super) fn is_mapping_without(tape: &Tape, file: &str, wanted: &str) -> bool {
    tape.events
        .first()
        .is_some_and(|root| matches!(root.kind(), EventKind::MapStart { .. }))
        && value_at(tape, file, wanted).is_none()
}

/// The event that begins the value of a key of the root.
fn value_at(tape: &Tape, file: &str, wanted: &str) -> Option<usize> {
    let (mut depth, mut is_key) = (0_usize, true);
    for (at, event) in tape.events.iter().enumerate() {
        match event.kind() {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } => depth += 1,
            EventKind::MapEnd | EventKind::SeqEnd => depth = depth.saturating_sub(1),
            EventKind::Scalar(_) | EventKind::Alias | EventKind::LeftOut => {}
        }
        // What begins or ends in the root leaves it where a key or its value does.
        if depth == 1 {
            is_key = !is_key;
            if is_key && tape.text_of(file, event) == wanted {
                return Some(at + 1);
            }
        }
    }
    None
}

/// Refuses an object that is too large for any API server, so nothing has to be kept of it. Of a list, which a client takes apart,
/// each item counts by itself; what is no object is nobody's to apply.
pub(super) fn check_size(tape: &Tape, file: &str) -> Result<(), SyntaxError> {
    let written = tape
        .events
        .last()
        .zip(tape.events.first())
        .map_or(0, |(last, first)| last.end() - first.start());
    // No event takes more than its text, two quotes and a comma.
    if written as usize + 3 * tape.events.len() <= MAX_REQUEST {
        return Ok(());
    }
    let mut size = 0;
    let too_large = (0..tape.events.len()).find(|at| {
        size += json_bytes(tape, file, *at);
        size > MAX_REQUEST
    });
    let Some(first) = too_large.map(|at| &tape.events[at]) else {
        return Ok(());
    };
    let at = match value_at(tape, file, "kind").and_then(|kind| tape.events.get(kind)) {
        None if is_mapping_without(tape, file, "kind") => return Ok(()),
        Some(kind) if tape.text_of(file, kind).ends_with("List") => match unfit_item(tape, file) {
            Some(item) => item.start(),
            None => return Ok(()),
        },
        _ => first.start(),
    };
    Err(SyntaxError::new(at, TOO_LARGE))
}

/// What is wrong with a document that is too large.
pub(super) const TOO_LARGE: &str = "the object is larger than the 3 MiB that an API server takes";

/// How many bytes of the object's JSON an event is at least, with the comma or colon that sets it apart. A value that is there twice
/// counts twice, although only the last one is sent: who writes 3 MiB of them gets an error, not silence.
fn json_bytes(tape: &Tape, file: &str, at: usize) -> usize {
    let event = &tape.events[at];
    let starts = |event: &TapeEvent| {
        matches!(
            event.kind(),
            EventKind::MapStart { .. } | EventKind::SeqStart { .. }
        )
    };
    match event.kind() {
        EventKind::MapStart { .. }
        | EventKind::SeqStart { .. }
        | EventKind::LeftOut
        | EventKind::Alias => 2,
        // The last of its values has no comma.
        EventKind::MapEnd | EventKind::SeqEnd => {
            usize::from(at > 0 && starts(&tape.events[at - 1]))
        }
        EventKind::Scalar(style) => {
            let text = tape.text_of(file, event);
            // A number may be written longer than it is, and a tag makes something else of a text.
            let is_text = !tape.has_properties(event) && scalar::is_text_as(style, text);
            if is_text { text.len() + 3 } else { 2 }
        }
    }
}

/// The first item of a list that no client can apply: too large, or nothing like an object.
fn unfit_item<'t>(tape: &'t Tape, file: &str) -> Option<&'t TapeEvent> {
    let items = value_at(tape, file, "items")?;
    let (mut depth, mut start, mut size) = (0_usize, items, 0);
    for (at, event) in tape.events.iter().enumerate().skip(items) {
        size += json_bytes(tape, file, at);
        match event.kind() {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } => {
                (start, size) = if depth == 1 { (at, 0) } else { (start, size) };
                depth += 1;
            }
            EventKind::MapEnd | EventKind::SeqEnd => {
                depth = depth.saturating_sub(1);
                // An item ends.
                if depth == 1 && (at - start < 2 || size > MAX_REQUEST) {
                    return Some(&tape.events[start]);
                }
            }
            // Null, or text.
            EventKind::Scalar(_) if depth == 1 => return Some(event),
            EventKind::Scalar(_) | EventKind::Alias | EventKind::LeftOut => {}
        }
        if depth == 0 {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::tape::Style;

    const WORDS: &str = "kind ConfigMap List items a";

    /// The tape of `kind: KIND` and `items`, which are `item` as often as makes it too large, and `last`.
    fn is_refused(kind: &str, item: &[EventKind], last: &[EventKind]) -> bool {
        let mut tape = Tape::default();
        let word = |wanted: &str| {
            let start = WORDS.find(wanted).unwrap_or_default() as u32;
            TapeEvent::new(VALUE, start, start + wanted.len() as u32)
        };
        let bare = |kind: &EventKind| TapeEvent::new(*kind, 0, 0);
        tape.events.extend([
            bare(&MAP),
            word("kind"),
            word(kind),
            word("items"),
            bare(&SEQ),
        ]);
        while tape.events.len() <= MAX_REQUEST {
            tape.events.extend(item.iter().map(bare));
        }
        tape.events.extend(
            last.iter()
                .chain(&[EventKind::SeqEnd, EventKind::MapEnd])
                .map(bare),
        );
        check_size(&tape, WORDS).is_err()
    }

    const VALUE: EventKind = EventKind::Scalar(Style::Plain);
    const MAP: EventKind = EventKind::MapStart { flow: false };
    const SEQ: EventKind = EventKind::SeqStart { flow: false };
    const OBJECT: [EventKind; 4] = [MAP, VALUE, VALUE, EventKind::MapEnd];

    #[test]
    fn an_object_that_is_larger_than_a_request_is_refused_and_a_list_of_objects_is_not() {
        assert!(is_refused("ConfigMap", &OBJECT, &[]));
        assert!(!is_refused("List", &OBJECT, &[]));
        assert!(!is_refused("List", &OBJECT, &[EventKind::Alias]));
        assert!(
            is_refused("List", &OBJECT, &[VALUE]),
            "an item without value"
        );
        assert!(
            is_refused("List", &OBJECT, &[MAP, EventKind::MapEnd]),
            "an empty item"
        );
        let large: Vec<_> = [MAP]
            .into_iter()
            .chain(vec![VALUE; MAX_REQUEST])
            .chain([EventKind::MapEnd])
            .collect();
        assert!(is_refused("List", &large, &[]), "a large item");
    }
}
