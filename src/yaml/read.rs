//! From a file to its documents: which reader, in which order.
//!
//! Follows `YAMLOrJSONDecoder` of k8s.io/apimachinery: JSON values as long as they come, then YAML for the rest. It
//! stops at the first error; here the next document is read all the same.

use std::borrow::Cow;
use std::cell::Cell;

use rayon::prelude::*;

use super::comments;
use super::compose::{Composed, compose, compose_without};
use super::document::{
    Comment, Content, Document, Dropped, Notation, Problem, ProblemKind, Quirk, ReadError,
};
use super::left_out::LeftOut;
use super::part_text::{PartText, TreeText};
use super::split::{Piece, split};
use super::tape::{SyntaxError, Tape};
use super::tree::Tree;
use super::{fast, grammar, json, refusal, root};
use crate::text::{SourceFile, Span};

/// Which parser reads YAML. Nobody should be able to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParserChoice {
    /// The fast one, and the exact one for what it refuses.
    #[default]
    Fast,
    /// The exact one alone.
    Exact,
    /// As [`Self::Fast`]; whoever asks for it fails when `verify` finds a difference.
    Verify,
}

/// How documents are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadChoice {
    /// Which parser reads YAML.
    pub parser: ParserChoice,
    /// What of documents is not kept.
    pub left_out: LeftOut,
    /// Whether a text can be read again. Of a long one with much that is left out the trees keep what they need, so the rest need not
    /// be kept.
    pub recallable: bool,
}

impl From<ParserChoice> for ReadChoice {
    fn from(parser: ParserChoice) -> Self {
        Self {
            parser,
            ..Self::default()
        }
    }
}

/// The size from which the documents of a file are read in parallel, in bytes.
const LARGE: usize = 256 * 1024;

/// Into how many parts the documents of a large file are divided.
const PARTS: usize = 64;

/// Reads all documents of a file, in their order. Never fails as a whole and never panics: a document that cannot be read
/// says so in its content.
pub fn read(file: &SourceFile) -> Vec<Document> {
    read_with(file, ParserChoice::default())
}

/// [`read`], with a parser of one's choice.
pub fn read_with(file: &SourceFile, parser: ParserChoice) -> Vec<Document> {
    read_each(file, parser.into(), Vec::push)
        .into_iter()
        .flatten()
        .collect()
}

/// [`read`], where `each` takes every document as soon as it is read. The documents of a large file are read in parallel, in
/// parts that follow each other: the result is what came of each part.
pub fn read_each<T: Default + Send>(
    file: &SourceFile,
    choice: ReadChoice,
    each: impl Fn(&mut T, Document) + Sync,
) -> Vec<T> {
    let tree_text = TreeText::Shared(PartText::new(file.shared_text()));
    let mut reader = StreamReader::new(file.text(), tree_text, choice, &each, 0);
    let start = if reader.text.starts_with('\u{FEFF}') {
        '\u{FEFF}'.len_utf8()
    } else {
        0
    };
    let looks_like_json = reader.text[start..].trim_start().starts_with('{');
    match looks_like_json {
        true => reader.json_stream(start),
        false => reader.yaml_stream(start, None),
    }
    let StreamReader {
        mut parts, done, ..
    } = reader;
    parts.insert(0, done);
    parts
}

/// Parses one document again, at a place of a text where `read` found one or where an edit put one. `None` if exactly one
/// document is no longer there, or if a part of it is dropped.
pub(super) fn reread(text: &str, span: Span, notation: Notation) -> Option<Tape> {
    let chunk = text.get(span.range())?;
    if notation == Notation::Json {
        let (tape, end) = json::parse(text, span.start as usize).ok()??;
        return (end == span.end as usize).then_some(tape);
    }
    let whole = Piece::Chunk(Span::new(0, chunk.len() as u32));
    if split(chunk, 0) != [whole] {
        return None;
    }
    let text = with_final_newline(chunk);
    let mut tape = Tape::default();
    let tape = match fast::parse(&text, span.start, &[], &mut tape) {
        Ok(found) => found.then_some(tape)?,
        Err(_) if forbidden_character(&text).is_some() => return None,
        Err(_) => grammar::parse(&text, span.start).ok()??,
    };
    tape.dropped_from.is_none().then_some(tape)
}

/// The whole value of a document of which parts were left out, read again.
pub fn read_whole(file: &SourceFile, span: Span, notation: Notation) -> Option<Tree> {
    let tape = reread(file.text(), span, notation)?;
    compose(&tape, file.shared_text(), notation == Notation::Json)
        .ok()
        .map(|composed| composed.tree)
}

