//! Edits that remove a defect.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::{FileId, Span};

/// Whether a fix may be applied without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "applicability")]
pub enum Applicability {
    /// It does what the author meant, or removes what has no effect: `--fix` applies it.
    Safe,
    /// It changes what the cluster does, and may not be what the author wants: `--fix --suggested`
    /// applies it.
    Suggested,
}

impl Applicability {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Suggested => "suggested",
        }
    }
}

/// Whether findings come with their fixes. Computing the fixes of a document reads it at least twice more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fixes {
    /// All findings that can be fixed have a fix.
    #[default]
    WorkedOut,
    /// Only findings in unsaved texts have a fix: an editor offers no others.
    OfUnsavedTexts,
    /// No finding has a fix.
    LeftOut,
}

/// A replacement of a piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    #[doc(hidden)]
    pub file: FileId,
    /// The bytes that are replaced; empty if text is added.
    pub span: Span,
    /// The new text; empty if text is removed.
    pub replacement: String,
    /// The mapping or list whose members change. Two fixes that change the same one are not applied at the same time.
    #[doc(hidden)]
    pub within: Span,
}

/// A fix that removes a defect, as edits that leave all other text as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Its effect, as an imperative without a full stop: `remove the namespace`.
    pub title: String,
    /// Whether it may be applied without asking.
    pub applicability: Applicability,
    /// The edits, which belong together and do not overlap, in file order.
    pub edits: Vec<Edit>,
}
