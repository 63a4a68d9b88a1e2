//! The selection of objects for a patch (kustomize api/resmap/reswrangler.go, Select; api/types/selector.go).

use regex::Regex;

use super::resource::Resource;
use crate::graph::node::Node;

/// The `target` of a patch.
#[derive(Clone, Debug)]
pub(super) struct Target {
    group: Option<Pattern>,
    version: Option<Pattern>,
    kind: Option<Pattern>,
    name: Option<Pattern>,
    namespace: Option<Pattern>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// One comma-separated part of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    Is(String, String),
    IsNot(String, String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
}

impl Target {
    /// Reads a target.
    ///
    /// # Errors
    /// Returns an error for an invalid pattern.
    pub(super) fn read(node: &Node) -> Result<Self, String> {
        let [labels, annotations] = ["labelSelector", "annotationSelector"]
            .map(|key| requirements(node.str_at(&[key]).unwrap_or_default()));
        Ok(Self {
            group: Pattern::at(node, "group")?,
            version: Pattern::at(node, "version")?,
            kind: Pattern::at(node, "kind")?,
            name: Pattern::at(node, "name")?,
            namespace: Pattern::at(node, "namespace")?,
            labels,
            annotations,
        })
    }

    /// Whether an object is selected.
    pub(super) fn selects(&self, resource: &Resource) -> bool {
        let name = resource.node.at(&["metadata", "name"]);
        if let (Some(Pattern::Word(word)), true) = (&self.name, resource.previous.is_empty())
            && name.is_none_or(|name| name.scalar().as_ref() != Some(word))
        {
            return false;
        }
        let (now, first) = (resource.id(), resource.original());
        (fits(&self.namespace, first.effective_namespace())
            || fits(&self.namespace, now.effective_namespace()))
            && (fits(&self.name, &first.name) || fits(&self.name, &now.name))
            && fits(&self.group, &now.group)
            && fits(&self.version, &now.version)
            && fits(&self.kind, &now.kind)
            && meets(&self.labels, |key| resource.meta("labels", key))
            && meets(&self.annotations, |key| resource.meta("annotations", key))
    }
}

/// Whether a text matches a pattern, if there is one.
fn fits(pattern: &Option<Pattern>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_none_or(|pattern| pattern.is_match(text))
}

/// A pattern of a whole text.
#[derive(Clone, Debug)]
enum Pattern {
    /// A text without special characters: most patterns.
    Word(String),
    /// A text whose only special characters are dots, such as an API group.
    Dotted(String),
    Expression(Regex),
}

impl Pattern {
    /// Reads the pattern in a field of a target.
    fn at(node: &Node, field: &str) -> Result<Option<Self>, String> {
        let text = node.text_at(&[field]);
        text.map(|text| Self::read(&text)).transpose()
    }

    fn read(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('^').unwrap_or(text);
        let text = text.strip_suffix('$').unwrap_or(text);
        if text.chars().all(is_plain) {
            return Ok(Self::Word(text.to_owned()));
        }
        if text.chars().all(|c| is_plain(c) || c == '.') {
            return Ok(Self::Dotted(text.to_owned()));
        }
        let expression = Regex::new(&format!("^(?:{text})$"));
        expression
            .map(Self::Expression)
            .map_err(|error| format!("`{text}` is no pattern: {error}"))
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Word(word) => word == text,
            Self::Dotted(dotted) => {
                let mut pairs = dotted.chars().zip(text.chars());
                dotted.chars().count() == text.chars().count()
                    && pairs.all(|(sign, c)| sign == c || (sign == '.' && c != '\n'))
            }
            Self::Expression(expression) => expression.is_match(text),
        }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

fn meets(requirements: &[Requirement], value: impl Fn(&str) -> Option<String>) -> bool {
    requirements.iter().all(|requirement| match requirement {
        Requirement::Is(key, wanted) => value(key).as_ref() == Some(wanted),
        Requirement::IsNot(key, wanted) => value(key).as_ref() != Some(wanted),
        Requirement::In(key, wanted) => value(key).is_some_and(|value| wanted.contains(&value)),
        Requirement::NotIn(key, wanted) => value(key).is_none_or(|value| !wanted.contains(&value)),
        Requirement::Exists(key) => value(key).is_some(),
        Requirement::Missing(key) => value(key).is_none(),
    })
}

/// Parses a label selector in its short form: `a=b,c!=d,e in (f,g),h,!i`.
fn requirements(text: &str) -> Vec<Requirement> {
    let mut parts = Vec::new();
    let (mut depth, mut part) = (0, String::new());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    let parts = parts.iter().map(|part| part.trim());
    parts
        .filter(|part| !part.is_empty())
        .map(requirement)
        .collect()
}

fn requirement(part: &str) -> Requirement {
    if let Some((key, list)) = part.split_once(" notin ") {
        return Requirement::NotIn(trimmed(key), words(list));
    }
    if let Some((key, list)) = part.split_once(" in ") {
        return Requirement::In(trimmed(key), words(list));
    }
    if let Some((key, value)) = part.split_once("!=") {
        return Requirement::IsNot(trimmed(key), trimmed(value));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Requirement::Is(trimmed(key), trimmed(value));
    }
    match part.strip_prefix('!') {
        Some(key) => Requirement::Missing(trimmed(key)),
        None => Requirement::Exists(trimmed(part)),
    }
}

/// Returns the words of a list such as `(a, b)`.
fn words(list: &str) -> Vec<String> {
    let list = list.trim().trim_start_matches('(').trim_end_matches(')');
    list.split(',').map(trimmed).collect()
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_in_pattern_matches_any_character() {
        for (text, fits, differs) in [
            ("apps", "apps", "app"),
            ("^a.io$", "a-io", "xa.io"),
            ("a.*", "a.io", "b.io"),
        ] {
            let pattern = Pattern::read(text).expect("a pattern");
            assert!(pattern.is_match(fits), "{text}");
            assert!(!pattern.is_match(differs), "{text}");
        }
        let dotted = Pattern::read("helm.toolkit.fluxcd.io");
        assert!(matches!(dotted, Ok(Pattern::Dotted(_))));
    }

    #[test]
    fn short_form_selectors_are_parsed() {
        use Requirement::{Exists, In, Is, IsNot, Missing, NotIn};
        assert_eq!(
            requirements("a=b, c==d,e!=f, g in (h, i),j notin (k),l,!m"),
            [
                Is("a".into(), "b".into()),
                Is("c".into(), "d".into()),
                IsNot("e".into(), "f".into()),
                In("g".into(), vec!["h".into(), "i".into()]),
                NotIn("j".into(), vec!["k".into()]),
                Exists("l".into()),
                Missing("m".into()),
            ]
        );
    }
}
