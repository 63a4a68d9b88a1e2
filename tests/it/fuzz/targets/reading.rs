//! Targets for reading untrusted texts: as YAML, compared with another parser, and as objects.

use std::sync::Arc;

use ownerlint::inventory::{Inventory, Settings};
use ownerlint::manifest::ParsedFile;
use ownerlint::text::{SourceFile, Span};
use ownerlint::yaml::{self, Content};

use super::port;
use super::text;

fn within(span: Span, text: &str) -> bool {
    let (start, end) = (span.start as usize, span.end as usize);
    start <= end && end <= text.len() && text.is_char_boundary(start) && text.is_char_boundary(end)
}

/// Splitting and parsing: every span is within the text.
pub(crate) fn documents(data: &[u8]) {
    let text = text(data);
    let mut end = 0;
    for document in yaml::read(&Arc::new(text.clone())) {
        assert!(
            within(document.span, &text) && document.span.start >= end,
            "documents are in order"
        );
        end = document.span.start;
        assert!(
            document
                .comments
                .iter()
                .all(|comment| within(comment.span, &text))
        );
        for problem in &document.problems {
            assert!(
                within(problem.span, &text)
                    && problem.related.is_none_or(|span| within(span, &text))
            );
        }
        assert!(document.quirks.iter().all(|(_, span)| within(*span, &text)));
        match document.content {
            Content::Empty => {}
            Content::Unreadable(error) => {
                assert!(within(error.span, &text) && !error.message.is_empty());
            }
            Content::Value(tree) => assert!(within(tree.root().span(), &text)),
        }
    }
}

/// The parser agrees with a port of libyaml, except for the differences listed in [`port`].
pub(crate) fn libyaml(data: &[u8]) {
    let difference = port::difference(&text(data));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

/// Objects, templates and definitions, and the masked values of Secrets.
pub(crate) fn objects(data: &[u8]) {
    let text = text(data);
    let file = ParsedFile::parse(SourceFile::new("f.yaml", text.clone()));
    for object in file
        .documents()
        .iter()
        .flat_map(ownerlint::manifest::ParsedDocument::objects)
    {
        assert!(within(object.name_span(), &text));
        assert!(
            object.name().is_none_or(|name| name.len() < 1100),
            "a name is bounded"
        );
        object.templates().for_each(drop);
        object.definition();
    }
    for line in 1..=file.source().line_count().min(1000) {
        let written = file
            .source()
            .line_span(line)
            .map_or(0, |span| span.end - span.start);
        assert_eq!(
            file.source().shown_line(line).len(),
            written as usize,
            "what is hidden moves nothing"
        );
    }
    Inventory::new(vec![file], Settings::default());
}
