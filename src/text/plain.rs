//! Makes text from manifests safe for a terminal: nothing in it can move the cursor, change colours, open links or
//! reverse the reading direction.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};

/// Replaces every character that a terminal would interpret by a visible one. Tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(|c| picture(c).is_some()) {
        Cow::Owned(text.chars().map(|c| picture(c).unwrap_or(c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Replaces every character that a terminal would interpret by one of as many bytes, so that offsets stay right. Line
/// breaks and tabs stay.
pub(crate) fn visible_in_place(text: &str) -> String {
    let replaced = text.chars().map(|c| match c {
        '\n' | '\t' => c,
        _ if picture(c).is_none() => c,
        _ => match c.len_utf8() {
            1 => '?',
            2 => '¿',
            _ => char::REPLACEMENT_CHARACTER,
        },
    });
    replaced.collect()
}

/// Escapes every character in JSON that a terminal would interpret. In strings, JSON itself escapes the characters
/// below U+0020.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_obeyed_in_json) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_obeyed_in_json(c) {
            escaped.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

fn is_obeyed_in_json(c: char) -> bool {
    c >= '\u{7f}' && picture(c).is_some()
}

/// Returns `text` as one visible line: white space, including line breaks, becomes single spaces.
pub(crate) fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// Lists the first eight of `all` as code, and counts the others: `` `a`, `b`, 3 more ``.
pub(crate) fn few(all: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 8;
    let shown = all.iter().take(SHOWN);
    let mut shown: Vec<String> = shown.map(|one| format!("`{}`", one.as_ref())).collect();
    if all.len() > SHOWN {
        shown.push(format!("{} more", all.len() - SHOWN));
    }
    shown.join(", ")
}

/// Returns a path as reports show it: with forward slashes, and with bytes that are not UTF-8 as `\xFF`. On Unix, a
/// backslash is an ordinary part of a name.
pub(crate) fn path(path: &Path) -> String {
    let text = path_of_bytes(path.as_os_str().as_encoded_bytes());
    if MAIN_SEPARATOR == '/' {
        text
    } else {
        text.replace(MAIN_SEPARATOR, "/")
    }
}

/// Formats the bytes of a path like [`path`]. The bytes already have forward slashes.
pub(crate) fn path_of_bytes(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}

/// Truncates `text` to at most `limit` characters, with an ellipsis if something is cut.
pub(crate) fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    if text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .take(limit.saturating_sub(1))
            .chain(std::iter::once('…'))
            .collect(),
    )
}

/// Returns `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Whether a terminal interprets a character.
pub(crate) fn is_obeyed(c: char) -> bool {
    picture(c).is_some()
}

/// Returns the replacement of a control or direction character; `None` for a character that is safe.
fn picture(c: char) -> Option<char> {
    match c {
        '\t' => None,
        // Unicode has a visible picture of each ASCII control character: ␛ for escape.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('␡'),
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        // Controls of the bidirectional algorithm, and the two Unicode line separators.
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
    fn terminal_escapes_are_made_visible() {
        assert_eq!(visible("a\u{1b}]8;;x\u{7}b"), "a␛]8;;x␇b");
        assert_eq!(visible("user\u{202e}nimda"), "user\u{fffd}nimda");
        assert_eq!(visible("C1 \u{9b}31m"), "C1 \u{fffd}31m");
        assert_eq!(visible("tab\tand é 😀"), "tab\tand é 😀");
    }

    #[test]
    fn in_place_replacement_preserves_length() {
        let text = "a\u{1b}[31m\u{9b}b\u{202e}c\r\n\td";
        let shown = visible_in_place(text);
        assert_eq!(shown, "a?[31m¿b\u{fffd}c?\n\td");
        assert_eq!(shown.len(), text.len());
    }

    #[test]
    fn control_characters_in_json_are_escaped() {
        let json = "{\"a\": \"\u{7f}\u{9b}\u{202e}é\"}\n";
        assert_eq!(visible_json(json), "{\"a\": \"\\u007f\\u009b\\u202eé\"}\n");
    }

    #[test]
    fn non_utf8_names_stay_distinct() {
        assert_eq!(path_of_bytes(b"a\xFFb\\c.yaml"), "a\\xFFb\\c.yaml");
        assert_ne!(path_of_bytes(b"\xFE"), path_of_bytes(b"\xFF"));
    }

    #[test]
    fn line_breaks_are_folded_into_spaces() {
        assert_eq!(one_line("a\r\n  b\tc\u{2028}d\u{85}e"), "a b c d e");
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shortened("héllo", 5), "héllo");
        assert_eq!(shortened("héllo!", 5), "héll…");
    }
}
