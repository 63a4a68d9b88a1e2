//! The two template languages of ApplicationSets: `{{name}}` (valyala/fasttemplate), and the templates of Go.

use serde_json::{Map, Value};

use super::gotemplate;
use crate::graph::node::Node;
use crate::kustomize::Limit;

/// The template language of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// `{{name}}`, and nothing else.
    Plain,
    /// Templates of Go; a missing parameter is an error, or the text `<no value>`.
    Go {
        /// `goTemplateOptions: ["missingkey=error"]`.
        missing_is_error: bool,
    },
}

/// The parameters of one Application of a set: flat in the plain language, nested in that of Go.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters {
    pub(super) known: Map<String, Value>,
    /// Whether there are others, which only the cluster or a service knows.
    pub(super) are_partly_unknown: bool,
    /// Their cluster, if only its name is known.
    pub(super) cluster: Option<NamedCluster>,
    /// The template of their generator, which overrides that of the set.
    pub(super) template: Option<Node>,
}

impl Parameters {
    /// Whether there are no parameters at all, not even unknown ones.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && !self.are_partly_unknown
    }
}

/// A cluster of which only the name is known.
#[derive(Clone, Debug)]
pub(super) struct NamedCluster {
    /// Its name.
    pub(super) name: String,
    /// The parameters that are equal for every cluster: the known ones without its name.
    pub(super) for_any_cluster: Map<String, Value>,
    /// Whether a selector names it, so that it may have an Application although other clusters have none.
    pub(super) is_selected: bool,
}

/// Maximum length of the text that a template makes, in bytes. An object cannot be that large.
pub(super) const MAX_BYTES: usize = 8 << 20;

/// The reason why a template has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplateError {
    /// Argo CD fails, too.
    Failed(String),
    /// Argo CD fails, too: a parameter is missing.
    Missing(String),
    /// It needs something that is not evaluated here.
    Unread(String),
    /// It is beyond a limit of builds.
    Beyond(Limit),
}

pub(super) type Outcome<T> = Result<T, TemplateError>;

impl TemplateError {
    /// Creates the error for a text that is larger than any object.
    pub(super) fn too_long() -> Self {
        Self::Unread("a template makes more text than an object can have".to_owned())
    }
}

impl Language {
    /// Fills parameters into a text. An action that needs unknown ones stays as it is written.
    pub(super) fn replace(self, text: &str, parameters: &Parameters) -> Outcome<String> {
        match self {
            Self::Plain => plain(text, parameters),
            Self::Go { missing_is_error } => {
                gotemplate::replace(text, parameters, missing_is_error)
            }
        }
    }

    /// Adds the parameters of a group: as `group.name`, or nested in the language of Go.
    pub(super) fn put(
        self,
        known: &mut Map<String, Value>,
        group: &str,
        values: Map<String, Value>,
    ) {
        match self {
            Self::Plain => {
                let values = values.into_iter();
                known.extend(values.map(|(key, value)| (format!("{group}.{key}"), value)));
            }
            Self::Go { .. } => {
                known.insert(group.to_owned(), Value::Object(values));
            }
        }
    }
}

/// Replaces `{{name}}` by parameters. A name without a parameter stays as it is written (argo-cd
/// applicationset/utils/utils.go, Render.Replace). Fails if one tag is closed and another is not.
fn plain(text: &str, parameters: &Parameters) -> Outcome<String> {
    // Argo CD first checks for `.*{{.*}}.*`, whose dots match no line break.
    let has_tag = text.split('\n').any(|line| {
        line.split_once("{{")
            .is_some_and(|(_, after)| after.contains("}}"))
    });
    if !has_tag {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (tag, behind) = after.split_once("}}").ok_or_else(|| {
            TemplateError::Failed(format!("`{text}` has a `{{{{` that is not closed"))
        })?;
        out.push_str(before);
        match parameters.known.get(tag.trim()).and_then(Value::as_str) {
            Some(value) => out.push_str(value),
            None => out.extend(["{{", tag, "}}"]),
        }
        if out.len() > MAX_BYTES {
            return Err(TemplateError::too_long());
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether a text still has a tag after known parameters were filled in: only the cluster or a
/// service knows its value. Tags `values.…` do not count, because the set itself has these.
pub(super) fn is_partly_unknown(text: &str) -> bool {
    let tags = text.split("{{").skip(1);
    tags.map(str::trim_start)
        .any(|tag| !tag.starts_with("values."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Option<String> {
        let pairs = [
            ("path", "apps/web"),
            ("path.basename", "web"),
            ("open", "{{"),
        ];
        let known = pairs.map(|(name, value)| (name.to_owned(), Value::from(value)));
        let parameters = Parameters {
            known: known.into_iter().collect(),
            ..Parameters::default()
        };
        plain(text, &parameters).ok()
    }

    #[test]
    fn parameters_are_replaced_with_and_without_blanks() {
        assert_eq!(
            with("a-{{path.basename}}-{{ path }}"),
            Some("a-web-apps/web".into())
        );
    }

    #[test]
    fn unknown_tags_stay_as_written() {
        assert_eq!(with("{{ name }}-{{}}"), Some("{{ name }}-{{}}".into()));
    }

    #[test]
    fn unclosed_tag_fails_only_after_a_closed_tag() {
        assert_eq!(with("{{path}}-{{path"), None);
        assert_eq!(with("a-{{path"), Some("a-{{path".into()));
        assert_eq!(with("{{\npath}}"), Some("{{\npath}}".into()));
    }

    #[test]
    fn missing_value_is_not_an_unknown_parameter() {
        assert!(is_partly_unknown("apps/{{values.a}}/{{ name }}"));
        assert!(!is_partly_unknown("apps/{{ values.a }}"));
        assert!(!is_partly_unknown("apps/a"));
    }

    #[test]
    fn substituted_values_are_not_expanded_again() {
        assert_eq!(with("{{open}}path}}"), Some("{{path}}".into()));
    }
}
