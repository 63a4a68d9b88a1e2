//! Finds the comments of a document with the scanner, so a `#` inside a scalar is never mistaken for one.

use super::document::Comment;
use super::scan::{Scanner, TokenKind};
use crate::Span;

/// Returns the comments of `file` at `places`, where the scanner found them.
pub(super) fn at(file: &str, places: &[Span]) -> Vec<Comment> {
    let comments = places.iter().map(|&span| {
        let before =
            file[..span.start as usize].trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
        let before = before.trim_end_matches('\u{FEFF}');
        Comment {
            span,
            own_line: before.is_empty() || before.ends_with('\n'),
        }
    });
    comments.collect()
}

/// Returns the comments of a document that the grammar did not read to its end, up to the first scanner error.
pub(super) fn scanned(file: &str, document: Span) -> Vec<Comment> {
    let text = file.get(document.range()).unwrap_or_default();
    if memchr::memchr(b'#', text.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut scanner = Scanner::new(text, document.start);
    while scanner
        .take()
        .is_ok_and(|token| token.kind != TokenKind::StreamEnd)
    {}
    at(file, &scanner.read.comments)
}
