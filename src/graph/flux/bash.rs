//! The functions of bash on values of variables, as Flux has them (fluxcd/pkg envsubst/funcs.go).

use std::str::Chars;

use regex::Regex;

/// The number of pattern-matching steps that cost as much as one byte of text.
const STEPS: usize = 16;

/// Returns the cost of a function in bytes, which the caller takes from the text budget: the text that a replacement
/// adds, or the steps of matching a pattern divided by [`STEPS`]. 0 for other functions, which add little text.
pub(super) fn cost(value: &str, function: &str, arguments: &[&str]) -> usize {
    match (function, arguments) {
        ("//", [old, new]) => value.matches(old).count().saturating_mul(new.len()),
        ("#" | "##" | "%" | "%%", [pattern, ..]) => {
            value.len().saturating_mul(pattern.len()) / STEPS
        }
        _ => 0,
    }
}

/// Applies a function to a value. `None` if the result is not valid UTF-8, depends on the version of Flux, or needs a
/// pattern that is not evaluated.
pub(super) fn apply(value: &str, function: &str, arguments: &[&str]) -> Option<String> {
    let (first, rest) = value.split_at(value.chars().next().map_or(0, char::len_utf8));
    Some(match (function, arguments) {
        ("^^", _) => upper(value)?,
        ("^", _) => upper(first)? + rest,
        (",,", _) => lower(value)?,
        (",", _) => lower(first)? + rest,
        ("#", []) => value.len().to_string(),
        ("#", [pattern, ..]) => without_prefix(value, pattern, false)?,
        ("##", [pattern, ..]) => without_prefix(value, pattern, true)?,
        ("%", [pattern, ..]) => without_suffix(value, pattern, false)?,
        ("%%", [pattern, ..]) => without_suffix(value, pattern, true)?,
        (":", [start]) => part(value, start, None)?,
        (":", [start, length]) => part(value, start, Some(length))?,
        ("/" | "//", [old, rest @ ..]) => {
            let new = rest.first().copied().unwrap_or_default();
            let most = if function == "/" { 1 } else { usize::MAX };
            value.replacen(old, new, most)
        }
        ("/#", [old, new]) => match value.strip_prefix(old) {
            Some(rest) => format!("{new}{rest}"),
            None => value.to_owned(),
        },
        ("/%", [old, new]) => match value.strip_suffix(old) {
            Some(rest) => format!("{rest}{new}"),
            None => value.to_owned(),
        },
        _ => value.to_owned(),
    })
}

/// Converts each character to upper case; `None` if one becomes several, such as `ß`.
fn upper(text: &str) -> Option<String> {
    let upper = text.chars().map(|c| one(c.to_uppercase()));
    upper.collect()
}

/// Converts each character to lower case; `None` if one becomes several.
fn lower(text: &str) -> Option<String> {
    let lower = text.chars().map(|c| one(c.to_lowercase()));
    lower.collect()
}

fn one(mut all: impl Iterator<Item = char>) -> Option<char> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// Returns a byte range of a value, or the whole value if an argument is not a number. `None` if
/// the range is not valid UTF-8, or if `length` is negative, for which most versions of Flux fail.
fn part(value: &str, start: &str, length: Option<&str>) -> Option<String> {
    let Ok(start) = start.parse::<i64>() else {
        return Some(value.to_owned());
    };
    let end = i64::try_from(value.len()).ok()?;
    let start = if start < 0 {
        (end + start).max(0)
    } else {
        start
    };
    let stop = match length.map(str::parse::<i64>) {
        None => end,
        Some(Err(_)) => return Some(value.to_owned()),
        Some(Ok(length)) if length < 0 => return None,
        Some(Ok(length)) => start.checked_add(length)?.min(end),
    };
    let range =
        usize::try_from(start.min(end)).ok()?..usize::try_from(stop.max(start.min(end))).ok()?;
    value.get(range).map(str::to_owned)
}