thread_local! {
    static TAPE: Cell<Option<Box<Tape>>> = Cell::default();
}

/// Memory for more events than this is given back.
const KEPT_EVENTS: usize = 1 << 17;

/// A tape whose memory serves all documents of a thread.
struct ScratchTape(Option<Box<Tape>>);

impl Drop for ScratchTape {
    fn drop(&mut self) {
        if let Some(tape) = self.0.take_if(|tape| tape.events.capacity() <= KEPT_EVENTS) {
            TAPE.set(Some(tape));
        }
    }
}

struct StreamReader<'f, T, F> {
    text: &'f str,
    tree_text: TreeText,
    choice: ReadChoice,
    /// The fast parser's.
    tape: ScratchTape,
    each: &'f F,
    /// The index of the next document.
    next: u32,
    /// What came of the documents so far.
    done: T,
    /// What came of the parts after them.
    parts: Vec<T>,
}

impl<'f, T: Default + Send, F: Fn(&mut T, Document) + Sync> StreamReader<'f, T, F> {
    fn new(text: &'f str, tree_text: TreeText, choice: ReadChoice, each: &'f F, next: u32) -> Self {
        Self {
            text,
            tree_text,
            choice,
            tape: ScratchTape(TAPE.take()),
            each,
            next,
            done: T::default(),
            parts: Vec::new(),
        }
    }

    fn push(
        &mut self,
        span: Span,
        format: Notation,
        content: Content,
        Noticed {
            mut problems,
            mut quirks,
            comments,
        }: Noticed,
    ) {
        problems.sort_by_key(|problem| problem.span);
        quirks.sort_by_key(|(_, span)| *span);
        let document = Document {
            index: self.next,
            span,
            format,
            content,
            problems,
            quirks,
            comments,
        };
        self.next += 1;
        (self.each)(&mut self.done, document);
    }

    /// A document of which nothing but its comments can be read.
    fn push_unreadable(&mut self, span: Span, error: ReadError) {
        let comments = comments::scanned(self.text, span);
        self.push(
            span,
            Notation::Yaml,
            Content::Unreadable(error),
            Noticed {
                comments,
                ..Noticed::default()
            },
        );
    }

    /// JSON values up to the first text that is not one; that and everything after it is YAML.
    fn json_stream(&mut self, start: usize) {
        let mut at = start;
        loop {
            match json::parse(self.text, at) {
                Ok(None) => return,
                Ok(Some((mut tape, end))) => {
                    let first = tape.events.first().map_or(at as u32, |event| event.start());
                    let span = Span::new(first, end as u32);
                    let (content, noticed) = self.content(&mut tape, span, true);
                    self.push(span, Notation::Json, content, noticed);
                    at = end;
                }
                Err(error) => {
                    // The rest of the line after the last value is skipped if it is blank.
                    let rest = &self.text[at..];
                    let blanks = rest.len()
                        - rest
                            .trim_start_matches([' ', '\t', '\r', '\u{B}', '\u{C}'])
                            .len();
                    let line_end = usize::from(rest[blanks..].starts_with('\n'));
                    return self.yaml_stream(at + blanks + line_end, Some(error));
                }
            }
        }
    }

    /// YAML documents from `start` on. `json_error` is why the text is not JSON; if it is not YAML either, that is the
    /// error.
    fn yaml_stream(&mut self, start: usize, mut json_error: Option<SyntaxError>) {
        let pieces = split(self.text, start);
        if self.choice.recallable && self.choice.left_out.is_most_of(self.text, pieces.len()) {
            self.tree_text = TreeText::Own;
        }
        if self.text.len() < LARGE || json_error.is_some() {
            return pieces
                .into_iter()
                .for_each(|piece| self.piece(piece, json_error.take()));
        }
        let size = pieces.len().div_ceil(PARTS).max(1);
        let part = |(at, part): (usize, &[Piece])| {
            let next = self.next + (at * size) as u32;
            let mut reader = Self::new(
                self.text,
                self.tree_text.apart(),
                self.choice,
                self.each,
                next,
            );
            part.iter().for_each(|piece| reader.piece(*piece, None));
            reader.done
        };
        self.parts = pieces.par_chunks(size).enumerate().map(part).collect();
    }

