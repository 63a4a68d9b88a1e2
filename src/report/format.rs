//! The names of the formats.

use std::fmt;
use std::str::FromStr;

/// A format of `check --output` and `diff --output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Snippets, reasons and help for people.
    Human,
    /// `path:line:col: severity[rule] message`, for editors and problem matchers.
    Concise,
    /// The contract `ownerlint.report/1`.
    Json,
    /// The findings of `ownerlint.report/1`, one per line.
    Jsonl,
    /// SARIF 2.1.0 as GitHub code scanning reads it.
    Sarif,
    /// GitHub workflow commands: annotations on the pull request.
    Github,
    /// GitLab code quality.
    Gitlab,
    /// JUnit XML.
    Junit,
    /// Reviewdog's diagnostic format.
    Rdjson,
    /// One `PublishDiagnosticsParams` of the language server protocol per file.
    Lsp,
    /// Markdown for a job summary or a comment.
    Markdown,
    /// One self-contained HTML page.
    Html,
}

impl Format {
    /// Every format, in the order of this type.
    pub const ALL: [Self; 12] = [
        Self::Human,
        Self::Concise,
        Self::Json,
        Self::Jsonl,
        Self::Sarif,
        Self::Github,
        Self::Gitlab,
        Self::Junit,
        Self::Rdjson,
        Self::Lsp,
        Self::Markdown,
        Self::Html,
    ];

    /// Whether readers of the format open the files that it names, as code hosts and editors do.
    pub(super) fn points_into_tree(self) -> bool {
        matches!(
            self,
            Self::Sarif | Self::Github | Self::Gitlab | Self::Junit | Self::Rdjson | Self::Lsp
        )
    }

    /// Returns the name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Concise => "concise",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Sarif => "sarif",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Junit => "junit",
            Self::Rdjson => "rdjson",
            Self::Lsp => "lsp",
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }

    /// Whether the format draws [`Cascades`](super::Cascades).
    #[doc(hidden)]
    pub fn draws_graphs(self) -> bool {
        self == Self::Markdown
    }

    /// Whether the format shows the fate of every object in a comparison.
    #[doc(hidden)]
    pub fn shows_outcomes(self) -> bool {
        matches!(self, Self::Json | Self::Html)
    }

    /// Whether the format shows the steps of a simulation.
    #[doc(hidden)]
    pub fn shows_stories(self) -> bool {
        self == Self::Html
    }

    /// Whether the format contains the edits of fixes.
    pub fn carries_fixes(self) -> bool {
        match self {
            Self::Json | Self::Jsonl | Self::Sarif | Self::Rdjson | Self::Lsp | Self::Html => true,
            Self::Human
            | Self::Concise
            | Self::Github
            | Self::Gitlab
            | Self::Junit
            | Self::Markdown => false,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// The error for a name that is not a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no output format `{0}`")]
pub struct UnknownFormat(pub String);