/// Removes the shortest or longest match of a pattern from the end of a value. As in Flux, the
/// pattern is reversed, too, which makes classes of characters malformed.
fn without_suffix(value: &str, pattern: &str, longest: bool) -> Option<String> {
    let rest = without_prefix(&reversed(value), &reversed(pattern), longest);
    rest.map(|rest| reversed(&rest))
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// Removes the shortest or longest match of a pattern from the start of a value; the match has at least one character. A
/// malformed pattern removes nothing (`trimShortest` and `trimLongest` in Flux's `envsubst/funcs.go`). `None` for patterns
/// that are too large or contain a range such as `b-a`.
fn without_prefix(value: &str, pattern: &str, longest: bool) -> Option<String> {
    let Some(prefix) = prefix_of(pattern, longest) else {
        return Some(value.to_owned());
    };
    let found = Regex::new(&prefix).ok()?.find(value);
    let end = found.map_or(0, |found| found.end());
    // Asterisks alone also match the empty text, which Flux does not count as a match.
    let is_empty_match = found.is_some() && end == 0 && !pattern.is_empty();
    let first = value.chars().next().map_or(0, char::len_utf8);
    let rest = &value[if is_empty_match { first } else { end }..];
    Some(rest.to_owned())
}

/// Converts a shell pattern to a regular expression that matches at the start of a text; `None` if it is malformed. The
/// syntax is that of Go's `path.Match`, except that a slash is an ordinary character.
fn prefix_of(pattern: &str, longest: bool) -> Option<String> {
    let mut expression = String::from("(?s)^");
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' if longest => expression.push_str(".*"),
            '*' => expression.push_str(".*?"),
            '?' => expression.push('.'),
            '\\' => expression.push_str(&regex::escape(chars.next()?.encode_utf8(&mut [0; 4]))),
            '[' => {
                let (class, rest) = class_of(chars.as_str())?;
                expression.push_str(&class);
                chars = rest.chars();
            }
            _ => expression.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Some(expression)
}

/// Converts a class of characters, given the text after its `[`. Returns its regular expression and the text after its
/// `]`.
fn class_of(text: &str) -> Option<(String, &str)> {
    let (mut class, text) = match text.strip_prefix('^') {
        Some(text) => (String::from("[^"), text),
        None => (String::from("["), text),
    };
    let mut chars = text.chars();
    loop {
        class.push_str(&bound(&mut chars)?);
        if let Some(rest) = chars.as_str().strip_prefix('-') {
            chars = rest.chars();
            class.push('-');
            class.push_str(&bound(&mut chars)?);
        }
        if let Some(rest) = chars.as_str().strip_prefix(']') {
            class.push(']');
            return Some((class, rest));
        }
    }
}

/// Reads a character of a class, or a bound of a range of characters; `None` if there is none.
fn bound(chars: &mut Chars<'_>) -> Option<String> {
    let bound = match chars.next()? {
        '-' | ']' => return None,
        '\\' => chars.next()?,
        c => c,
    };
    Some(regex::escape(bound.encode_utf8(&mut [0; 4])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_are_not_evaluated_remove_nothing_known() {
        assert_eq!(apply("abc", "#", &["[b-a]"]), None);
        let large = "?".repeat(200_000);
        assert_eq!(apply("abc", "##", &[&large]), None);
    }

    #[test]
    fn cost_of_patterns_grows_with_value_and_pattern() {
        let (value, pattern) = ("a".repeat(1_000), "*a".repeat(800));
        assert_eq!(cost(&value, "##", &[&pattern]), 100_000);
        assert_eq!(cost("abc", "#", &["a"]), 0);
    }

    #[test]
    fn prefixes_and_suffixes_are_removed_as_envsubst_does() {
        // Recorded with github.com/fluxcd/pkg/envsubst 1.4.0.
        for (value, function, expected) in [
            ("{-*cca{", "#[^a]*a", "{"),
            ("éé*", "#*\\*", ""),
            ("cab", "##*a[ab]", ""),
            ("b--b", "%*", "b--"),
            ("a/b/c", "#*", "/b/c"),
            ("a*", "%{a,b}", "a*"),
            ("*bcé-*{", "##*é", "-*{"),
            ("c/-babb", "%a*", "c/-b"),
            ("bba{éb", "#[a-b]", "ba{éb"),
            ("bba{éb", "%[a-b]", "bba{éb"),
            ("bac", "#[^a][a", "bac"),
            ("abc", "#[a-]", "abc"),
            ("abc", "#[a--b]", "abc"),
            ("-é", "##-", "é"),
            ("-écé-", "%?*", "-écé"),
        ] {
            let sign = if function.as_bytes()[1] == function.as_bytes()[0] {
                2
            } else {
                1
            };
            let (sign, pattern) = function.split_at(sign);
            assert_eq!(
                apply(value, sign, &[pattern]).as_deref(),
                Some(expected),
                "{value}{function}"
            );
        }
    }
}
