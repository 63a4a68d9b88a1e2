//! Invariants for any text.

use std::sync::Arc;

use ownerlint::text::{SourceFile, Span, decode};
use ownerlint::yaml::{Content, Document, Kind, Value, read};
use proptest::prelude::*;

use crate::properties::cases;
use crate::yaml::support::to_json;

/// A manifest with every construct, to be mutated.
const MANIFEST: &str = "# top\napiVersion: v1\nkind: \"ConfigMap\"\nmetadata:\n  name: 'it''s'\n  labels: &l {a: b, \"c\": [1, yes]}\n  \
    annotations:\n    <<: *l\n    long: >-\n      one\n      two\n  finalizers:\n  - x/y # c\n  - \"a\\\n     b\\u00e9\"\ndata:\n  k: |\n    \
    # no\n    text\n\n  ? e\n  : !!str 5\n---\n{\"apiVersion\": \"v1\", \"a\": [1.5, null]}\n--- # s\nplain\n  goes on\n...\nrest\n";

/// Pieces with a special meaning in YAML, so that mutations reach its corner cases.
const PIECES: &[&str] = &[
    "\n", " ", "  ", "\t", "\r\n", ":", ": ", "- ", "? ", "#", " #", "'", "\"", "|", ">", "|-\n",
    "{", "}", "[", "]", ",", "&a ", "*a", "!!str ", "!", "<<: ", "---", "---\n", "...", "...\n",
    "%", "@", "\\", "\\u12", "é", "😀", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{7F}", "{{ x }}",
    "yes", "0x1", ".inf", "null", "=",
];

fn spans_of(document: &Document) -> Vec<Span> {
    let mut spans = vec![document.span];
    spans.extend(
        document
            .problems
            .iter()
            .flat_map(|problem| [Some(problem.span), problem.related])
            .flatten(),
    );
    spans.extend(document.quirks.iter().map(|(_, span)| *span));
    match &document.content {
        Content::Empty => {}
        Content::Unreadable(error) => spans.push(error.span),
        Content::Value(tree) => collect(tree.root(), &mut spans),
    }
    spans
}

fn collect<'a>(root: Value<'a>, spans: &mut Vec<Span>) {
    let mut pending: Vec<Value<'a>> = vec![root];
    // Aliases share nodes, so the walk is bounded.
    while let Some(value) = pending.pop().filter(|_| spans.len() < 10_000) {
        spans.push(value.span());
        spans.extend(value.entries().map(|entry| entry.key_span));
        pending.extend(
            value
                .entries()
                .map(|entry| entry.value)
                .chain(value.items()),
        );
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let file = SourceFile::new("f", text);
    let documents = read(file.shared_text());
    for (place, document) in documents.iter().enumerate() {
        prop_assert_eq!(document.index as usize, place);
        for span in spans_of(document)
            .into_iter()
            .chain(document.comments.iter().map(|comment| comment.span))
        {
            prop_assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
        }
        if let Content::Value(tree) = &document.content {
            scalars_read_alike_on_their_own(text, tree.root())?;
        }
    }
    Ok(())
}

/// Asserts that the text of a scalar's span has the value of the scalar. Exceptions are block scalars, which need their
/// indentation, and values that depend on their context: a tag is not part of the span and may be lines above its value
/// (`!---` is one), so a value after a `!` is not compared.
fn scalars_read_alike_on_their_own(text: &str, root: Value<'_>) -> Result<(), TestCaseError> {
    let mut pending = vec![root];
    let mut seen = 0;
    while let Some(value) = pending.pop().filter(|_| seen < 10_000) {
        seen += 1;
        pending.extend(
            value
                .entries()
                .map(|entry| entry.value)
                .chain(value.items()),
        );
        let written = text.get(value.span().range()).unwrap_or_default();
        let before = &text[..value.span().start as usize];
        let quoted = written.starts_with(['"', '\'']);
        if value.is_map() || value.is_seq() || written.starts_with(['|', '>']) || written.is_empty()
        {
            continue;
        }
        // In a flow, `1:` before a comma is text; alone, it would be a key.
        if written.ends_with(':') || before.contains('!') || (!quoted && !is_one_line(written)) {
            continue;
        }
        let alone = read(&Arc::new(format!("- {written}\n")));
        let again = match alone.first().map(|document| &document.content) {
            Some(Content::Value(tree)) => tree.root().items().next().map(to_json),
            _ => None,
        };
        let json_number = matches!(value.kind(), Kind::Float(_)) && written.parse::<f64>().is_ok();
        if json_number
            || text
                .trim_start_matches('\u{FEFF}')
                .trim_start()
                .starts_with('{')
        {
            continue;
        }
        prop_assert_eq!(again, Some(to_json(value)), "{:?} in {:?}", written, text);
    }
    Ok(())
}

fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = decode(bytes) {
            check(&text)?;
        }
    }

    #[test]
    fn random_yaml_pieces_have_spans_inside_the_file(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40),
    ) {
        check(&pieces.concat())?;
    }

    #[test]
    fn mutated_manifest_has_spans_inside_the_file(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..12_usize, proptest::sample::select(PIECES)), 1..6),
    ) {
        let mut text = MANIFEST.to_owned();
        for (place, removed, piece) in edits {
            let mut start = place.index(text.len() + 1);
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let mut end = (start + removed).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(start..end, piece);
        }
        check(&text)?;
    }
}

#[test]
fn manifest_before_mutation_is_readable() {
    let documents = read(&Arc::new(MANIFEST.to_owned()));
    assert_eq!(documents.len(), 3);
    assert!(
        documents
            .iter()
            .all(|document| matches!(document.content, Content::Value(_)))
    );
}
