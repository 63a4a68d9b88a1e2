//! One stage of reading alone, for those who measure it.

use super::fast;
use super::grammar;
use super::read::{ParserChoice, with_final_newline};
use super::split::{Piece, split};
use super::tape::Tape;
use crate::text::SourceFile;

/// Parses the documents of a file to tapes and no further. Returns how many events are on them; none for what cannot be parsed.
pub fn tape_length(file: &SourceFile, parser: ParserChoice) -> usize {
    let mut tape = Tape::default();
    let mut events = 0;
    for piece in split(file.text(), 0) {
        let Piece::Chunk(span) = piece else { continue };
        let text = with_final_newline(file.text().get(span.range()).unwrap_or_default());
        tape.clear();
        let taken = parser != ParserChoice::Exact && fast::parse(&text, span.start, &mut tape).is_ok();
        events += match taken {
            true => tape.events.len(),
            false => grammar::parse(&text, span.start).ok().flatten().map_or(0, |tape| tape.events.len()),
        };
    }
    events
}
