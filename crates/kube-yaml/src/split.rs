//! Splits the text of a YAML stream as Kubernetes' `YAMLReader` does, before any parser runs.
//!
//! Every line that starts with `---` is a separator, even inside a block scalar. Only blanks and a comment may follow
//! the `---`. If there is no text before the separator, it belongs to the next document. Source: k8s.io/apimachinery,
//! pkg/util/yaml/decoder.go.

use memchr::{memchr, memmem};

use crate::Span;

/// A piece of the stream that counts as one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The text of one document.
    Chunk(Span),
    /// A line like `---foo`: Kubernetes rejects it, and loses the text before it in the same document.
    BadSeparator { span: Span, line: Span },
}

/// Splits `text` from `start` on into documents.
pub(super) fn split(text: &str, start: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut collected: Option<usize> = None;
    let mut at = start;
    for separator in separators(text, start) {
        if separator > at {
            collected.get_or_insert(at);
        }
        let line = &text[separator..];
        let line = &line[..memchr(b'\n', line.as_bytes()).map_or(line.len(), |end| end + 1)];
        at = separator + line.len();
        let after = line["---".len()..].trim();
        if !after.is_empty() && !after.starts_with('#') {
            let end = separator + line.trim_end().len();
            pieces.push(Piece::BadSeparator {
                span: span(collected.take().unwrap_or(separator), end),
                line: span(separator, end),
            });
        } else if let Some(start) = collected.take() {
            pieces.push(Piece::Chunk(span(start, separator)));
        } else {
            collected = Some(separator);
        }
    }
    if at < text.len() {
        collected.get_or_insert(at);
    }
    if let Some(start) = collected {
        pieces.push(Piece::Chunk(span(start, text.len())));
    }
    pieces
}

/// Returns the offsets of the lines from `start` on that begin with `---`.
fn separators(text: &str, start: usize) -> impl Iterator<Item = usize> {
    let rest = text.get(start..).unwrap_or_default();
    let first = rest.starts_with("---").then_some(start);
    first
        .into_iter()
        .chain(memmem::find_iter(rest.as_bytes(), "\n---").map(move |found| start + found + 1))
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(text: &str) -> Vec<&str> {
        let pieces = split(text, 0).into_iter();
        let chunks = pieces.map(|piece| match piece {
            Piece::Chunk(span) | Piece::BadSeparator { span, .. } => &text[span.range()],
        });
        chunks.collect()
    }

    #[test]
    fn separator_ends_its_document_and_leading_one_begins_it() {
        assert_eq!(chunks("a\n---\nb\n---\n"), ["a\n", "b\n"]);
        assert_eq!(chunks("---\na\n"), ["---\na\n"]);
        assert_eq!(
            chunks("---\n---\n# c\n---\nx\n---\n---\n"),
            ["---\n", "# c\n", "x\n", "---\n"]
        );
        assert_eq!(chunks(""), Vec::<&str>::new());
    }

    #[test]
    fn only_blanks_and_comments_may_follow_a_separator() {
        assert_eq!(chunks("a\n--- # x\nb\n---\t\r\nc"), ["a\n", "b\n", "c"]);
        assert!(
            matches!(split("a\n---foo\nb\n", 0)[..], [Piece::BadSeparator { span, line }, Piece::Chunk(_)]
            if span == Span::new(0, 8) && line == Span::new(2, 8))
        );
        assert!(matches!(
            split("----\n", 0)[..],
            [Piece::BadSeparator { .. }]
        ));
    }
}
