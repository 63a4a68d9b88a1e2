//! From a parser's error to words for a person.

use super::document::ReadError;
use super::tape::SyntaxError;
use crate::text::Span;

const REFUSED: &str = "Kubernetes refuses this document, and kubectl stops reading the file here.";

/// The refusal of a document. `chunk` is the document, `file` the whole text, `braces` where a `{{` stood as structure.
pub(super) fn syntax(file: &str, chunk: Span, error: &SyntaxError, braces: Option<u32>) -> ReadError {
    let span = character_at(file, chunk, error.at);
    if let Some(marker) = conflict_marker(file, chunk) {
        return ReadError {
            span: marker,
            message: "unresolved merge conflict".to_owned(),
            reason: REFUSED.to_owned(),
            help: "Keep one of the two sides, or merge them by hand, and remove the lines with <<<<<<<, ======= and >>>>>>>."
                .to_owned(),
            template: false,
        };
    }
    let template = braces.is_some() || (line_around(file, span.start).contains("{{"));
    if template {
        let start = braces.unwrap_or(span.start);
        return ReadError {
            span: character_at(file, chunk, start),
            message: format!("template braces break the YAML: {}", error.problem),
            reason: REFUSED.to_owned(),
            help: "Render the chart or template first, and check what comes out.".to_owned(),
            template,
        };
    }
    ReadError {
        span,
        message: error.problem.clone().into_owned(),
        reason: REFUSED.to_owned(),
        help: help(&error.problem).to_owned(),
        template,
    }
}

/// The first line of a document that git left for a person to resolve. Such a line stands at the margin, where no text of a
/// manifest can be: block scalars are indented.
fn conflict_marker(file: &str, chunk: Span) -> Option<Span> {
    let mut start = chunk.start;
    for line in file.get(chunk.range())?.split_inclusive('\n') {
        if ["<<<<<<< ", ">>>>>>> "].iter().any(|marker| line.starts_with(marker)) {
            return Some(Span::new(start, start + line.trim_end().len() as u32));
        }
        start += line.len() as u32;
    }
    None
}

/// The refusal of a line like `---foo`.
pub(super) fn separator(file: &str, line: Span) -> ReadError {
    let written = file.get(line.range()).unwrap_or_default();
    let behind = written.trim_start_matches("---").trim();
    ReadError {
        span: line,
        message: format!("invalid Yaml document separator: {}", written.get(3..).unwrap_or(behind).trim()),
        reason:
            "Kubernetes takes every line that starts with --- for a separator, refuses text behind it, and loses what \
                 stood before it in the same document."
                .to_owned(),
        help: "Write the separator alone on its line, or with a comment.".to_owned(),
        template: false,
    }
}

/// The refusal of a character that YAML does not allow.
pub(super) fn character(span: Span, found: char) -> ReadError {
    ReadError {
        span,
        message: format!("control characters are not allowed: U+{:04X}", found as u32),
        reason: REFUSED.to_owned(),
        help: "Remove the character, or write it as an escape in double quotes.".to_owned(),
        template: false,
    }
}

fn help(problem: &str) -> &'static str {
    let known = [
        ("cannot start any token", "Quote the value: @, ` and % cannot begin an unquoted one, and tabs cannot indent."),
        (
            "mapping values are not allowed",
            "Quote the value that holds a colon and a blank, or correct the indentation.",
        ),
        (
            "could not find expected ':'",
            "Complete the key with a colon, or indent the line if it belongs to the value above.",
        ),
        ("did not find expected key", "Correct the indentation; keys of one mapping start in the same column."),
        ("tab character", "Indent with spaces."),
        ("unknown anchor", "Anchors hold only within their own document, and only below their definition."),
        ("contains itself", "An anchor cannot be used inside its own value."),
        ("excessive aliasing", "Write the values out, or use fewer aliases of aliases."),
        ("max depth", "Kubernetes reads at most 10,000 levels."),
        ("map key", "Keys must be text, numbers or booleans; quote the key."),
        ("map merge requires", "Give << a mapping, an alias of one, or a list of these."),
        ("unsupported value", "JSON has no infinity and no NaN; quote the value if it is text."),
        (
            "escape",
            "YAML's double quotes know no \\/ and no surrogate pairs; use single quotes or the character itself.",
        ),
        ("<document start>", "Remove the directive line: Kubernetes splits the file before it can apply."),
        ("end of stream", "Close the quote."),
    ];
    known.iter().find(|(part, _)| problem.contains(part)).map_or("Correct the syntax at this place.", |(_, help)| help)
}

/// The span of the character at `at`, kept inside the document; empty at its end and at line breaks.
fn character_at(file: &str, chunk: Span, at: u32) -> Span {
    let mut start = at.clamp(chunk.start, chunk.end);
    while !file.is_char_boundary(start as usize) {
        start -= 1;
    }
    let found = file.get(start as usize..chunk.end as usize).and_then(|rest| rest.chars().next());
    let width = found.filter(|found| !matches!(found, '\r' | '\n')).map_or(0, char::len_utf8);
    Span::new(start, start + width as u32)
}

fn line_around(file: &str, at: u32) -> &str {
    let (before, behind) = file.split_at_checked(at as usize).unwrap_or((file, ""));
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = at as usize + behind.find('\n').unwrap_or(behind.len());
    file.get(start..end).unwrap_or_default()
}
