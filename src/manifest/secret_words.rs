//! Finds the words in a text that indicate Secrets, once for all its documents.

use memchr::memmem;

use crate::text::Span;

/// The common part of all words for Secrets, which may begin with `s` or `S`.
const SECRET: &str = "ecret";

/// The kustomize field that generates Secrets.
pub(super) const GENERATOR: &str = "secretGenerator";

/// The field that only Secrets have, even if their kind is misspelt.
pub(super) const STRING_DATA: &str = "stringData";

/// The places of a text that indicate Secrets.
#[derive(Debug, Default)]
pub(super) struct SecretWords {
    /// Whether there is any such word, in any place. Most texts have none.
    pub(super) any: bool,
    /// The words after `kind:` that name Secrets, in order.
    kinds: Vec<Span>,
    /// The offsets of generators of Secrets, in order.
    generators: Vec<u32>,
    /// The offsets of [`STRING_DATA`], in order.
    string_data: Vec<u32>,
}

impl SecretWords {
    /// Finds the words in a text.
    pub(super) fn new(text: &str) -> Self {
        let string_data = memmem::find_iter(text.as_bytes(), STRING_DATA)
            .map(|at| at as u32)
            .collect();
        let mut words = Self {
            string_data,
            ..Self::default()
        };
        words.any = !words.string_data.is_empty();
        // The end of the last word, which may contain [`SECRET`] more than once.
        let mut seen = 0;
        for at in memmem::find_iter(text.as_bytes(), SECRET) {
            words.any = true;
            if text[..at].ends_with('s') && text[at - 1..].starts_with(GENERATOR) {
                words.generators.push(at as u32 - 1);
            }
            if at >= seen {
                let start = text[..at]
                    .trim_end_matches(|c: char| c.is_ascii_alphanumeric())
                    .len();
                let length = text[at..].find(|c: char| !c.is_ascii_alphanumeric());
                seen = length.map_or(text.len(), |length| at + length);
                if is_after_kind(&text[..start]) {
                    words.kinds.push(Span::new(start as u32, seen as u32));
                }
            }
        }
        words
    }

    /// Whether a part of the text may contain Secrets, or templates or generators of them.
    pub(super) fn are_in(&self, part: Span) -> bool {
        let holds_data = is_any_in(&self.string_data, part);
        holds_data || self.has_generator_in(part) || !self.kinds_in(part).is_empty()
    }

    /// Returns the words after `kind:` in a part of the text.
    pub(super) fn kinds_in(&self, part: Span) -> &[Span] {
        let first = self.kinds.partition_point(|word| word.start < part.start);
        let count = self.kinds[first..].partition_point(|word| word.end <= part.end);
        &self.kinds[first..first + count]
    }

    pub(super) fn has_generator_in(&self, part: Span) -> bool {
        is_any_in(&self.generators, part)
    }
}

/// Whether a text may contain Secrets, or templates or generators of them.
pub(super) fn are_mentioned_in(text: &str) -> bool {
    SecretWords::new(text).are_in(Span::new(0, text.len() as u32))
}

fn is_any_in(places: &[u32], part: Span) -> bool {
    let first = places.partition_point(|at| *at < part.start);
    places.get(first).is_some_and(|at| *at < part.end)
}

/// Whether a text ends with the key `kind` and the separators before its value.
fn is_after_kind(before: &str) -> bool {
    // In JSON within a string, quotes follow a backslash.
    let blanks = [' ', '\t', '"', '\'', '\\'];
    let key = before.trim_end_matches(blanks).strip_suffix(':');
    key.is_some_and(|key| key.trim_end_matches(blanks).ends_with("kind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, wanted: &str) -> Span {
        let start = text.find(wanted).unwrap_or_default();
        Span::new(start as u32, (start + wanted.len()) as u32)
    }

    #[test]
    fn secret_kinds_are_found_within_the_given_span() {
        let text = "kind: Secret\n---\n\"kind\" : 'SealedSecretSecrets'\n---\na: Secret\nsecretGenerator: []\n";
        let words = SecretWords::new(text);
        for (wanted, kind) in [
            ("kind: Secret\n", "Secret"),
            ("\"kind\" : 'SealedSecretSecrets'", "SealedSecretSecrets"),
        ] {
            let kinds = words.kinds_in(part(text, wanted)).iter();
            let kinds: Vec<_> = kinds.map(|word| &text[word.range()]).collect();
            assert_eq!(kinds, [kind]);
        }
        assert!(
            words.any
                && !words.are_in(part(text, "a: Secret\n"))
                && words.has_generator_in(part(text, "secretGenerator"))
        );
        assert!(
            are_mentioned_in("{\\\"kind\\\": \\\"secret\\\"}")
                && are_mentioned_in("stringData: {}")
        );
        assert!(!SecretWords::new("kind: ConfigMap\nstring: Data\n").any);
    }
}
