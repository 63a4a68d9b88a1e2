//! A rule's finding about one place, as owned data.
//!
//! Does not depend on the rules.

mod fingerprint;
mod fix;
mod identity;

use schemars::JsonSchema;
use serde::Serialize;

use crate::kube::ObjectKey;
use crate::text::{FileId, Span};

pub use fingerprint::{Fingerprint, fingerprint};
pub use fix::{Applicability, Edit, Fix, Fixes};
pub use identity::Identity;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "severity")]
pub enum Severity {
    /// Worth knowing; may be intended.
    Info,
    /// Probably wrong; says what it assumes.
    Warning,
    /// Certainly wrong.
    Error,
}

impl Severity {
    /// The word used in every format and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl std::str::FromStr for Severity {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = [Self::Info, Self::Warning, Self::Error];
        all.into_iter()
            .find(|severity| severity.as_str() == text)
            .ok_or(())
    }
}

/// The certainty of a finding; a configured severity does not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "certainty")]
pub enum Certainty {
    /// The manifest may be right as it is.
    Possible,
    /// The manifest is wrong if the finding's assumption holds.
    Likely,
    /// The manifest is wrong, whatever else is in the cluster.
    Certain,
}

impl Certainty {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// Derives the certainty from the severity that a rule gives to a finding.
impl From<Severity> for Certainty {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Possible,
            Severity::Warning => Self::Likely,
            Severity::Error => Self::Certain,
        }
    }
}

/// The cluster's reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "consequence")]
#[non_exhaustive]
pub enum Consequence {
    /// The API server rejects the object, no matter which client sends it.
    Rejected,
    /// Clients with strict validation (kubectl's default) reject it; others silently drop the field.
    RejectedStrict,
    /// The API server accepts it with a warning.
    Warned,
    /// The cluster deletes an object without a request for it: the garbage collector, or another deletion.
    Collected,
    /// The garbage collector never deletes the object although its owner is gone.
    NeverCollected,
    /// A deletion never finishes.
    Stuck,
    /// Written content never reaches the cluster.
    Lost,
    /// Dependents outlive their owner.
    Orphaned,
    /// Written, but without effect.
    Ignored,
    /// Works, but reads worse than it could.
    Style,
}

impl Consequence {
    /// Every consequence, in the order of this type.
    pub const ALL: [Self; 10] = [
        Self::Rejected,
        Self::RejectedStrict,
        Self::Warned,
        Self::Collected,
        Self::NeverCollected,
        Self::Stuck,
        Self::Lost,
        Self::Orphaned,
        Self::Ignored,
        Self::Style,
    ];

    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::RejectedStrict => "rejected-strict",
            Self::Warned => "warned",
            Self::Collected => "collected",
            Self::NeverCollected => "never-collected",
            Self::Stuck => "stuck",
            Self::Lost => "lost",
            Self::Orphaned => "orphaned",
            Self::Ignored => "ignored",
            Self::Style => "style",
        }
    }
}

/// A place, with a phrase on its role in a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file.
    #[doc(hidden)]
    pub file: FileId,
    /// The bytes; a key or a scalar, never a whole object, so that snippets stay short.
    pub span: Span,
    /// The phrase, such as `owner declared here`.
    pub message: String,
    /// Whether it marks the change that caused the finding.
    #[doc(hidden)]
    pub is_cause: bool,
}

impl Label {
    /// Builds a label on `span` of `file`.
    #[doc(hidden)]
    pub fn new(file: FileId, span: Span, message: impl Into<String>) -> Self {
        Self {
            file,
            span,
            message: message.into(),
            is_cause: false,
        }
    }
}

/// A chain of objects that are connected by ownership.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The relation between the objects.
    pub relation: Relation,
    /// The objects.
    pub objects: Vec<ObjectKey>,
}

/// The relation between the objects of a [`Chain`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// Each is owned by the one that follows it.
    #[default]
    OwnedBy,
    /// All others are deleted with the first.
    Takes,
}

/// A defect, with its place, the reason, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id, such as `owner-of-cluster-scoped`.
    pub rule: &'static str,
    /// The severity of this finding.
    pub severity: Severity,
    /// The cluster's reaction.
    pub consequence: Consequence,
    /// The defect, as a sentence without a full stop.
    pub message: String,
    /// The reason: the reaction of the cluster, and when.
    pub reason: String,
    /// How to fix it.
    pub help: String,
    /// The object that it is about; `None` if it is not about an object.
    pub object: Option<ObjectKey>,
    /// Further objects that it is about in the same way: its message counts them.
    pub alike: Vec<ObjectKey>,
    /// The field, such as `metadata.ownerReferences[0].uid`.
    pub field: Option<String>,
    /// The value of the field (an owner's key, a finalizer), which distinguishes findings on one field across edits.
    pub target: Option<String>,
    /// The place of the defect.
    pub primary: Label,
    /// Other relevant places, possibly in other files.
    pub related: Vec<Label>,
    /// The objects that are connected by the defect; empty if there are none.
    pub chain: Chain,
    /// The rows of tables that it is based on, such as `generators/ExternalSecret.external-secrets.io`.
    pub tables: Vec<String>,
    /// Edits that remove the defect, verified by reading the result; `None` if only the author knows the right value,
    /// or the text is written in a form that cannot be changed safely.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Replaces the file of every label by the result of `to`.
    #[doc(hidden)]
    pub fn relocate(&mut self, to: impl Fn(FileId) -> FileId) {
        self.primary.file = to(self.primary.file);
        for label in &mut self.related {
            label.file = to(label.file);
        }
        for edit in self.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.file = to(edit.file);
        }
    }

    /// Returns every place of the finding, the primary one first.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        std::iter::once(&self.primary).chain(&self.related)
    }
}
