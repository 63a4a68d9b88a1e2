//! One stage of reading alone, for those who measure it or compare it with another parser.

use super::fast;
use super::grammar;
use super::read::{ParserChoice, forbidden_character, with_final_newline};
use super::split::{Piece, split};
use super::tape::{EventKind, Style, Tape, TapeEvent};
use crate::text::SourceFile;

/// Parses the documents of a file to tapes and no further. Returns how many events are on them; none for what cannot be parsed.
pub fn tape_length(file: &SourceFile, parser: ParserChoice) -> usize {
    let mut tape = Tape::default();
    let mut events = 0;
    for piece in split(file.text(), 0) {
        let Piece::Chunk(span) = piece else { continue };
        let text = with_final_newline(file.text().get(span.range()).unwrap_or_default());
        tape.clear();
        let taken =
            parser != ParserChoice::Exact && fast::parse(&text, span.start, &[], &mut tape).is_ok();
        events += match taken {
            true => tape.events.len(),
            false => grammar::parse(&text, span.start)
                .ok()
                .flatten()
                .map_or(0, |tape| tape.events.len()),
        };
    }
    events
}

/// What the exact parser reads of one chunk, an event a line in the notation of the YAML test suite: `+MAP`, `=VAL &a <tag> :text`,
/// `=ALI *a`. Texts are escaped as in Rust. A block scalar is `|`, folded or not, and the marks of a flow are left out. No events:
/// there is no content.
///
/// # Errors
/// What is wrong with the text, in go-yaml's words.
pub fn events(chunk: &str) -> Result<Vec<String>, String> {
    let chunk = with_final_newline(chunk);
    if let Some((_, found)) = forbidden_character(&chunk) {
        return Err(format!("control characters are not allowed: {found:?}"));
    }
    let tape = grammar::parse(&chunk, 0).map_err(|failure| failure.error.problem.into_owned())?;
    let shown = |tape: &Tape| {
        tape.events
            .iter()
            .map(|event| shown(tape, &chunk, event))
            .collect()
    };
    Ok(tape.as_ref().map_or_else(Vec::new, shown))
}

fn shown(tape: &Tape, text: &str, event: &TapeEvent) -> String {
    let written = || tape.text_of(text, event);
    let anchor = tape.anchor(event).and_then(|name| text.get(name.range()));
    let anchor = anchor.map_or_else(String::new, |name| format!(" &{name}"));
    let tag = tape.tag(event).map_or_else(String::new, |tag| {
        format!(" <{}>", tag.concat().escape_debug())
    });
    let style = |style| match style {
        Style::Plain | Style::JsonWord => ':',
        Style::Single => '\'',
        Style::Double => '"',
        Style::Block => '|',
    };
    match event.kind() {
        EventKind::MapStart { .. } => format!("+MAP{anchor}{tag}"),
        EventKind::MapEnd => "-MAP".to_owned(),
        EventKind::SeqStart { .. } => format!("+SEQ{anchor}{tag}"),
        EventKind::SeqEnd => "-SEQ".to_owned(),
        EventKind::Scalar(form) => format!(
            "=VAL{anchor}{tag} {}{}",
            style(form),
            written().escape_debug()
        ),
        EventKind::Alias => format!("=ALI *{}", written()),
        EventKind::LeftOut => "=MAP".to_owned(),
    }
}
