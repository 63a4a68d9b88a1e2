//! Splits a file into documents and reads each as JSON or YAML.
//!
//! Follows `YAMLOrJSONDecoder` of k8s.io/apimachinery: JSON values as long as there are any, then YAML. That decoder
//! stops at the first error; this reader continues with the next document.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use super::breakage::Breakage;
use super::characters::forbidden;
use super::comments;
use super::compose::{Composed, Composer};
use super::document::{
    Comment, Content, Document, Dropped, Notation, Problem, ProblemKind, Quirk, ReadError,
};
use super::event::{Events, ParseInfo, SyntaxError};
use super::grammar::Failure;
use super::size::{self, SizeCheck};
use super::split::{Piece, split};
use super::tree::Tree;
use super::{grammar, json, refusal};
use crate::Span;

/// The size in bytes from which the documents of a file are read in parallel.
const LARGE: usize = 256 * 1024;

/// The maximum number of parts into which the documents of a large file are divided.
const PARTS: usize = 64;

/// Reads all documents of a file, in order. Never fails as a whole and never panics: the content of a document that
/// cannot be read is an error.
pub fn read(text: &Arc<String>) -> Vec<Document> {
    read_each(text, Vec::push).into_iter().flatten().collect()
}

/// Reads like [`read`], and passes every document to `each` as soon as it is read. The documents of a large file are
/// read in parallel, in consecutive parts; the results of the parts are returned in order.
pub fn read_each<T: Default + Send>(
    text: &Arc<String>,
    each: impl Fn(&mut T, Document) + Sync,
) -> Vec<T> {
    let mut reader = StreamReader::new(text, &each, 0);
    if u32::try_from(text.len()).is_err() {
        let start = Span::empty(0);
        let error = ReadError {
            span: start,
            message: "the text has 4 GiB or more".into(),
            cause: Breakage::TooLarge,
        };
        let content = Content::Unreadable(error);
        reader.push(start, Notation::Yaml, content, Observations::default());
        return vec![reader.done];
    }
    let text = reader.text.strip_prefix('\u{FEFF}').unwrap_or(reader.text);
    let start = reader.text.len() - text.len();
    let parts = if text.trim_start().starts_with('{') {
        reader.json_stream(start)
    } else {
        reader.yaml_stream(start, None)
    };
    [reader.done].into_iter().chain(parts).collect()
}

/// Reads one document again, where `read` found it or where an edit changed it. `None` if there is not exactly one
/// document, or if a part of it is dropped.
pub(super) fn reread(
    text: &str,
    span: Span,
    notation: Notation,
    events: &mut impl Events,
) -> Option<ParseInfo> {
    let chunk = text.get(span.range())?;
    if notation == Notation::Json {
        let found = json::parse(text, span.start as usize, events).ok()??;
        return (found.end == span.end).then(ParseInfo::default);
    }
    let whole = Piece::Chunk(Span::new(0, chunk.len() as u32));
    if split(chunk, 0) != [whole] {
        return None;
    }
    let text = with_final_newline(chunk);
    if forbidden(&text).is_some() {
        return None;
    }
    let read = grammar::parse(&text, span.start, events).ok()?;
    read.dropped_from.is_none().then_some(read)
}

/// Returns the value of a text that is one document.
pub(super) fn reread_value(text: &Arc<String>, notation: Notation) -> Option<Tree> {
    let whole = Span::new(0, text.len() as u32);
    let mut composer = Composer::new(text, text.len(), notation == Notation::Json);
    reread(text, whole, notation, &mut composer)?;
    composer.finish(text).ok()?.map(|composed| composed.tree)
}

struct StreamReader<'f, T, F> {
    text: &'f Arc<String>,
    each: &'f F,
    /// The index of the next document.
    next: u32,
    /// The result of the documents so far.
    done: T,
}

impl<'f, T: Default + Send, F: Fn(&mut T, Document) + Sync> StreamReader<'f, T, F> {
    fn new(text: &'f Arc<String>, each: &'f F, next: u32) -> Self {
        Self {
            text,
            each,
            next,
            done: T::default(),
        }
    }

    fn push(&mut self, span: Span, format: Notation, content: Content, mut noticed: Observations) {
        noticed.problems.sort_by_key(|problem| problem.span);
        noticed.quirks.sort_by_key(|(_, span)| *span);
        let document = Document {
            index: self.next,
            span,
            format,
            content,
            problems: noticed.problems,
            quirks: noticed.quirks,
            comments: noticed.comments,
        };
        self.next += 1;
        (self.each)(&mut self.done, document);
    }

