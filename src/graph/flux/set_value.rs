//! One value at a path, as `helm --set` reads it (fluxcd/pkg chartutil, ReplacePathValue; helm pkg/strvals).

use serde_json::{Map, Value};

/// Maximum nesting of a path that helm accepts.
const DEEPEST: usize = 30;

/// Returns a mapping with only the value `text`, nested at `path`. With `is_literal`, `text` has no
/// escapes, quotes or types. `None` if helm rejects the path, and for indices, lists and further
/// `key=value` pairs, which are not evaluated.
pub(super) fn at_path(path: &str, text: &str, is_literal: bool) -> Option<Value> {
    let keys = split(path)?;
    if keys.len() > DEEPEST || keys.iter().any(String::is_empty) {
        return None;
    }
    let quotes = ['\'', '"'];
    let is_quoted = quotes
        .iter()
        .any(|quote| text.starts_with(*quote) && text.ends_with(*quote));
    let value = if is_literal {
        text.into()
    } else if is_quoted {
        unescaped_scalar(text.trim_matches(quotes))?.into()
    } else {
        typed(unescaped_scalar(text)?)
    };
    Some(keys.into_iter().rev().fold(value, |inner, key| {
        Value::Object(Map::from_iter([(key, inner)]))
    }))
}

/// Splits a path at its dots, and resolves its escapes. `None` if it contains an unescaped `[`, `=` or `,`, or ends with a
/// backslash.
fn split(path: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '[' | '=' | ',' => return None,
            '.' => parts.push(String::new()),
            '\\' => parts.last_mut()?.push(chars.next()?),
            c => parts.last_mut()?.push(c),
        }
    }
    Some(parts)
}

/// Resolves the escapes of a value; `None` if it is a list, or if another value follows.
fn unescaped_scalar(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ',' => return None,
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
    }
    (!text.starts_with('{')).then_some(value)
}

/// Returns a text as the boolean, null or integer that helm reads it as, else as a string (helm pkg/strvals, typedVal).
fn typed(text: String) -> Value {
    match text.to_ascii_lowercase().as_str() {
        "true" => true.into(),
        "false" => false.into(),
        "null" => Value::Null,
        "0" => 0.into(),
        _ if text.starts_with('0') => text.into(),
        _ => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::at_path;

    /// Compares with strvals of helm 3.22, called as Flux does.
    #[test]
    fn values_have_the_types_of_helm() {
        for (path, text, expected) in [
            ("a", "007", Some(r#"{"a":"007"}"#)),
            ("a", "7", Some(r#"{"a":7}"#)),
            ("a", "-7", Some(r#"{"a":-7}"#)),
            ("a", "+7", Some(r#"{"a":7}"#)),
            ("a", "0", Some(r#"{"a":0}"#)),
            ("a", "00", Some(r#"{"a":"00"}"#)),
            ("a", "TRUE", Some(r#"{"a":true}"#)),
            ("a", "False", Some(r#"{"a":false}"#)),
            ("a", "null", Some(r#"{"a":null}"#)),
            ("a", "NULL", Some(r#"{"a":null}"#)),
            ("a", "1e3", Some(r#"{"a":"1e3"}"#)),
            ("a", "1.5", Some(r#"{"a":"1.5"}"#)),
            ("a", "0x10", Some(r#"{"a":"0x10"}"#)),
            ("a", "", Some(r#"{"a":""}"#)),
            ("a", "5\n", Some(r#"{"a":"5\n"}"#)),
            ("a", " 5", Some(r#"{"a":" 5"}"#)),
            (
                "a",
                "9223372036854775808",
                Some(r#"{"a":"9223372036854775808"}"#),
            ),
            ("a", "~", Some(r#"{"a":"~"}"#)),
            ("a", "yes", Some(r#"{"a":"yes"}"#)),
            ("a", "'5'", Some(r#"{"a":"5"}"#)),
            ("a", "\"true\"", Some(r#"{"a":"true"}"#)),
            ("a", "'", Some(r#"{"a":""}"#)),
            ("a", "''x''", Some(r#"{"a":"x"}"#)),
            ("a", "'a\"", Some(r#"{"a":"'a\""}"#)),
            ("a", "a\\,b", Some(r#"{"a":"a,b"}"#)),
            ("a", "a\\\\b", Some(r#"{"a":"a\\b"}"#)),
            ("a", "a\\", Some(r#"{"a":"a"}"#)),
            ("a", "a=b", Some(r#"{"a":"a=b"}"#)),
            ("a.b", "1", Some(r#"{"a":{"b":1}}"#)),
            (r#"a\.b"#, "1", Some(r#"{"a.b":1}"#)),
            (r#"a\.b.c\\"#, "x", Some(r#"{"a.b":{"c\\":"x"}}"#)),
            // Lists, and further values.
            ("a", "{b,c}", None),
            ("a", "b,c=d", None),
            ("a[0]", "b", None),
        ] {
            let found = at_path(path, text, false).map(|value| value.to_string());
            assert_eq!(found.as_deref(), expected, "{path} {text:?}");
        }
        let literal = at_path("a", "{b,c}\\", true).map(|value| value.to_string());
        assert_eq!(literal.as_deref(), Some(r#"{"a":"{b,c}\\"}"#));
    }
}
