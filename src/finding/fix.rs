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
    /// It may be what the author wants, and changes what the cluster does: `--fix --suggested` applies it.
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

/// Whether findings come with their fixes. To work out the fixes of a document it is read twice more, which a report that shows
/// none does not need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fixes {
    /// Every finding that can be fixed says how.
    #[default]
    WorkedOut,
    /// Every finding in an unsaved text does: an editor offers no other fixes.
    OfUnsavedTexts,
    /// No finding does.
    LeftOut,
}

/// A piece of text to put in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    #[doc(hidden)]
    pub file: FileId,
    /// The bytes that are replaced; empty where text is added.
    pub span: Span,
    /// The text that takes their place; empty where text is removed.
    pub replacement: String,
    /// The mapping or list whose members change. Two fixes that change one collection are not applied at the same time.
    #[doc(hidden)]
    pub within: Span,
}

/// A fix that removes a defect, as edits that leave everything else as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Its effect, as an order without a full stop: `remove the namespace`.
    pub title: String,
    /// Whether it may be applied without asking.
    pub applicability: Applicability,
    /// The edits, which belong together and do not overlap, in the order of their places.
    pub edits: Vec<Edit>,
}