    /// Adds a document of which only the comments can be read.
    fn push_unreadable(&mut self, span: Span, error: ReadError) {
        let noticed = Observations {
            comments: comments::scanned(self.text, span),
            ..Observations::default()
        };
        self.push(span, Notation::Yaml, Content::Unreadable(error), noticed);
    }

    /// Reads JSON values up to the first text that is not one; the rest is read as YAML.
    fn json_stream(&mut self, start: usize) -> Vec<T> {
        let mut at = start;
        loop {
            match self.compose_json(at) {
                Ok(None) => return Vec::new(),
                Ok(Some((composer, span))) => {
                    let (content, problems) = self.content(composer, span, None);
                    let noticed = Observations {
                        problems,
                        ..Observations::default()
                    };
                    self.push(span, Notation::Json, content, noticed);
                    at = span.end as usize;
                }
                Err(error) => {
                    // Blanks and one line break after the last value are skipped.
                    let blanks = [' ', '\t', '\r', '\u{B}', '\u{C}'];
                    let rest = self.text[at..].trim_start_matches(blanks);
                    let rest = rest.strip_prefix('\n').unwrap_or(rest);
                    return self.yaml_stream(self.text.len() - rest.len(), Some(error));
                }
            }
        }
    }

    /// Reads YAML documents from `start` on, and returns the results of those that were read in parallel. `json_error`
    /// says why the text is not JSON; it is reported if the text is not YAML either.
    fn yaml_stream(&mut self, start: usize, mut json_error: Option<SyntaxError>) -> Vec<T> {
        let pieces = split(self.text, start);
        if self.text.len() < LARGE || json_error.is_some() {
            for piece in pieces {
                self.piece(piece, json_error.take());
            }
            return Vec::new();
        }
        let size = pieces.len().div_ceil(PARTS).max(1);
        pieces
            .par_chunks(size)
            .enumerate()
            .map(|(at, part)| {
                let next = self.next + (at * size) as u32;
                let mut reader = Self::new(self.text, self.each, next);
                for piece in part {
                    reader.piece(*piece, None);
                }
                reader.done
            })
            .collect()
    }

    /// Reads a piece, which is one document.
    fn piece(&mut self, piece: Piece, json_error: Option<SyntaxError>) {
        match piece {
            Piece::BadSeparator { span, line } => {
                let error = refusal::separator(self.text, line);
                self.push_unreadable(span, error);
            }
            Piece::Chunk(span) => self.yaml_document(span, json_error),
        }
    }

    fn yaml_document(&mut self, span: Span, json_error: Option<SyntaxError>) {
        let text = with_final_newline(self.text.get(span.range()).unwrap_or_default());
        if let Some((at, found)) = forbidden(&text) {
            let start = span.start + at as u32;
            let place = Span::new(start, start + found.len_utf8() as u32);
            return self.push_unreadable(span, refusal::character(place, found));
        }
        match self.compose_yaml(&text, span.start) {
            Ok((composer, read)) => self.push_read(span, composer, read),
            Err(failure) => {
                let error = match &json_error {
                    Some(error) if failure.braces.is_none() => error,
                    _ => &failure.error,
                };
                let error = refusal::syntax(self.text, span, error, failure.braces);
                self.push_unreadable(span, error);
            }
        }
    }

    /// Composes a YAML document whose first byte is at `base` of the file.
    fn compose_yaml(&self, text: &str, base: u32) -> Result<(Composer<'f>, ParseInfo), Failure> {
        let mut composer = Composer::new(self.text, text.len(), false);
        if text.len() > size::SMALL {
            let mut size = SizeCheck::default();
            grammar::parse(text, base, &mut size)?;
            composer.reject(size.error());
        }
        let read = grammar::parse(text, base, &mut composer)?;
        Ok((composer, read))
    }

    /// Composes the JSON value at `at`, and returns its place.
    fn compose_json(&self, at: usize) -> Result<Option<(Composer<'f>, Span)>, SyntaxError> {
        // No capacity is reserved: a stream may have a value for every second byte of its text.
        let mut composer = Composer::new(self.text, 0, true);
        if self.text.len() - at > size::SMALL {
            let mut size = SizeCheck::default();
            json::parse(self.text, at, &mut size)?;
            composer.reject(size.error());
        }
        let found = json::parse(self.text, at, &mut composer)?;
        Ok(found.map(|span| (composer, span)))
    }

