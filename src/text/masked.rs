//! Masks hidden parts of a text.

use std::borrow::Cow;

use super::Span;

/// Replaces each byte of `hidden` in a part of a text by an asterisk, so that offsets stay right; blanks stay. `part`
/// begins at `start`, and `hidden` are sorted spans of the text without overlaps.
pub(super) fn masked<'t>(part: &'t str, start: u32, hidden: &[Span]) -> Cow<'t, str> {
    let end = start + part.len() as u32;
    let first = hidden.partition_point(|hidden| hidden.end <= start);
    let mut hidden = hidden[first..]
        .iter()
        .take_while(|hidden| hidden.start < end)
        .peekable();
    if hidden.peek().is_none() {
        return Cow::Borrowed(part);
    }
    let mut shown = String::with_capacity(part.len());
    for (at, c) in part.char_indices().map(|(at, c)| (start + at as u32, c)) {
        while hidden.next_if(|hidden| hidden.end <= at).is_some() {}
        match hidden.peek() {
            Some(hidden) if hidden.start <= at && !c.is_whitespace() => {
                shown.extend(std::iter::repeat_n('*', c.len_utf8()));
            }
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}
