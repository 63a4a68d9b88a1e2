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
        let pattern = |key: &str| match node.text_at(&[key]) {
            None => Ok(None),
            Some(text) => Pattern::read(&text).map(Some),
        };
        let selector = |key: &str| requirements(&node.text_at(&[key]).unwrap_or_default());
        Ok(Self {
            group: pattern("group")?,
            version: pattern("version")?,
            kind: pattern("kind")?,
            name: pattern("name")?,
            namespace: pattern("namespace")?,
            labels: selector("labelSelector"),
            annotations: selector("annotationSelector"),
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
        let fits = |pattern: &Option<Pattern>, text: &str| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(text))
        };
        let either = |pattern: &Option<Pattern>, one: &str, other: &str| {
            fits(pattern, one) || fits(pattern, other)
        };
        either(
            &self.namespace,
            first.effective_namespace(),
            now.effective_namespace(),
        ) && either(&self.name, &first.name, &now.name)
            && fits(&self.group, &now.group)
            && fits(&self.version, &now.version)
            && fits(&self.kind, &now.kind)
            && meets(&self.labels, |key| resource.meta("labels", key))
            && meets(&self.annotations, |key| resource.meta("annotations", key))
    }
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
    fn read(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('^').unwrap_or(text);
        let text = text.strip_suffix('$').unwrap_or(text);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
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
                let fits = |(sign, c)| sign == c || (sign == '.' && c != '\n');
                dotted.chars().count() == text.chars().count()
                    && dotted.chars().zip(text.chars()).all(fits)
            }
            Self::Expression(expression) => expression.is_match(text),
        }
    }
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
    let words = |text: &str| -> Vec<String> {
        let text = text.trim().trim_start_matches('(').trim_end_matches(')');
        text.split(',').map(|word| word.trim().to_owned()).collect()
    };
    let own = |text: &str| text.trim().to_owned();
    if let Some((key, list)) = part.split_once(" notin ") {
        return Requirement::NotIn(own(key), words(list));
    }
    if let Some((key, list)) = part.split_once(" in ") {
        return Requirement::In(own(key), words(list));
    }
    if let Some((key, value)) = part.split_once("!=") {
        return Requirement::IsNot(own(key), own(value));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Requirement::Is(own(key), own(value));
    }
    match part.strip_prefix('!') {
        Some(key) => Requirement::Missing(own(key)),
        None => Requirement::Exists(own(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_of_a_pattern_is_any_character() {
        let pattern = |text| Pattern::read(text).expect("a pattern");
        for (text, fits, differs) in [
            ("apps", "apps", "app"),
            ("^a.io$", "a-io", "xa.io"),
            ("a.*", "a.io", "b.io"),
        ] {
            assert!(pattern(text).is_match(fits), "{text}");
            assert!(!pattern(text).is_match(differs), "{text}");
        }
        assert!(matches!(
            pattern("helm.toolkit.fluxcd.io"),
            Pattern::Dotted(_)
        ));
    }

    #[test]
    fn selectors_are_read_in_their_short_form() {
        use Requirement::{Exists, In, Is, IsNot, Missing, NotIn};
        let own = |text: &str| text.to_owned();
        assert_eq!(
            requirements("a=b, c==d,e!=f, g in (h, i),j notin (k),l,!m"),
            [
                Is(own("a"), own("b")),
                Is(own("c"), own("d")),
                IsNot(own("e"), own("f")),
                In(own("g"), vec![own("h"), own("i")]),
                NotIn(own("j"), vec![own("k")]),
                Exists(own("l")),
                Missing(own("m")),
            ]
        );
    }
}
