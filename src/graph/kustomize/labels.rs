//! Label selectors in their short form: `a=b,c!=d,e in (f,g),h,!i,j>1` (apimachinery, pkg/labels/selector.go, Parse).

use crate::manifest::label_key_errors;

/// One comma-separated part of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Missing,
    In(Vec<String>),
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

impl Requirement {
    /// Whether labels meet it.
    pub(super) fn is_met<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> bool {
        let value = value(&self.key);
        let number = value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            Test::Exists => value.is_some(),
            Test::Missing => value.is_none(),
            Test::In(wanted) => wanted.iter().any(|one| value == Some(one)),
            Test::NotIn(wanted) => !wanted.iter().any(|one| value == Some(one)),
            Test::Above(least) => number.is_some_and(|number| number > *least),
            Test::Below(most) => number.is_some_and(|number| number < *most),
        }
    }
}

/// Parses a label selector; fails for an invalid selector, key or value.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, String> {
    let mut tokens = Tokens { rest: text };
    let mut all = Vec::new();
    while !tokens.next_is("") {
        let requirement = tokens.requirement();
        let ends = tokens.next_is("") || tokens.take(",") && !tokens.next_is("");
        match requirement {
            Some(requirement) if ends => all.push(requirement),
            _ => return Err(format!("`{text}` is not a label selector")),
        }
    }
    Ok(all)
}

struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    /// Returns the next word or sign, empty at the end.
    fn peek(&mut self) -> &'t str {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let signs = ["==", "!=", "=", "!", "(", ")", ",", "<", ">"];
        if let Some(sign) = signs.iter().find(|sign| self.rest.starts_with(**sign)) {
            return &self.rest[..sign.len()];
        }
        let end = self.rest.find(|c: char| " \t\r\n=!(),<>".contains(c));
        &self.rest[..end.unwrap_or(self.rest.len())]
    }

    fn next_is(&mut self, token: &str) -> bool {
        self.peek() == token
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.next_is(token);
        if is_next {
            self.rest = &self.rest[token.len()..];
        }
        is_next
    }

    /// Returns the next word; `None` if a sign or the end comes next.
    fn word(&mut self) -> Option<&'t str> {
        let word = self.peek();
        let is_word = !word.is_empty() && !word.starts_with(['=', '!', '(', ')', ',', '<', '>']);
        is_word.then(|| {
            self.rest = &self.rest[word.len()..];
            word
        })
    }

    fn requirement(&mut self) -> Option<Requirement> {
        let is_missing = self.take("!");
        let key = self.word().filter(|key| label_key_errors(key).is_empty())?;
        let test = if is_missing {
            Test::Missing
        } else if matches!(self.peek(), "" | ",") {
            Test::Exists
        } else {
            self.test()?
        };
        Some(Requirement {
            key: key.to_owned(),
            test,
        })
    }

    fn test(&mut self) -> Option<Test> {
        let operator = self.peek();
        self.rest = &self.rest[operator.len()..];
        let values = match operator {
            "in" | "notin" => self.values()?,
            // Without a word, the value is empty.
            _ if matches!(self.peek(), "" | ",") => vec![String::new()],
            _ => vec![self.word()?.to_owned()],
        };
        if !values.iter().all(|value| is_label_value(value)) {
            return None;
        }
        Some(match operator {
            "in" | "=" | "==" => Test::In(values),
            "notin" | "!=" => Test::NotIn(values),
            ">" => Test::Above(values[0].parse().ok()?),
            "<" => Test::Below(values[0].parse().ok()?),
            _ => return None,
        })
    }

    /// Parses a list such as `(a, b)`. A missing word is an empty value.
    fn values(&mut self) -> Option<Vec<String>> {
        if !self.take("(") {
            return None;
        }
        let mut values = Vec::new();
        loop {
            values.push(self.word().unwrap_or_default().to_owned());
            if self.take(")") {
                return Some(values);
            }
            if !self.take(",") {
                return None;
            }
        }
    }
}

/// Whether a label can have a value (apimachinery, IsValidLabelValue).
fn is_label_value(value: &str) -> bool {
    value.is_empty() || !value.contains('/') && label_key_errors(value).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with `labels.Parse` of apimachinery, for the labels `a=b`, `n=5`, `empty=`.
    #[test]
    fn selectors_match_as_in_apimachinery() {
        for (selector, expected) in [
            ("a=b", Some(true)),
            ("a = c", Some(false)),
            ("a==b", Some(true)),
            ("a!=b", Some(false)),
            ("x!=y", Some(true)),
            ("a in(b,c)", Some(true)),
            ("a in (b, c)", Some(true)),
            ("a in (c)", Some(false)),
            ("a notin(c)", Some(true)),
            ("a notin (b)", Some(false)),
            ("x notin (b)", Some(true)),
            ("a", Some(true)),
            ("x", Some(false)),
            ("!a", Some(false)),
            ("!x", Some(true)),
            ("! x", Some(true)),
            ("a=b,n=5", Some(true)),
            ("a=b,n=6", Some(false)),
            ("a=b,", None),
            (",a=b", None),
            ("", Some(true)),
            ("a in b", None),
            ("a in ()", Some(false)),
            ("empty in ()", Some(true)),
            ("empty=", Some(true)),
            ("empty", Some(true)),
            ("a=", Some(false)),
            ("empty in (a,)", Some(true)),
            ("n>4", Some(true)),
            ("n > 5", Some(false)),
            ("n<6", Some(true)),
            ("n<x", None),
            ("a>1", Some(false)),
            ("a b", None),
            ("in=b", Some(false)),
            ("in", Some(false)),
            ("a in (in)", Some(false)),
            ("a in (b", None),
            ("a (b)", None),
            ("a=b=c", None),
            ("a=b/c", None),
            (".*", None),
            ("a=*", None),
            ("!a=b", None),
            ("a=>b", None),
            ("a=!b", None),
            ("x.io/y=z", Some(false)),
            ("a,,n", None),
            ("a in (,b)", Some(true)),
        ] {
            let found = requirements(selector).ok().map(|all| {
                all.iter().all(|one| {
                    one.is_met(|key| {
                        let labels = [("a", "b"), ("n", "5"), ("empty", "")];
                        let label = labels.into_iter().find(|(known, _)| *known == key);
                        label.map(|(_, value)| value)
                    })
                })
            });
            assert_eq!(found, expected, "{selector}");
        }
    }
}
