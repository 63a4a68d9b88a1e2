//! Checks the characters of a document before it is scanned.

/// The number of bytes that are checked together.
const BLOCK: usize = 64;

/// Returns the first character that go-yaml always rejects, with its offset.
pub(super) fn forbidden(text: &str) -> Option<(usize, char)> {
    unusual(text).find(|(_, found)| is_forbidden(*found))
}

fn is_forbidden(found: char) -> bool {
    !matches!(found, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}'
        | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Returns the characters of all blocks that contain more than tabs, line feeds and printable ASCII.
fn unusual(text: &str) -> impl Iterator<Item = (usize, char)> {
    let blocks = text.as_bytes().chunks(BLOCK).enumerate();
    // Without an early exit, this compiles to a few vector instructions.
    let unusual = blocks.filter(move |(_, block)| {
        !block.iter().fold(true, |ordinary, byte| {
            ordinary & matches!(byte, b'\t' | b'\n' | b' '..=b'~')
        })
    });
    unusual.flat_map(|(number, _)| {
        let start = boundary_from(text, number * BLOCK);
        let end = boundary_from(text, (number + 1) * BLOCK);
        let characters = text[start..end].char_indices();
        characters.map(move |(at, found)| (start + at, found))
    })
}

/// Returns the first character boundary from `at` on.
fn boundary_from(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}
