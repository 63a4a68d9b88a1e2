//! Variables in the objects of Flux: `${A}`, with the functions of bash that Flux knows (fluxcd/pkg envsubst,
//! kustomize/kustomize_varsub.go).

use std::collections::{BTreeMap, BTreeSet};
use std::str::Chars;

use regex::Regex;

use crate::graph::kustomize::Budget;
use crate::graph::node::Node;

/// Maximum nesting of variables in the defaults of variables.
const NESTED: usize = 10;

/// The variables of a Kustomization.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    /// The variables whose values are known.
    pub(super) known: BTreeMap<String, String>,
    /// Whether there are others of unknown names.
    pub(super) are_partly_unknown: bool,
    /// The known variables that may have another value in the cluster.
    pub(super) doubtful: BTreeSet<String>,
}

/// A text after its variables were replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Substituted {
    /// The text, in which variables that only the cluster knows stay as they are written.
    pub(super) text: String,
    /// The variables that only the cluster knows.
    pub(super) unknown: Vec<String>,
}

impl Substituted {
    fn known(text: String) -> Self {
        Self {
            text,
            unknown: Vec::new(),
        }
    }
}

impl Variables {
    /// Whether there are no variables, so that Flux replaces nothing.
    pub(super) fn are_none(&self) -> bool {
        self.known.is_empty() && !self.are_partly_unknown
    }

    /// Whether a text contains a variable that may have another value in the cluster.
    pub(super) fn is_doubtful(&self, text: &str) -> bool {
        let mut names = text.split("${").skip(1).map(name_in);
        names.any(|name| self.doubtful.contains(name))
    }

    /// Replaces the variables of a text, which is nested in the defaults of `depth` variables. Fails for an undefined
    /// variable without a default, for an invalid expression, and for values that are longer than the rest of the
    /// budget.
    fn substitute(&self, text: &str, depth: usize, budget: &Budget) -> Result<Substituted, String> {
        let mut all = Substituted::default();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            all.text.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            if let Some(escaped) = after.strip_prefix('$') {
                all.text.push('$');
                rest = escaped;
                // Escaped text is not a variable.
                if let Some(braced) = rest.strip_prefix('{') {
                    all.text.push('{');
                    rest = braced;
                }
                continue;
            }
            let Some(braced) = after.strip_prefix('{') else {
                all.text.push('$');
                rest = after;
                continue;
            };
            let end = closing(braced).ok_or_else(|| "a variable does not end".to_owned())?;
            let (inner, more) = (&braced[..end], &braced[end + 1..]);
            if let Some(value) = self.value(inner, depth, budget)? {
                all.text.push_str(&value.text);
                all.unknown.extend(value.unknown);
            } else {
                all.text.push_str(&format!("${{{inner}}}"));
                all.unknown.push(name_in(inner).to_owned());
            }
            rest = more;
        }
        all.text.push_str(rest);
        Ok(all)
    }

    /// Returns the value of the expression in `${…}`; `None` if only the cluster knows it.
    fn value(
        &self,
        inner: &str,
        depth: usize,
        budget: &Budget,
    ) -> Result<Option<Substituted>, String> {
        let name = name_in(inner);
        if name.is_empty() || depth > NESTED {
            return Err(format!("`${{{inner}}}` is no variable"));
        }
        let function = &inner[name.len()..];
        let known = self.known.get(name);
        budget.take_text(known.map_or(0, String::len))?;
        let default = [":=", ":-", "=", ":+", ":?", "-", "+"]
            .into_iter()
            .find_map(|sign| function.strip_prefix(sign));
        // `${A:-1}` has a default. `${A:1}` is a substring, and so is `${A: -1}`, which `part` rejects.
        if let Some(default) = default {
            return match known.filter(|value| !value.is_empty()) {
                Some(value) => Ok(Some(Substituted::known(value.clone()))),
                None if self.are_partly_unknown && known.is_none() => Ok(None),
                None => self.substitute(default, depth + 1, budget).map(Some),
            };
        }
        let Some(value) = known else {
            return if self.are_partly_unknown {
                Ok(None)
            } else {
                Err(format!("nothing defines the variable `{name}`"))
            };
        };
        budget.take_text(growth(value, function))?;
        let text = changed(value, function);
        let text = text.ok_or_else(|| format!("`${{{inner}}}` is no variable"))?;
        Ok(Some(Substituted::known(text)))
    }
}

/// Returns the name at the beginning of the expression in `${…}`.
fn name_in(inner: &str) -> &str {
    let end = inner
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(inner.len());
    &inner[..end]
}

/// Finds the brace that closes the one opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the maximum number of bytes that `//old/new` adds to a value; 0 for other functions, which add few.
fn growth(value: &str, function: &str) -> usize {
    let Some((old, new)) = function
        .strip_prefix("//")
        .and_then(|rest| rest.split_once('/'))
    else {
        return 0;
    };
    value.matches(old).count().saturating_mul(new.len())
}

/// Applies a function of bash to a value; `None` for an unknown function, or a substring with invalid numbers.
fn changed(value: &str, function: &str) -> Option<String> {
    let (first, rest) = value.split_at(value.chars().next().map_or(0, char::len_utf8));
    Some(match function {
        "" => value.to_owned(),
        "^^" => value.to_uppercase(),
        "^" => first.to_uppercase() + rest,
        ",," => value.to_lowercase(),
        "," => first.to_lowercase() + rest,
        _ => {
            if let Some(pattern) = function.strip_prefix("##") {
                without_prefix(value, pattern, true)
            } else if let Some(pattern) = function.strip_prefix('#') {
                without_prefix(value, pattern, false)
            } else if let Some(pattern) = function.strip_prefix("%%") {
                without_suffix(value, pattern, true)
            } else if let Some(pattern) = function.strip_prefix('%') {
                without_suffix(value, pattern, false)
            } else if let Some(words) = function.strip_prefix('/') {
                replaced(value, words)
            } else {
                part(value, function.strip_prefix(':')?)?
            }
        }
    })
}

