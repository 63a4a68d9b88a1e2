//! Text without what is never shown.

use std::borrow::Cow;

use super::Span;

/// A part of a text that begins at `start`, with an asterisk in the place of each byte of `hidden`, so that places stay
/// right: spans of the text in order, without overlaps. Blanks are not hidden.
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
