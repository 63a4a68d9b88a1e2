//! Compares the scalars of the corpus with those of an independent parser: each must have the same place and text.
//!
//! Our scanner follows go-yaml; `granit-parser` follows YAML 1.2 and shares no code with it. If both can read a
//! document, they must agree on every plain and quoted scalar, including keys.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, options};
use ownerlint::yaml::{Content, Document, Notation, Tree, Value};

use crate::support::corpus;

/// Files in which the other parser and go-yaml differ, and we follow go-yaml.
const DIFFERENT: &[&str] = &[
    // `[1.2.3.4, 001:db8::]`: the last colon is before `]` and not before a space, so go-yaml takes it for text.
    "nasty/istio__pkg__config__validation__testdata__crds__serviceentry-valid.yaml",
];

/// For the start of each scalar, its end, and its text if it is a string.
type Scalars<'a> = BTreeMap<u32, (u32, Option<&'a str>)>;

fn scalars(tree: &Tree) -> Scalars<'_> {
    let mut found = Scalars::new();
    let mut pending: Vec<Value<'_>> = vec![tree.root()];
    while let Some(value) = pending.pop() {
        for entry in value.entries() {
            found.insert(entry.key_span.start, (entry.key_span.end, None));
        }
        if !value.is_map() && !value.is_seq() {
            found.insert(value.span().start, (value.span().end, value.as_str()));
        }
        pending.extend(
            value
                .entries()
                .map(|entry| entry.value)
                .chain(value.items()),
        );
    }
    found
}

/// Whether the tree has all content: duplicates, merges and dropped content are not in it.
fn is_comparable(document: &Document) -> bool {
    document.format == Notation::Yaml && document.problems.is_empty()
}

/// Compares one document. Returns the number of scalars; `None` if the other parser rejects the document.
fn compare(name: &str, text: &str, base: u32, tree: &Tree) -> Option<usize> {
    let ours = scalars(tree);
    let options =
        options! { emit_comments: false, flow_nesting_limit: 10_000, block_nesting_limit: 10_000 };
    let events: Vec<_> = Parser::new_from_str_with_options(text, options)
        .collect::<Result<_, _>>()
        .ok()?;
    let mut compared = 0;
    for (event, span) in &events {
        let Event::Scalar(value, style, ..) = event else {
            continue;
        };
        let range = span.byte_range().expect("a parser over text knows bytes");
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        if block || range.is_empty() || value == "<<" {
            continue;
        }
        let (start, end) = (base + range.start as u32, base + range.end as u32);
        let Some(&(our_end, our_text)) = ours.get(&start) else {
            panic!("{name}: {value:?} at byte {start} is missing");
        };
        assert_eq!(our_end, end, "{name}: the end of {value:?} at byte {start}");
        if let Some(our_text) = our_text {
            assert_eq!(our_text, value, "{name}: the text at byte {start}");
        }
        compared += 1;
    }
    Some(compared)
}

#[test]
fn independent_parser_agrees_on_scalars_and_spans() {
    let Some(corpus) = corpus() else { return };
    let (mut documents, mut compared, mut refused) = (0, 0, 0);
    let files = crate::conformance::corpus::documents(corpus).iter();
    let files =
        files.filter(|(name, _)| !name.ends_with(".json") && !DIFFERENT.contains(&name.as_str()));
    for (name, (file, read)) in files {
        for document in read.iter().filter(|document| is_comparable(document)) {
            let Content::Value(tree) = &document.content else {
                continue;
            };
            let text = file.slice(document.span);
            let merged = text.contains("<<:");
            documents += 1;
            match (!merged)
                .then(|| compare(name, text, document.span.start, tree))
                .flatten()
            {
                Some(count) => compared += count,
                None => refused += 1,
            }
        }
    }
    println!("{compared} scalars in {documents} documents, {refused} not comparable");
    assert!(
        refused * 100 < documents,
        "the other parser refuses or cannot compare only a few: {refused}"
    );
}
