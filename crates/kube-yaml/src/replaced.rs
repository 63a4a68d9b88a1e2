//! A text with some pieces replaced.

use crate::Span;

/// Replaces some spans of `text` by other text. `None` if spans overlap, or are not in the text.
pub fn replaced<'r>(
    text: &str,
    edits: impl IntoIterator<Item = (Span, &'r str)>,
) -> Option<String> {
    let mut edits: Vec<_> = edits.into_iter().collect();
    edits.sort_by_key(|(span, _)| *span);
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for (span, replacement) in edits {
        new.push_str(text.get(at..span.range().start)?);
        new.push_str(replacement);
        at = span.range().end;
    }
    new.push_str(text.get(at..)?);
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_replaced_in_any_order_unless_they_overlap() {
        let cut = (Span::new(1, 3), "");
        let added = (Span::empty(4), "x");
        assert_eq!(replaced("abcd", [added, cut]).as_deref(), Some("adx"));
        assert_eq!(replaced("abcd", [cut, (Span::new(2, 4), "")]), None);
        assert_eq!(replaced("abcd", [(Span::new(3, 9), "")]), None);
    }
}
