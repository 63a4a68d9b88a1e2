//! Turns a parser's error into a message for users.

use super::breakage::Breakage;
use super::document::ReadError;
use super::event::SyntaxError;
use super::size::TOO_LARGE;
use crate::Span;

/// Returns the error of a document. `chunk` is the document, `file` the whole text, `braces` the offset of a `{{` that
/// is part of the structure.
pub(super) fn syntax(
    file: &str,
    chunk: Span,
    error: &SyntaxError,
    braces: Option<u32>,
) -> ReadError {
    let span = character_at(file, chunk, error.at);
    if let Some(marker) = conflict_marker(file, chunk) {
        return ReadError {
            span: marker,
            message: "unresolved merge conflict".into(),
            cause: Breakage::Conflict,
        };
    }
    if braces.is_some() || line_around(file, span.start).contains("{{") {
        let start = braces.unwrap_or(span.start);
        let message = format!("template braces break the YAML: {}", error.problem);
        return ReadError {
            span: character_at(file, chunk, start),
            message: message.into(),
            cause: Breakage::Braces,
        };
    }
    let cause = if error.problem == TOO_LARGE {
        Breakage::TooLarge
    } else {
        Breakage::Syntax
    };
    ReadError {
        span,
        message: error.problem.clone(),
        cause,
    }
}

/// Returns the first line of a document with a conflict marker of Git. Such a line has no indentation, so it cannot be
/// text in a block scalar.
fn conflict_marker(file: &str, chunk: Span) -> Option<Span> {
    let mut start = chunk.start;
    let text = file.get(chunk.range())?;
    // Most documents contain neither character.
    memchr::memchr2(b'<', b'>', text.as_bytes())?;
    for line in text.split_inclusive('\n') {
        if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
            return Some(Span::new(start, start + line.trim_end().len() as u32));
        }
        start += line.len() as u32;
    }
    None
}

/// Returns the error for a line like `---foo`.
pub(super) fn separator(file: &str, line: Span) -> ReadError {
    let written = file.get(line.range()).unwrap_or_default();
    let after = written.get("---".len()..).unwrap_or_default().trim();
    let message = format!("invalid Yaml document separator: {after}");
    ReadError {
        span: line,
        message: message.into(),
        cause: Breakage::Separator,
    }
}

/// Returns the error for a character that YAML does not allow.
pub(super) fn character(span: Span, found: char) -> ReadError {
    let message = format!("control characters are not allowed: U+{:04X}", found as u32);
    ReadError {
        span,
        message: message.into(),
        cause: Breakage::Character,
    }
}

/// Returns the span of the character at `at`, kept inside the document; empty at its end and at line breaks.
fn character_at(file: &str, chunk: Span, at: u32) -> Span {
    let mut start = at.clamp(chunk.start, chunk.end) as usize;
    while !file.is_char_boundary(start) {
        start -= 1;
    }
    let rest = file.get(start..chunk.end as usize).unwrap_or_default();
    let found = rest.chars().next();
    let width = found
        .filter(|found| !matches!(found, '\r' | '\n'))
        .map_or(0, char::len_utf8);
    Span::new(start as u32, (start + width) as u32)
}

fn line_around(file: &str, at: u32) -> &str {
    let (before, after) = file.split_at_checked(at as usize).unwrap_or((file, ""));
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = at as usize + after.find('\n').unwrap_or(after.len());
    file.get(start..end).unwrap_or_default()
}
