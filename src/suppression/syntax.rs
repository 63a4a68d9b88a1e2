//! The text of a directive: `ownerlint: ignore[rule-a, rule-b] reason`.
//!
//! Spaces are optional. A text that looks like a directive but is not is reported as malformed, because a directive
//! that silently has no effect is worse than none.

use std::ops::Range;

/// A comment that is a directive, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenDirective {
    /// Whether it is `ignore-document`.
    pub(super) document: bool,
    /// The rules, each with its bytes in the text.
    pub(super) rules: Vec<Range<usize>>,
    /// The reason; `None` when nothing follows the list.
    pub(super) reason: Option<String>,
}

/// Why a text that looks like a directive is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// `ownerlint ignore[…]`.
    NoColon,
    /// `ownerlint: disable[…]`.
    UnknownVerb,
    /// `ownerlint: ignore rule`.
    NoList,
    /// `ownerlint: ignore[rule`.
    OpenList,
    /// `ownerlint: ignore[]`.
    EmptyList,
}

impl Fault {
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::NoColon => "a directive needs a colon after `ownerlint`",
            Self::UnknownVerb => "a directive begins with `ignore` or `ignore-document`",
            Self::NoList => "a directive needs a list of rules in brackets",
            Self::OpenList => "the list of rules is not closed",
            Self::EmptyList => "a directive names its rules: you cannot ignore all rules at once",
        }
    }
}

/// The word that begins every directive.
const NAME: &str = "ownerlint";

/// Verbs that reveal a directive without a colon: `ignore`, and those of other tools.
const VERBS: [&str; 6] = ["ignore", "disable", "noqa", "nolint", "skip", "suppress"];

/// Whether a text begins with `ownerlint`, after `#` and spaces.
pub(super) fn begins(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
    text.get(..NAME.len())
        .is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// Parses the text of a comment after its `#`. Returns `None` if it does not look like a directive.
pub(super) fn parse(text: &str) -> Option<Result<WrittenDirective, Fault>> {
    let mut cursor = Words { text, at: 0 };
    cursor.skip(|c| c == '#' || c.is_whitespace());
    let name = cursor.word(|c| c.is_ascii_alphanumeric());
    if !text[name].eq_ignore_ascii_case(NAME) {
        return None;
    }
    cursor.skip(char::is_whitespace);
    if !cursor.eat(':') {
        cursor.skip(|c| matches!(c, '-' | '/' | '_' | '.' | '='));
        let verb = cursor.word(|c| c.is_alphanumeric());
        let verb = text[verb].to_ascii_lowercase();
        return VERBS
            .contains(&verb.as_str())
            .then_some(Err(Fault::NoColon));
    }
    cursor.skip(char::is_whitespace);
    Some(directive(text, cursor))
}

fn directive(text: &str, mut cursor: Words<'_>) -> Result<WrittenDirective, Fault> {
    let verb = cursor.word(|c| c.is_alphanumeric() || c == '-' || c == '_');
    let document = match &text[verb] {
        "ignore" => false,
        "ignore-document" => true,
        _ => return Err(Fault::UnknownVerb),
    };
    cursor.skip(char::is_whitespace);
    if !cursor.eat('[') {
        return Err(Fault::NoList);
    }
    let start = cursor.at;
    let length = text[start..].find(']').ok_or(Fault::OpenList)?;
    let rules = names(text, start..start + length);
    if rules.is_empty() {
        return Err(Fault::EmptyList);
    }
    Ok(WrittenDirective {
        document,
        rules,
        reason: reason(&text[start + length + 1..]),
    })
}

/// Returns the ranges of the names between commas, without the spaces around them.
fn names(text: &str, list: Range<usize>) -> Vec<Range<usize>> {
    let mut at = list.start;
    let mut names = Vec::new();
    for piece in text[list].split(',') {
        let start = at + piece.len() - piece.trim_start().len();
        let name = piece.trim();
        if !name.is_empty() {
            names.push(start..start + name.len());
        }
        at += piece.len() + 1;
    }
    names
}

/// Returns the text after the list. A further comment (`# noqa`) belongs to another tool and is not a reason.
fn reason(text: &str) -> Option<String> {
    let own = text.match_indices('#').find(|&(at, _)| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        before.chars().next_back().is_none_or(char::is_whitespace)
            && after.starts_with(char::is_whitespace)
    });
    let text = own.map_or(text, |(at, _)| &text[..at]);
    let text = text.trim_start_matches([':', '-', '–', '—', ' ', '\t']);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Words<'_> {
    fn skip(&mut self, unwanted: impl Fn(char) -> bool) {
        self.word(unwanted);
    }

    fn word(&mut self, wanted: impl Fn(char) -> bool) -> Range<usize> {
        let start = self.at;
        let rest = &self.text[start..];
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        start..self.at
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.text[self.at..].starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a directive is for the document, its rules, and its reason.
    type Parts<'a> = (bool, Vec<&'a str>, Option<String>);

    fn read(text: &str) -> Option<Result<Parts<'_>, Fault>> {
        parse(text).map(|parsed| {
            parsed.map(|written| {
                let rules = written.rules.into_iter().map(|rule| &text[rule]);
                (written.document, rules.collect(), written.reason)
            })
        })
    }

    #[test]
    fn directive_spacing_and_case_are_lenient() {
        let reason = Some("because of #12".to_owned());
        for text in [
            " ownerlint: ignore[rule-a, rule-b] because of #12",
            "ownerlint:ignore[rule-a,rule-b]because of #12",
            "  OwnerLint :  ignore [ rule-a ,rule-b, ] — because of #12 # noqa",
        ] {
            let wanted = (false, vec!["rule-a", "rule-b"], reason.clone());
            assert_eq!(read(text), Some(Ok(wanted)), "{text}");
        }
    }

    #[test]
    fn a_reason_may_be_missing() {
        for (text, document) in [
            ("ownerlint: ignore[a]", false),
            ("ownerlint: ignore-document[a] # noqa", true),
        ] {
            assert_eq!(read(text), Some(Ok((document, vec!["a"], None))));
        }
    }

    #[test]
    fn malformed_directives_are_reported_with_their_fault() {
        assert_eq!(read("ownerlint ignore[a] x"), Some(Err(Fault::NoColon)));
        assert_eq!(read("ownerlint-disable a"), Some(Err(Fault::NoColon)));
        assert_eq!(read("ownerlint: disable[a]"), Some(Err(Fault::UnknownVerb)));
        assert_eq!(read("ownerlint: IGNORE[a]"), Some(Err(Fault::UnknownVerb)));
        assert_eq!(read("ownerlint: ignore a"), Some(Err(Fault::NoList)));
        assert_eq!(read("ownerlint: ignore[a"), Some(Err(Fault::OpenList)));
        assert_eq!(read("ownerlint: ignore[ , ]"), Some(Err(Fault::EmptyList)));
    }

    #[test]
    fn prose_is_not_a_directive() {
        for text in [
            "ownerlint ignores this",
            "ownerlint is a linter",
            "the ownerlint: ignore[a]",
            "ownerlinting: x",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
