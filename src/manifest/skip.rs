//! What in a file is no manifest of the user, and what of it is nevertheless worth a word.

use super::Object;
use crate::text::{SourceFile, Span};
use crate::yaml::{Problem, ProblemKind};

/// Why something in the input is no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// It has no `apiVersion` and `kind`, or it configures kustomize.
    NotAManifest,
    /// It is a Helm template that was not rendered.
    Template,
    /// It holds nothing.
    Empty,
    /// It cannot be read.
    Unreadable,
}

impl SkipReason {
    /// The word used in the `list` contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAManifest => "not-a-manifest",
            Self::Template => "template",
            Self::Empty => "empty",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A document, or an item of a list, that is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Where.
    pub span: Span,
    /// Why.
    pub reason: SkipReason,
    /// A few words more.
    pub detail: String,
}

impl Skip {
    pub(super) fn new(span: Span, reason: SkipReason, detail: impl Into<String>) -> Self {
        Self { span, reason, detail: detail.into() }
    }
}

/// Whether an object configures kustomize and never reaches a cluster. The group tells, not the file name: Flux's
/// Kustomization is a manifest. `apiVersion: builtin` is how a configuration of kustomize's own transformers is written.
pub(super) fn configures_kustomize(object: &Object) -> bool {
    object.group() == "kustomize.config.k8s.io" || object.api_version.value == "builtin"
}

/// Whether what Kubernetes drops may be an object.
pub(super) fn loses_a_manifest(source: &SourceFile, problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::DroppedContent { .. }) && source.slice(problem.span).contains("apiVersion")
}