    /// Adds a YAML document that was parsed.
    fn push_read(&mut self, span: Span, composer: Composer<'_>, read: ParseInfo) {
        if composer.is_empty() {
            let noticed = Observations {
                comments: comments::at(self.text, &read.comments),
                ..Observations::default()
            };
            return self.push(span, Notation::Yaml, Content::Empty, noticed);
        }
        let (content, problems) = self.content(composer, span, Some(&read));
        let comments = match read.dropped_from {
            None => comments::at(self.text, &read.comments),
            Some(_) => comments::scanned(self.text, span),
        };
        let quirks = match content {
            Content::Unreadable(_) => Vec::new(),
            Content::Empty | Content::Value(_) => read.quirks,
        };
        let noticed = Observations {
            problems,
            quirks,
            comments,
        };
        self.push(span, Notation::Yaml, content, noticed);
    }

    /// Returns the content of a document, and its problems: values that are lost.
    fn content(
        &self,
        composer: Composer<'_>,
        chunk: Span,
        read: Option<&ParseInfo>,
    ) -> (Content, Vec<Problem>) {
        match composer.finish(self.text) {
            Ok(None) => (Content::Empty, Vec::new()),
            Ok(Some(Composed { tree, mut problems })) => {
                problems.extend(read.and_then(|read| self.dropped(read, chunk)));
                if tree.root().is_null() {
                    (Content::Empty, problems)
                } else {
                    (Content::Value(tree), problems)
                }
            }
            Err(error) => {
                let braces = template_braces(self.text, &error, chunk);
                let error = refusal::syntax(self.text, chunk, &error, braces);
                (Content::Unreadable(error), Vec::new())
            }
        }
    }

    fn dropped(&self, read: &ParseInfo, chunk: Span) -> Option<Problem> {
        let start = read.dropped_from?;
        let written = self
            .text
            .get(start as usize..chunk.end as usize)
            .unwrap_or_default();
        let span = Span::new(start, start + written.trim_end().len() as u32);
        let after = if read.ended_by_marker {
            Dropped::DocumentEnd
        } else {
            Dropped::Root
        };
        Some(Problem {
            kind: ProblemKind::DroppedContent { after },
            span,
            related: None,
            path: String::new(),
        })
    }
}

/// Observations in a document besides its content.
#[derive(Default)]
struct Observations {
    problems: Vec<Problem>,
    quirks: Vec<(Quirk, Span)>,
    comments: Vec<Comment>,
}

/// Adds the final LF that Kubernetes' line reader adds.
pub(super) fn with_final_newline(text: &str) -> Cow<'_, str> {
    if text.ends_with('\n') {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{text}\n"))
    }
}

/// Finds a `{{ … }}` that parses as a mapping used as a key, which fails only when it is composed.
fn template_braces(file: &str, error: &SyntaxError, chunk: Span) -> Option<u32> {
    let at = error.at as usize;
    let around = file.get(at.saturating_sub(1)..chunk.end as usize)?;
    if !error.problem.contains("map key") {
        return None;
    }
    let found = around.find("{{").filter(|&found| found <= 1)?;
    Some((at.saturating_sub(1) + found) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_REQUEST;

    fn is_refused(text: String) -> bool {
        let documents = read(&Arc::new(text));
        matches!(documents[0].content, Content::Unreadable(_))
    }

    #[test]
    fn object_larger_than_a_request_is_rejected() {
        for (length, is_large) in [(MAX_REQUEST, true), (MAX_REQUEST - 100, false)] {
            let text = "x".repeat(length);
            let object = format!("kind: ConfigMap\ndata: {{a: '{text}'}}\n");
            assert_eq!(is_refused(object), is_large, "{length}");
        }
        let large = format!("- {{a: {}}}\n", "x".repeat(MAX_REQUEST));
        let many = "- {kind: ConfigMap, name: a}\n".repeat(MAX_REQUEST / 20);
        for (item, is_large, about) in [
            ("", false, "no other item"),
            ("- {a: b}\n", false, "a small item"),
            ("-\n", true, "an item without value"),
            ("- {}\n", true, "an empty item"),
            (&large, true, "a large item"),
        ] {
            let list = format!("kind: List\nitems:\n{many}{item}");
            assert_eq!(is_refused(list), is_large, "{about}");
        }
        // These are `null`, which is small in JSON.
        assert!(!is_refused(format!(
            "kind: ConfigMap\ndata:\n{}",
            "- # nothing\n".repeat(MAX_REQUEST / 10)
        )));
    }
}
