//! Patterns for the name of a product: `spec.target.name|metadata.name`, or with text around fields
//! `{metadata.name}-app`.

use std::fmt;
use std::str::FromStr;

use super::written::written_as_text;

use super::field::{FieldPath, NotAField};
use crate::text::Span;
use crate::yaml::Value;

/// A name pattern of text and fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    text: String,
    parts: Vec<NamePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NamePart {
    Text(String),
    /// Alternative fields: the first one that has a value counts.
    Field(Vec<FieldPath>),
}

/// A name, and the field that determines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundName {
    /// The name.
    pub name: String,
    /// The last field in the name, at which a finding points; empty if the name is only text.
    pub field: String,
    /// The place of that field's value; that of the object if there is no field.
    pub span: Span,
}

impl NamePattern {
    /// Reads a pattern of a configuration. Without braces, all of it is a field or alternative fields.
    ///
    /// # Errors
    /// A field is malformed, or a brace has no counterpart.
    pub fn parse(text: &str) -> Result<Self, NotAField> {
        if text.contains(['{', '}']) {
            return Self::template(text);
        }
        Ok(Self {
            text: text.to_owned(),
            parts: vec![NamePart::Field(fields(text)?)],
        })
    }

    /// Reads text with fields in braces; without any braces it is the name itself.
    ///
    /// # Errors
    /// A field is malformed, or a brace has no counterpart.
    pub fn template(text: &str) -> Result<Self, NotAField> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (field, after) = after
                .split_once('}')
                .ok_or_else(|| NotAField(text.to_owned()))?;
            if !before.is_empty() {
                parts.push(NamePart::Text(before.to_owned()));
            }
            parts.push(NamePart::Field(fields(field)?));
            rest = after;
        }
        if rest.contains('}') {
            return Err(NotAField(text.to_owned()));
        }
        if !rest.is_empty() {
            parts.push(NamePart::Text(rest.to_owned()));
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// Returns the pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the names of the products of `object`, whose name in the cluster is `own`: several
    /// if the last field has several values; none if another field has several, or any field has
    /// none.
    pub fn names(&self, object: Value<'_>, own: &str) -> Vec<FoundName> {
        let mut names = vec![FoundName {
            name: String::new(),
            field: String::new(),
            span: object.span(),
        }];
        for part in &self.parts {
            match part {
                NamePart::Text(text) => names.iter_mut().for_each(|name| name.name.push_str(text)),
                NamePart::Field(paths) => {
                    let mut found = paths.iter().map(|path| (path, path.values(object)));
                    let Some((path, values)) = found.find(|(_, values)| !values.is_empty()) else {
                        return Vec::new();
                    };
                    // Only the last field may be a list: no generator makes all combinations of two.
                    let [only] = names.as_slice() else {
                        return Vec::new();
                    };
                    let is_own = path.as_str() == "metadata.name";
                    names = values
                        .into_iter()
                        .map(|value| FoundName {
                            name: format!(
                                "{}{}",
                                only.name,
                                if is_own { own } else { &value.text }
                            ),
                            field: path.as_str().to_owned(),
                            span: value.span,
                        })
                        .collect();
                }
            }
        }
        names
    }
}

/// Parses alternative fields, which are separated by vertical bars.
fn fields(text: &str) -> Result<Vec<FieldPath>, NotAField> {
    text.split('|').map(FieldPath::parse).collect()
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for NamePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_field = ["metadata.", "spec.", "status."]
            .iter()
            .any(|start| text.starts_with(start));
        if is_field {
            return Err(format!("names a field without braces: write `{{{text}}}`"));
        }
        Self::template(text).map_err(|error| error.to_string())
    }
}

written_as_text!(
    NamePattern,
    "productName",
    "A name with fields in braces: {spec.target.name|metadata.name} is the first of these fields that is set, {metadata.name}-app has text around a field."
);