/// Replaces one text in a value by another: `old/new` once, `/old/new` everywhere, `#old/new` at the start, `%old/new` at
/// the end.
fn replaced(value: &str, words: &str) -> String {
    let rest = words.strip_prefix(['/', '#', '%']).unwrap_or(words);
    let (old, new) = rest.split_once('/').unwrap_or((rest, ""));
    let changed = match words.as_bytes().first() {
        Some(b'/') => Some(value.replace(old, new)),
        Some(b'#') => value.strip_prefix(old).map(|rest| format!("{new}{rest}")),
        Some(b'%') => value.strip_suffix(old).map(|rest| format!("{rest}{new}")),
        _ => Some(value.replacen(old, new, 1)),
    };
    changed.unwrap_or_else(|| value.to_owned())
}

/// Returns a substring: `1:3` is three characters from the second on.
fn part(value: &str, numbers: &str) -> Option<String> {
    let (start, length) = match numbers.split_once(':') {
        Some((start, length)) => (start, Some(length.trim().parse::<usize>().ok()?)),
        None => (numbers, None),
    };
    let start: usize = start.trim().parse().ok()?;
    let characters = value.chars().skip(start);
    Some(characters.take(length.unwrap_or(usize::MAX)).collect())
}

/// Removes the shortest or longest match of a pattern from the end of a value. Flux reverses the pattern, too, which
/// makes classes of characters malformed.
fn without_suffix(value: &str, pattern: &str, longest: bool) -> String {
    let rest = without_prefix(&reversed(value), &reversed(pattern), longest);
    reversed(&rest)
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// Removes the shortest or longest match of a pattern from the start of a value; the match has at least one character. A
/// malformed pattern removes nothing (`trimShortest` and `trimLongest` in Flux's `envsubst/funcs.go`).
fn without_prefix(value: &str, pattern: &str, longest: bool) -> String {
    let found = prefix_of(pattern, longest).and_then(|prefix| prefix.find(value));
    let end = found.map_or(0, |found| found.end());
    // Asterisks alone also match the empty text, which Flux does not count as a match.
    let is_empty_match = found.is_some() && end == 0 && !pattern.is_empty();
    let first = value.chars().next().map_or(0, char::len_utf8);
    value[if is_empty_match { first } else { end }..].to_owned()
}

/// Converts a shell pattern to a regular expression that matches at the start of a text; `None` if it is malformed. The
/// syntax is that of Go's `path.Match`, except that a slash is an ordinary character.
fn prefix_of(pattern: &str, longest: bool) -> Option<Regex> {
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
    Regex::new(&expression).ok()
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

/// Replaces the variables in every text of a value. Returns the variables that only the cluster knows. Fails as
/// [`Variables::substitute`] does, and if the budget is spent.
pub(super) fn substitute_in(
    node: &mut Node,
    variables: &Variables,
    budget: &Budget,
) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    let changed = node.with_texts(&mut |text: &str| -> Result<_, String> {
        if !text.contains('$') {
            return Ok(None);
        }
        let substituted = variables.substitute(text, 0, budget)?;
        unknown.extend(substituted.unknown);
        if substituted.text == text {
            return Ok(None);
        }
        budget.take_text(text.len())?;
        Ok(Some(substituted.text))
    })?;
    if let Some(changed) = changed {
        *node = changed;
    }
    unknown.sort();
    unknown.dedup();
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Limits;

    fn variables() -> Variables {
        let known = [("APP", "atuin"), ("EMPTY", ""), ("PATHS", "a/b/c")];
        Variables {
            known: known
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            ..Variables::default()
        }
    }

    fn substituted(variables: &Variables, text: &str) -> Result<Substituted, String> {
        variables.substitute(text, 0, &Budget::new(&Limits::default()))
    }

    #[test]
    fn bash_style_substitutions_are_evaluated() {
        for (written, expected) in [
            ("${APP}-x", "atuin-x"),
            ("$${APP}", "${APP}"),
            ("$APP", "$APP"),
            ("${NONE:=x}", "x"),
            ("${NONE:-${APP}}", "atuin"),
            ("${EMPTY:-y}", "y"),
            ("${APP:=y}", "atuin"),
            ("${APP^^}", "ATUIN"),
            ("${APP^}", "Atuin"),
            ("${APP:1:3}", "tui"),
            ("${APP/t/d}", "aduin"),
            ("${PATHS//\\//-}", "a/b/c"),
            ("${PATHS#*/}", "b/c"),
            ("${PATHS##*/}", "c"),
            ("${PATHS%/*}", "a/b"),
            ("${PATHS%%/*}", "a"),
        ] {
            let found = substituted(&variables(), written).map(|found| found.text);
            assert_eq!(found.as_deref(), Ok(expected), "{written}");
        }
    }

    #[test]
    fn undefined_variable_is_error_unless_variables_are_partly_unknown() {
        assert!(substituted(&variables(), "${NONE}").is_err());
        let unknown = Variables {
            are_partly_unknown: true,
            ..variables()
        };
        let found = substituted(&unknown, "${NONE}.${APP}").expect("it may be known");
        assert_eq!(found.text, "${NONE}.atuin");
        assert_eq!(found.unknown, ["NONE"]);
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
            assert_eq!(
                changed(value, function).as_deref(),
                Some(expected),
                "{value}{function}"
            );
        }
    }
}
