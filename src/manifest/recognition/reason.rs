//! Reasons for skipping a part of the input.

use std::borrow::Cow;
use std::fmt;

use crate::manifest::documents::WithoutIdentity;
use crate::text::Span;

/// A document, or an item of a list, that is not an object to apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The place.
    pub span: Span,
    /// The reason.
    pub reason: SkipReason,
}

/// A tool whose own files are found among manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManifestTool {
    /// kustomize.
    Kustomize,
    /// kuttl, the KUbernetes Test TooL.
    Kuttl,
    /// Kyverno's chainsaw.
    Chainsaw,
}

/// The language of a template, which decides which program renders it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TemplateLanguage {
    /// `{{ … }}`: Go's templates, which Helm uses; Jinja's expressions look the same.
    Braces,
    /// `{% … %}` and `{# … #}`: Jinja.
    Jinja,
    /// `#@ …`: ytt, whose statements are comments for YAML.
    Ytt,
    /// `${X}`, `$X`, `$(X)`: envsubst, Flux' substitution, make.
    Variable,
    /// `<word>`, `{word}`, `[WORD]`, `__WORD__`, `@WORD@`, `(removed)`: filled in by a script or by hand.
    Placeholder,
}

/// The reason why a document, or an item of a list, is not a manifest to apply. Its [`Display`](fmt::Display) is the
/// detail that `list` shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// The document is empty, or contains only comments.
    Empty,
    /// The value has no `apiVersion` or no `kind`.
    NoIdentity(WithoutIdentity),
    /// It is the configuration of a tool.
    Configuration(ManifestTool),
    /// It is a part of an object that a test compares with the one in the cluster.
    Assertion(ManifestTool),
    /// It is a part of an object that a tool merges into a whole one.
    Patch(ManifestTool),
    /// It is a file that a tool packs into a ConfigMap or a Secret.
    Data(ManifestTool),
    /// It is a template that was not rendered, with the evidence.
    Template(TemplateLanguage, Cow<'static, str>),
    /// It is a template of a chart whose rendering is in the input.
    RenderedTemplate,
    /// It cannot be read, and its file contains a manifest; with the error.
    Unreadable(Cow<'static, str>),
    /// It cannot be read, and its file contains no manifest; with the error.
    Text(Cow<'static, str>),
}

impl SkipReason {
    pub(super) fn template(language: TemplateLanguage, evidence: String) -> Self {
        Self::Template(language, evidence.into())
    }

    /// Returns the word in the contract `ownerlint.list/1`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoIdentity(_)
            | Self::Configuration(_)
            | Self::Assertion(_)
            | Self::Patch(_)
            | Self::Data(_) => "not-a-manifest",
            Self::Template(..) | Self::RenderedTemplate => "template",
            Self::Unreadable(_) | Self::Text(_) => "unreadable",
        }
    }

    /// Whether it may contain objects that will be in the cluster, so that their absence from the input proves nothing.
    pub fn hides_objects(&self) -> bool {
        matches!(self, Self::Template(..) | Self::Unreadable(_))
    }
}

impl ManifestTool {
    /// Returns the name as its project writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kustomize => "kustomize",
            Self::Kuttl => "kuttl",
            Self::Chainsaw => "chainsaw",
        }
    }
}

impl TemplateLanguage {
    /// Whether such a text becomes a manifest by filling in variables.
    pub fn is_variable(self) -> bool {
        matches!(self, Self::Variable | Self::Placeholder)
    }

    /// Returns the name for use in a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Braces => "unrendered template",
            Self::Jinja => "unrendered Jinja template",
            Self::Ytt => "unrendered ytt template",
            Self::Variable => "template with unset variables",
            Self::Placeholder => "template with placeholders",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing but comments"),
            Self::NoIdentity(what) => what.fmt(f),
            Self::Configuration(tool) => write!(f, "configures {}", tool.as_str()),
            Self::Assertion(tool) => write!(f, "{} assertion", tool.as_str()),
            Self::Patch(tool) => write!(f, "{} patch", tool.as_str()),
            Self::Data(tool) => write!(f, "{} input", tool.as_str()),
            Self::Template(_, detail) => f.write_str(detail),
            Self::RenderedTemplate => f.write_str("a template whose rendering is in the input"),
            Self::Unreadable(message) => f.write_str(message),
            Self::Text(message) => write!(f, "not about manifests: {message}"),
        }
    }
}
