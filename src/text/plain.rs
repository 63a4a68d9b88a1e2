//! Text from manifests, made safe for a terminal: nothing in it can move the cursor, change colours, open links or
//! turn the reading direction around.

use std::borrow::Cow;

/// `text` with every character that a terminal would act on replaced by a visible one. Tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(|c| picture(c).is_some()) {
        Cow::Owned(text.chars().map(|c| picture(c).unwrap_or(c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// `text` as one visible line: white space, line breaks included, becomes single spaces.
pub(crate) fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// The beginning of `text`, at most `limit` characters, with an ellipsis when something is cut.
pub(crate) fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    if text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().take(limit.saturating_sub(1)).chain(std::iter::once('…')).collect())
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The replacement of a control or direction character; `None` for a character that is safe.
fn picture(c: char) -> Option<char> {
    match c {
        '\t' => None,
        // Unicode has a picture of each of the old control characters: ␛ for escape.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('␡'),
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        // Marks, embeddings, overrides and isolates of the bidirectional algorithm, and the two other line breaks.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_and_not_obeyed() {
        assert_eq!(visible("a\u{1b}]8;;x\u{7}b"), "a␛]8;;x␇b");
        assert_eq!(visible("user\u{202e}nimda"), "user\u{fffd}nimda");
        assert_eq!(visible("C1 \u{9b}31m"), "C1 \u{fffd}31m");
        assert_eq!(visible("tab\tand é 😀"), "tab\tand é 😀");
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(one_line("a\r\n  b\tc\u{2028}d\u{85}e"), "a b c d e");
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shortened("héllo", 5), "héllo");
        assert_eq!(shortened("héllo!", 5), "héll…");
    }
}
