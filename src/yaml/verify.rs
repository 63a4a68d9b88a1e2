//! Whether the fast parser reads what the exact one reads.

use super::fast::{self, Refused};
use super::grammar;
use super::passing;
use super::read::{forbidden_character, with_final_newline};
use super::split::{Piece, split};
use super::tape::{EventKind, Tape, TapeEvent};
use crate::text::{SourceFile, Span};

/// What comparing the two parsers over one file gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The documents as the file is split, JSON too.
    pub documents: u32,
    /// Why the fast parser leaves documents to the exact one: their indices, and what is outside of its subset.
    pub refused: Vec<(u32, &'static str)>,
    /// Where the parsers differ, the first place of each document.
    pub differences: Vec<ParserDifference>,
}

/// A document that the fast parser reads differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParserDifference {
    /// The 0-based document.
    pub document: u32,
    /// The place.
    pub span: Span,
    /// What differs there.
    pub what: String,
}

/// Parses each document with both parsers, and compares the tapes: events, places, texts and comments.
pub fn verify(file: &SourceFile) -> Verified {
    let text = file.text();
    let start = if text.starts_with('\u{FEFF}') {
        '\u{FEFF}'.len_utf8()
    } else {
        0
    };
    let mut verified = Verified::default();
    for (index, piece) in (0..).zip(split(text, start)) {
        verified.documents += 1;
        let (Piece::Chunk(span) | Piece::BadSeparator { span, .. }) = piece;
        let mut tape = Tape::default();
        let chunk = with_final_newline(text.get(span.range()).unwrap_or_default());
        match fast::parse(&chunk, span.start, &[], &mut tape) {
            Err(Refused(why)) => verified.refused.push((index, why)),
            Ok(found) => {
                let difference = difference(text, &chunk, span, found.then_some(&tape))
                    .or_else(|| difference_without(text, &chunk, span, &tape));
                verified
                    .differences
                    .extend(difference.map(|(span, what)| ParserDifference {
                        document: index,
                        span,
                        what,
                    }));
            }
        }
    }
    verified
}

/// The first difference when mappings are left out: those under the key that the middle one of the mappings has.
fn difference_without(file: &str, chunk: &str, span: Span, whole: &Tape) -> Option<(Span, String)> {
    let pairs = whole.events.windows(2).enumerate();
    let held = pairs
        .filter(|(_, pair)| matches!(pair[0].kind(), EventKind::Scalar(_)) && is_map(&pair[1]));
    let held: Vec<usize> = held.map(|(at, _)| at).collect();
    let key = whole.text_of(file, &whole.events[*held.get(held.len() / 2)?]);
    let mut tape = Tape::default();
    if let Err(Refused(why)) = fast::parse(chunk, span.start, &[key], &mut tape) {
        return Some((span, format!("refuses to leave out what it reads: {why}")));
    }
    let mut expected = 0;
    for event in &tape.events {
        let passed = match event.kind() {
            EventKind::LeftOut => passing::pass(whole, file, false, expected)
                .filter(|passed| passed.span == event.span()),
            _ => None,
        };
        let is_same = whole
            .events
            .get(expected)
            .is_some_and(|whole| (whole.kind(), whole.span()) == (event.kind(), event.span()));
        if passed.is_none() && !is_same {
            return Some((event.span(), "leaves out something else".to_owned()));
        }
        expected = 1 + passed.map_or(expected, |passed| passed.last);
    }
    let is_all = expected == whole.events.len() && tape.comments == whole.comments;
    (!is_all).then(|| (span, "leaves out too much".to_owned()))
}

fn is_map(event: &TapeEvent) -> bool {
    matches!(event.kind(), EventKind::MapStart { .. })
}

/// The first difference between the tape of the fast parser and the exact one's.
fn difference(file: &str, chunk: &str, span: Span, fast: Option<&Tape>) -> Option<(Span, String)> {
    if let Some((at, character)) = forbidden_character(chunk) {
        return Some((
            Span::empty(span.start + at as u32),
            format!("accepts {character:?}"),
        ));
    }
    let exact = match grammar::parse(chunk, span.start) {
        Ok(exact) => exact,
        Err(failure) => {
            return Some((
                Span::empty(failure.error.at),
                format!("accepts what is an error: {}", failure.error.problem),
            ));
        }
    };
    let (fast, exact) = match (fast, &exact) {
        (Some(fast), Some(exact)) => (fast, exact),
        (None, None) => return None,
        (Some(_), None) => return Some((span, "finds content where there is none".to_owned())),
        (None, Some(_)) => return Some((span, "finds no content".to_owned())),
    };
    // Without the text, which may be the value of a Secret.
    let shown = |event: Option<&TapeEvent>| match event {
        None => "nothing".to_owned(),
        Some(event) => format!("{:?} at {:?}", event.kind(), event.span()),
    };
    for at in 0..fast.events.len().max(exact.events.len()) {
        let (ours, theirs) = (fast.events.get(at), exact.events.get(at));
        let same = ours.zip(theirs).is_some_and(|(ours, theirs)| {
            (ours.kind(), ours.span()) == (theirs.kind(), theirs.span())
                && fast.text_of(file, ours) == exact.text_of(file, theirs)
                && properties(fast, file, ours) == properties(exact, file, theirs)
        });
        if !same {
            let place = theirs.or(ours).map_or(span, TapeEvent::span);
            let (ours, theirs) = (shown(ours), shown(theirs));
            let what = match ours == theirs {
                true => format!("event {at}, {ours}, has another text, anchor or tag"),
                false => format!("event {at} is {ours} instead of {theirs}"),
            };
            return Some((place, what));
        }
    }
    let same_rest = (
        &fast.comments,
        fast.dropped_from,
        fast.ended_by_marker,
        &fast.quirks,
    ) == (
        &exact.comments,
        exact.dropped_from,
        exact.ended_by_marker,
        &exact.quirks,
    );
    let comments = || {
        format!(
            "comments at {:?} instead of {:?}, or another quirk",
            fast.comments, exact.comments
        )
    };
    (!same_rest).then(|| (span, comments()))
}

/// The anchor of a node, and its tag in two parts.
fn properties<'t>(
    tape: &'t Tape,
    file: &'t str,
    event: &TapeEvent,
) -> (Option<&'t str>, Option<[&'t str; 2]>) {
    let anchor = tape.anchor(event).and_then(|name| file.get(name.range()));
    (anchor, tape.tag(event))
}
