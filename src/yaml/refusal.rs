//! From a parser's error to words for a person.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::document::ReadError;
use super::root::TOO_LARGE;
use super::tape::SyntaxError;
use crate::text::Span;

const REFUSED: &str = "Kubernetes rejects this document, and kubectl stops reading the file here.";

const UNSENDABLE: &str = "The API server takes at most 3 MiB in one request, and no object of so many values fits into that. It was not checked.";

/// The rejection of a document. `chunk` is the document, `file` the whole text, `braces` where a `{{` is part of the
/// structure.
pub(super) fn syntax(file: &str, chunk: Span, error: &SyntaxError, braces: Option<u32>) -> ReadError {
    let span = character_at(file, chunk, error.at);
    if let Some(marker) = conflict_marker(file, chunk) {
        return ReadError {
            span: marker,
            message: "unresolved merge conflict".to_owned(),
            reason: REFUSED,
            help: "keep one of the two sides, or merge them by hand, and remove the lines with <<<<<<<, ======= and >>>>>>>",
            template: false,
        };
    }
    let template = braces.is_some() || (line_around(file, span.start).contains("{{"));
    if template {
        let start = braces.unwrap_or(span.start);
        return ReadError {
            span: character_at(file, chunk, start),
            message: format!("template braces break the YAML: {}", error.problem),
            reason: REFUSED,
            help: "render the chart or template first, and check the output",
            template,
        };
    }
    ReadError {
        span,
        message: error.problem.clone().into_owned(),
        reason: if error.problem == TOO_LARGE { UNSENDABLE } else { REFUSED },
        help: help(&error.problem),
        template,
    }
}

/// The first line of a document that git left for a person to resolve. Such a line is at the margin, where no text of a
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

/// The rejection of a line like `---foo`.
pub(super) fn separator(file: &str, line: Span) -> ReadError {
    let written = file.get(line.range()).unwrap_or_default();
    let after = written.trim_start_matches("---").trim();
    ReadError {
        span: line,
        message: format!("invalid Yaml document separator: {}", written.get(3..).unwrap_or(after).trim()),
        reason: "Kubernetes treats every line that starts with --- as a separator, rejects text after it, and loses what \
             comes before it in the same document.",
        help: "write the separator alone on its line, or with a comment",
        template: false,
    }
}

/// The rejection of a character that YAML does not allow.
pub(super) fn character(span: Span, found: char) -> ReadError {
    ReadError {
        span,
        message: format!("control characters are not allowed: U+{:04X}", found as u32),
        reason: REFUSED,
        help: "remove the character, or write it as an escape in double quotes",
        template: false,
    }
}

/// What a problem is known by, and what to do about it.
const HELP: [(&str, &str); 16] = [
    ("cannot start any token", "quote the value: @, ` and % cannot begin an unquoted one, and tabs cannot indent"),
    ("mapping values are not allowed", "quote the value that contains a colon and a space, or correct the indentation"),
    (
        "could not find expected ':'",
        "complete the key with a colon, or indent the line if it belongs to the value above",
    ),
    ("did not find expected key", "correct the indentation: keys of one mapping start in the same column"),
    ("tab character", "indent with spaces"),
    ("unknown anchor", "define the anchor in the same document, above the alias"),
    ("contains itself", "do not use an anchor inside its own value"),
    ("excessive aliasing", "write the values out, or use fewer aliases of aliases"),
    ("API server", "split the object: a request holds at most 3 MiB of JSON, and etcd keeps half of that"),
    ("max depth", "nest less: Kubernetes reads at most 10,000 levels"),
    ("map key", "quote the key: keys must be text, numbers or booleans"),
    ("map merge requires", "give << a mapping, an alias of one, or a list of these"),
    ("unsupported value", "quote the value if it is text: JSON has no infinity and no NaN"),
    ("escape", "use single quotes or the character itself: YAML's double quotes have no \\/ and no surrogate pairs"),
    ("<document start>", "remove the directive line: Kubernetes splits the file before it can apply"),
    ("end of stream", "close the quote"),
];

/// Searches for what problems are known by: made once, because a file may have thousands of documents that cannot be read.
static KNOWN: LazyLock<[Finder<'static>; HELP.len()]> = LazyLock::new(|| HELP.map(|(part, _)| Finder::new(part)));

fn help(problem: &str) -> &'static str {
    let known = KNOWN.iter().position(|part| part.find(problem.as_bytes()).is_some());
    known.map_or("correct the syntax at this place", |known| HELP[known].1)
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
    let (before, after) = file.split_at_checked(at as usize).unwrap_or((file, ""));
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = at as usize + after.find('\n').unwrap_or(after.len());
    file.get(start..end).unwrap_or_default()
}
