//! Why something in the input is not judged.

use std::borrow::Cow;
use std::fmt;

use crate::manifest::documents::WithoutIdentity;
use crate::text::Span;

/// A document, or an item of a list, that is not an object to apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Where.
    pub span: Span,
    /// Why.
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

/// The language of a template, as far as it matters for what to run.
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
    /// `<word>`, `{word}`, `[WORD]`, `__WORD__`, `@WORD@`, `(removed)`: to be filled in by a script or by hand.
    Placeholder,
}

/// Why a document, or an item of a list, is not judged as a manifest to apply. Its [`Display`](fmt::Display) is the detail
/// that `list` shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// Nothing, or nothing but comments.
    Empty,
    /// No `apiVersion` and `kind`; what there is instead.
    NoIdentity(WithoutIdentity),
    /// A tool reads it as its own configuration.
    Configuration(ManifestTool),
    /// Part of an object that a test compares with the cluster's.
    Assertion(ManifestTool),
    /// Part of an object that a tool merges into a whole one.
    Patch(ManifestTool),
    /// A file that a tool packs into a ConfigMap or a Secret.
    Data(ManifestTool),
    /// A template that was not rendered, and where it shows.
    Template(TemplateLanguage, Cow<'static, str>),
    /// Text that cannot be read, in a file that contains a manifest; why.
    Unreadable(Cow<'static, str>),
    /// Text that cannot be read, in a file that contains nothing of a manifest; why.
    Text(Cow<'static, str>),
}

impl SkipReason {
    /// The word of the `list` contract.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoIdentity(_)
            | Self::Configuration(_)
            | Self::Assertion(_)
            | Self::Patch(_)
            | Self::Data(_) => "not-a-manifest",
            Self::Template(..) => "template",
            Self::Unreadable(_) | Self::Text(_) => "unreadable",
        }
    }

    /// Whether objects that will be in the cluster may be hidden in it, so nothing can be said about their absence.
    pub fn hides_objects(&self) -> bool {
        matches!(self, Self::Template(..) | Self::Unreadable(_))
    }
}

impl ManifestTool {
    /// As its project writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kustomize => "kustomize",
            Self::Kuttl => "kuttl",
            Self::Chainsaw => "chainsaw",
        }
    }
}

impl TemplateLanguage {
    /// Whether a text in it becomes a manifest by filling in variables.
    pub fn is_variable(self) -> bool {
        matches!(self, Self::Variable | Self::Placeholder)
    }

    /// As it appears in a sentence.
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
            Self::Unreadable(message) => f.write_str(message),
            Self::Text(message) => write!(f, "not about manifests: {message}"),
        }
    }
}