    /// Each piece is one document.
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
        if self.choice.parser != ParserChoice::Exact && self.fast_document(span, &text) {
            return;
        }
        if let Some((at, found)) = forbidden_character(&text) {
            let start = span.start + at as u32;
            let place = Span::new(start, start + found.len_utf8() as u32);
            return self.push_unreadable(span, refusal::character(place, found));
        }
        match grammar::parse(&text, span.start) {
            Ok(mut tape) => self.push_tape(span, tape.as_mut()),
            Err(failure) => {
                let error = match &json_error {
                    Some(error) if failure.braces.is_none() => error,
                    _ => &failure.error,
                };
                self.push_unreadable(
                    span,
                    refusal::syntax(self.text, span, error, failure.braces),
                );
            }
        }
    }

    /// Tries the fast parser. False when the document is for the exact one.
    fn fast_document(&mut self, span: Span, text: &str) -> bool {
        let mut tape = self.tape.0.take().unwrap_or_default();
        tape.clear();
        let found = fast::parse(text, span.start, self.choice.left_out.under, &mut tape);
        if let Ok(found) = found {
            self.push_tape(span, found.then_some(&mut tape));
        }
        self.tape.0 = Some(tape);
        found.is_ok()
    }

    fn push_tape(&mut self, span: Span, tape: Option<&mut Tape>) {
        let Some(tape) = tape else {
            return self.push(span, Notation::Yaml, Content::Empty, Noticed::default());
        };
        let comments = match tape.dropped_from {
            None => comments::at(self.text, &tape.comments),
            Some(_) => comments::scanned(self.text, span),
        };
        let (content, noticed) = self.content(tape, span, false);
        self.push(
            span,
            Notation::Yaml,
            content,
            Noticed {
                comments,
                ..noticed
            },
        );
    }

    /// Composes a tape and collects what was noticed.
    fn content(&self, tape: &mut Tape, chunk: Span, json: bool) -> (Content, Noticed) {
        let quirks = std::mem::take(&mut tape.quirks);
        // There may be a million of them, and nothing to keep of any.
        if root::is_null(tape, self.text) && tape.dropped_from.is_none() {
            return (
                Content::Empty,
                Noticed {
                    quirks,
                    ..Noticed::default()
                },
            );
        }
        match compose_without(tape, self.text, &self.tree_text, json, self.choice.left_out) {
            Ok(Composed { tree, mut problems }) => {
                problems.extend(self.dropped(tape, chunk));
                let empty = tree.root().is_null();
                (
                    if empty {
                        Content::Empty
                    } else {
                        Content::Value(tree)
                    },
                    Noticed {
                        problems,
                        quirks,
                        ..Noticed::default()
                    },
                )
            }
            Err(error) => {
                let braces = template_braces(self.text, &error, chunk);
                (
                    Content::Unreadable(refusal::syntax(self.text, chunk, &error, braces)),
                    Noticed::default(),
                )
            }
        }
    }

    fn dropped(&self, tape: &Tape, chunk: Span) -> Option<Problem> {
        let start = tape.dropped_from?;
        let written = self
            .text
            .get(start as usize..chunk.end as usize)
            .unwrap_or_default();
        let span = Span::new(start, start + written.trim_end().len() as u32);
        let after = if tape.ended_by_marker {
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

/// What was noticed in a document besides its content.
#[derive(Default)]
struct Noticed {
    problems: Vec<Problem>,
    quirks: Vec<(Quirk, Span)>,
    comments: Vec<Comment>,
}

/// Kubernetes' line reader ends every line with LF, the last one too.
pub(super) fn with_final_newline(text: &str) -> Cow<'_, str> {
    match text.ends_with('\n') {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("{text}\n")),
    }
}

/// The first character that go-yaml's reader rejects, wherever it is.
pub(super) fn forbidden_character(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, found)| {
        !matches!(found, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}'
            | '\u{10000}'..)
    })
}

