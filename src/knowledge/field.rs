//! Paths to fields: `spec.target.name`, `spec.volumes[].claim`, `metadata.annotations["a.b/c"]`.

use std::fmt;
use std::str::FromStr;

use super::written::written_as_text;
use crate::text::Span;
use crate::yaml::{Kind, Value};

/// A path to one or more fields of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// The value under a key.
    Key(String),
    /// Each item of a list.
    Items,
}

/// A scalar that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// The value as text: `true`, `3`, `Delete`.
    pub text: String,
    /// Where it is written.
    pub span: Span,
}

/// A text that is not a path to a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a path to a field: write `spec.target.name`, `spec.volumes[].claim` or `metadata.annotations[\"a.b/c\"]`"
)]
pub struct NotAField(pub String);

impl FieldPath {
    /// Reads a path.
    ///
    /// # Errors
    /// A key is empty, or brackets are neither `[]` nor around a quoted key.
    pub fn parse(text: &str) -> Result<Self, NotAField> {
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            if let Some(after) = rest.strip_prefix("[]") {
                segments.push(Segment::Items);
                rest = after;
            } else if let Some(after) = rest.strip_prefix("[\"") {
                let (key, after) = after
                    .split_once("\"]")
                    .ok_or_else(|| NotAField(text.to_owned()))?;
                segments.push(Segment::Key(key.to_owned()));
                rest = after;
            } else {
                let key = rest
                    .strip_prefix('.')
                    .filter(|_| !segments.is_empty())
                    .unwrap_or(rest);
                let end = key.find(['.', '[']).unwrap_or(key.len());
                let (key, after) = key.split_at(end);
                if key.is_empty()
                    || !key
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/'))
                {
                    return Err(NotAField(text.to_owned()));
                }
                segments.push(Segment::Key(key.to_owned()));
                rest = after;
            }
            if rest.is_empty() {
                return Ok(Self {
                    text: text.to_owned(),
                    segments,
                });
            }
            if !rest.starts_with(['.', '[']) {
                return Err(NotAField(text.to_owned()));
            }
        }
    }

    /// Returns the path as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the values that it leads to, in written order.
    pub fn nodes<'a>(&self, object: Value<'a>) -> Vec<Value<'a>> {
        let mut found = Vec::new();
        follow(&self.segments, object, &mut found);
        found
    }

    /// Returns the scalars that it leads to, in written order. If it leads to a list, these are the scalars in the
    /// list.
    pub fn values(&self, object: Value<'_>) -> Vec<FieldValue> {
        let found = self.nodes(object);
        let lists = found
            .iter()
            .filter(|value| value.is_seq())
            .flat_map(|value| value.items());
        found
            .iter()
            .copied()
            .chain(lists)
            .filter_map(scalar)
            .collect()
    }
}

/// Collects the values at the end of a path. The recursion is as deep as the path is long.
fn follow<'a>(segments: &[Segment], value: Value<'a>, found: &mut Vec<Value<'a>>) {
    match segments.split_first() {
        None => found.push(value),
        Some((Segment::Key(key), rest)) => {
            if let Some(value) = value.get(key) {
                follow(rest, value, found);
            }
        }
        Some((Segment::Items, rest)) => value.items().for_each(|item| follow(rest, item, found)),
    }
}

impl FromStr for FieldPath {
    type Err = NotAField;

    fn from_str(text: &str) -> Result<Self, NotAField> {
        Self::parse(text)
    }
}

written_as_text!(
    FieldPath,
    "field",
    "A path to a field of the object, such as spec.target.name, spec.volumes[].claim or metadata.annotations[\"a.b/c\"]."
);

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns a scalar as text; `None` for other values and for an empty text.
fn scalar(value: Value<'_>) -> Option<FieldValue> {
    let text = match value.kind() {
        Kind::Bool(flag) => flag.to_string(),
        Kind::Int(number) => number.to_string(),
        Kind::Uint(number) => number.to_string(),
        Kind::String(text) if !text.is_empty() => text.to_string(),
        _ => return None,
    };
    Some(FieldValue {
        text,
        span: value.span(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::ParsedFile;
    use crate::text::SourceFile;

    fn texts(path: &str, manifest: &str) -> Vec<String> {
        let file = ParsedFile::parse(SourceFile::new("a.yaml", manifest));
        let path = FieldPath::parse(path).expect("a path of the test");
        let tree = file.documents()[0].tree().expect("a document");
        path.values(tree.root())
            .into_iter()
            .map(|value| value.text)
            .collect()
    }

    #[test]
    fn field_path_follows_keys_lists_and_quoted_keys() {
        assert_eq!(
            texts("spec.target.name", "spec: {target: {name: x}}"),
            ["x"]
        );
        assert_eq!(texts("spec.create", "spec: {create: true}"), ["true"]);
        assert_eq!(
            texts(
                "spec.volumes[].keep",
                "spec: {volumes: [{keep: no}, {}, {keep: yes}]}"
            ),
            ["false", "true"]
        );
        assert_eq!(
            texts("spec.policies", "spec: {policies: [Observe, Create]}"),
            ["Observe", "Create"]
        );
        assert_eq!(
            texts(
                "metadata.annotations[\"a.b/c\"]",
                "metadata: {annotations: {a.b/c: retain}}"
            ),
            ["retain"]
        );
        assert_eq!(texts("spec.name", "spec: {name: ''}"), [""; 0]);
        assert_eq!(texts("spec.name", "spec: [name]"), [""; 0]);
    }

    #[test]
    fn malformed_field_paths_are_rejected() {
        for text in [
            "",
            ".",
            "spec.",
            "spec..name",
            ".spec",
            "spec[0]",
            "spec[name]",
            "spec name",
            "[\"a",
            "spec[]name",
        ] {
            assert_eq!(
                FieldPath::parse(text),
                Err(NotAField(text.to_owned())),
                "{text}"
            );
        }
    }
}
