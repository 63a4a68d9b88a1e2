//! The selection of objects for a patch (kustomize api/resmap/reswrangler.go, Select; api/types/selector.go).

use regex::bytes::{Regex, RegexBuilder};

use super::labels::{Requirement, requirements};
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
    /// A selector that cannot be parsed fails the build once an object is compared with it.
    labels: Result<Vec<Requirement>, String>,
    annotations: Result<Vec<Requirement>, String>,
}

impl Target {
    /// Reads a target; fails for an invalid pattern.
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

    /// Returns the only name that selected objects can have, now or before a renaming; `None` if the target has no
    /// name, or a pattern of names.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.name {
            Some(Pattern::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Whether it may select objects that are not read. A target with a kind and a name selects only one object, which
    /// is read if `is_found`.
    pub(super) fn may_select_unread(&self, is_found: bool) -> bool {
        let is_one_object = self.name().is_some() && matches!(self.kind, Some(Pattern::Word(_)));
        !(is_found && is_one_object)
    }

    /// Whether an object is selected. An invalid selector is an error if the object fits the rest of the target.
    pub(super) fn selects(&self, resource: &Resource) -> Result<bool, String> {
        let name = resource.node.at(&["metadata", "name"]);
        if let (Some(Pattern::Word(word)), true) = (&self.name, resource.previous.is_empty())
            && name.is_none_or(|name| name.scalar().as_ref() != Some(word))
        {
            return Ok(false);
        }
        let (now, first) = (resource.id(), resource.original());
        let fits = (fits(&self.namespace, first.effective_namespace())
            || fits(&self.namespace, now.effective_namespace()))
            && (fits(&self.name, &first.name) || fits(&self.name, &now.name))
            && fits(&self.group, &now.group)
            && fits(&self.version, &now.version)
            && fits(&self.kind, &now.kind);
        Ok(fits
            && meets(&self.labels, |key| resource.meta("labels", key))?
            && meets(&self.annotations, |key| resource.meta("annotations", key))?)
    }
}

/// Whether a text matches a pattern, if there is one.
fn fits(pattern: &Option<Pattern>, text: &str) -> bool {
    pattern.as_ref().is_none_or(|one| one.is_match(text))
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
        // As in Go, classes such as `\d` match only ASCII.
        let mut expression = RegexBuilder::new(&format!("^(?:{text})$"));
        let expression = expression.unicode(false).build();
        expression
            .map(Self::Expression)
            .map_err(|error| format!("`{text}` is not a pattern: {error}"))
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Word(word) => word == text,
            Self::Dotted(dotted) => {
                let mut pairs = dotted.chars().zip(text.chars());
                dotted.chars().count() == text.chars().count()
                    && pairs.all(|(sign, c)| sign == c || (sign == '.' && c != '\n'))
            }
            Self::Expression(expression) => expression.is_match(text.as_bytes()),
        }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

fn meets<'v>(
    requirements: &Result<Vec<Requirement>, String>,
    value: impl Fn(&str) -> Option<&'v str>,
) -> Result<bool, String> {
    let mut requirements = requirements.as_ref().map_err(String::clone)?.iter();
    Ok(requirements.all(|requirement| requirement.is_met(&value)))
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
            (r"a-\d+|(?i)b\w", "a-12", "a-x"),
        ] {
            let pattern = Pattern::read(text).expect("a pattern");
            assert!(pattern.is_match(fits), "{text}");
            assert!(!pattern.is_match(differs), "{text}");
        }
        let dotted = Pattern::read("helm.toolkit.fluxcd.io");
        assert!(matches!(dotted, Ok(Pattern::Dotted(_))));
    }
}
