//! The templates of rendered documents: `helm template` begins each with `---` and `# Source: web/templates/crd.yaml`.

use memchr::memmem;

use crate::text::{Span, TemplateMark};

const SOURCE: &str = "# Source: ";

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether a comment before the first key of a document may name its template.
pub(super) fn may_name_template(document: &str) -> bool {
    before_keys(document.trim_start_matches(BYTE_ORDER_MARK)).contains(SOURCE)
}

/// Whether Helm rendered a text: a comment names the template of one of its documents.
pub fn is_rendered(text: &str) -> bool {
    !templates(text).is_empty()
}

/// Returns the start of each document of `text`, with the path of its template if a comment before its first key names
/// one. The result is empty if no comment does.
pub(super) fn templates(text: &str) -> Vec<TemplateMark> {
    // PowerShell writes a byte order mark first.
    let mut start = if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len_utf8()
    } else {
        0
    };
    let mut documents = vec![(0, None)];
    loop {
        let head = before_keys(&text[start..]);
        for line in head.split_inclusive('\n') {
            let at = start;
            start += line.len();
            let line = line.trim_end();
            if line.starts_with("---") {
                documents.push((at as u32, None));
            } else if let Some(path) = line.strip_prefix(SOURCE).filter(|path| is_template(path)) {
                let from = at + SOURCE.len();
                if let Some((_, template)) = documents.last_mut() {
                    *template = Some(Span::new(from as u32, (from + path.len()) as u32));
                }
            }
        }
        match memmem::find(&text.as_bytes()[start..], b"\n---") {
            Some(next) => start += next + 1,
            None => break,
        }
    }
    if documents.iter().all(|(_, template)| template.is_none()) {
        documents.clear();
    }
    documents
}

/// Returns the lines of a text before its first key.
fn before_keys(text: &str) -> &str {
    let lines = text.split_inclusive('\n').take_while(|line| {
        line.starts_with("---") || line.starts_with('#') || line.trim_end().is_empty()
    });
    &text[..lines.map(str::len).sum()]
}

/// Whether Helm writes such a path: in a folder that it renders. Users write URLs in such comments.
fn is_template(path: &str) -> bool {
    !path.contains(char::is_whitespace)
        && !path.contains("://")
        && ["/templates/", "/crds/"]
            .iter()
            .any(|folder| path.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<Option<&str>> {
        templates(text)
            .into_iter()
            .map(|(_, span)| span.map(|span| &text[span.range()]))
            .collect()
    }

    #[test]
    fn source_comment_names_the_template_of_its_document() {
        let text = "---\n# Source: web/templates/a.yaml\nkind: A\n---\nkind: B\n---\n# Source: web/charts/db/templates/c.yaml\r\nkind: C\n";
        let (a, c) = (
            Some("web/templates/a.yaml"),
            Some("web/charts/db/templates/c.yaml"),
        );
        assert_eq!(named(text), [None, a, None, c]);
    }

    #[test]
    fn byte_order_mark_does_not_hide_source_comment() {
        assert_eq!(
            named("\u{feff}---\n# Source: web/templates/a.yaml\nkind: A\n")[1],
            Some("web/templates/a.yaml")
        );
    }

    #[test]
    fn urls_and_comments_after_keys_name_no_template() {
        assert_eq!(
            named(
                "# Source: https://example.com/x/templates/a.yaml\nkind: A\n# Source: web/templates/b.yaml\n"
            ),
            []
        );
        assert!(!may_name_template(
            "kind: A\n# Source: web/templates/b.yaml\n"
        ));
        assert!(may_name_template(
            "\u{feff}---\n\n# Source: web/templates/b.yaml\nkind: A\n"
        ));
    }
}
