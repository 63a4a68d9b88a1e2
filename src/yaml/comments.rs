//! The comments of a document, found by the scanner itself, so that a `#` inside a scalar is never taken for one.

use super::document::{Comment, Document, Format};
use super::scan::{Scanner, TokenKind};
use crate::text::SourceFile;

/// All comments of a document, in their order; of an unreadable one those before the error. JSON has none.
pub fn comments(file: &SourceFile, document: &Document) -> Vec<Comment> {
    if document.format == Format::Json {
        return Vec::new();
    }
    let mut scanner = Scanner::new(file.slice(document.span), document.span.start);
    while scanner.take().is_ok_and(|token| token.kind != TokenKind::StreamEnd) {}
    let comment = |&span: &crate::text::Span| {
        let before = &file.text()[..span.start as usize];
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let text = file.slice(span);
        Comment {
            span,
            text: text.strip_prefix('#').unwrap_or(text).to_owned(),
            own_line: line.trim_start_matches('\u{FEFF}').trim().is_empty(),
        }
    };
    scanner.comments.iter().map(comment).collect()
}