/// A `{{ … }}` that parses as a mapping used as a key fails only when it is composed.
fn template_braces(file: &str, error: &SyntaxError, chunk: Span) -> Option<u32> {
    let at = error.at as usize;
    let around = file.get(at.saturating_sub(1)..chunk.end as usize)?;
    error
        .problem
        .contains("map key")
        .then(|| around.find("{{"))
        .flatten()
        .filter(|&found| found <= 1)
        .map(|found| (at.saturating_sub(1) + found) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::left_out::{FEW, SHORT};
    use crate::yaml::limits::MAX_REQUEST;
    use crate::yaml::{Kind, Value};

    const TEXT: &str = "spec:\n  schema:\n    a: {b: [1, \"x\\ty\"]}\n    a: |\n      lost\n  list: [2, 3.5]\nlast: \"\\u00e9\"\n";

    fn value(file: &SourceFile, choice: ReadChoice) -> (Tree, Vec<Problem>) {
        let mut documents: Vec<Document> = read_each(file, choice, Vec::push)
            .into_iter()
            .flatten()
            .collect();
        let document = documents.pop().expect("a document");
        let Content::Value(tree) = document.content else {
            panic!("a value")
        };
        (tree, document.problems)
    }

    #[test]
    fn what_is_left_out_is_checked_and_everything_else_is_kept() {
        let file = SourceFile::new("f.yaml", TEXT);
        let (whole, all_problems) = value(&file, ReadChoice::default());
        let (tree, problems) = value(
            &file,
            ReadChoice {
                left_out: LeftOut {
                    under: &["schema"],
                    without: None,
                },
                ..ReadChoice::default()
            },
        );
        assert_eq!((whole.is_whole(), tree.is_whole()), (true, false));
        assert_eq!(problems, all_problems);
        assert_eq!(problems.len(), 1, "the key that is written twice");
        let schema = |tree: &Tree| {
            let schema = tree.root().at(&["spec", "schema"]).expect("a schema");
            (schema.span(), schema.is_map(), schema.entries().len())
        };
        assert_eq!((schema(&whole).2, schema(&tree).2), (1, 0));
        assert_eq!((schema(&whole).0, true), (schema(&tree).0, schema(&tree).1));
        assert_eq!(tree.root().get("last").and_then(Value::as_str), Some("é"));
        let list: Vec<_> = tree
            .root()
            .at(&["spec", "list"])
            .expect("a list")
            .items()
            .map(Value::kind)
            .collect();
        assert_eq!(list, [Kind::Int(2), Kind::Float(3.5)]);
        let again =
            read_whole(&file, Span::new(0, TEXT.len() as u32), Notation::Yaml).expect("a value");
        assert_eq!(schema(&again), schema(&whole));
    }

    #[test]
    fn a_long_text_of_few_schemas_is_kept() {
        let left_out = LeftOut {
            under: &["schema"],
            without: None,
        };
        let choice = ReadChoice {
            left_out,
            recallable: true,
            ..ReadChoice::default()
        };
        let text = |schemas: usize, others: usize| {
            let schema = format!(
                "schema: {{a: {}}}\n---\n",
                "x".repeat(SHORT / schemas.max(1))
            );
            [schema.repeat(schemas), "a: 1\n---\n".repeat(others)].concat()
        };
        let own = |text: String| {
            let (tree, _) = value(&SourceFile::new("f.yaml", text), choice);
            tree.root()
                .get("a")
                .and_then(Value::as_int)
                .map(|_| tree.file.is_partial())
        };
        assert_eq!(own(text(1, FEW - 1)), Some(true));
        assert_eq!(own(text(1, FEW)), Some(false));
        assert_eq!(own(text(2, FEW)), Some(true));
        assert_eq!(own("a: 1\n---\n".repeat(SHORT)), Some(false));
    }

    #[test]
    fn what_an_alias_may_need_is_kept() {
        let file = SourceFile::new("f.yaml", "schema: {a: &x 1}\nb: *x\n");
        let (tree, _) = value(
            &file,
            ReadChoice {
                left_out: LeftOut {
                    under: &["schema"],
                    without: None,
                },
                ..ReadChoice::default()
            },
        );
        assert_eq!(tree.root().get("b").and_then(Value::as_int), Some(1));
        assert!(tree.is_whole());
    }

    #[test]
    fn an_object_is_as_large_as_its_texts() {
        let refused = |text: String| {
            let documents = read(&SourceFile::new("f.yaml", text));
            matches!(documents[0].content, Content::Unreadable(_))
        };
        let object = |kind: &str, length: usize| {
            format!("kind: {kind}\ndata: {{a: '{}'}}\n", "x".repeat(length))
        };
        assert!(refused(object("ConfigMap", MAX_REQUEST)));
        assert!(!refused(object("ConfigMap", MAX_REQUEST - 100)));
        let items = format!(
            "kind: List\nitems:\n{}",
            "- {kind: ConfigMap, name: a}\n".repeat(MAX_REQUEST / 20)
        );
        assert!(!refused(items));
        // These are `null`, however much room they take.
        assert!(!refused(format!(
            "kind: ConfigMap\ndata:\n{}",
            "- # nothing\n".repeat(MAX_REQUEST / 10)
        )));
    }
}
