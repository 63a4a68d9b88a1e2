//! Options that the formats cannot know by themselves. Each gets the part that it uses and no more.

use std::collections::BTreeSet;

use crate::finding::Severity;
use crate::text::ColumnUnit;

/// The options of all formats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Text for people.
    pub human: HumanOptions,
    /// One line per finding.
    pub concise: ConciseOptions,
    /// Diagnostics for editors.
    pub lsp: LspOptions,
    /// JUnit's XML.
    pub junit: JunitOptions,
    /// GitHub's annotations.
    pub github: GithubOptions,
    /// Markdown for GitHub.
    pub markdown: MarkdownOptions,
    /// Pages to explore.
    pub html: HtmlOptions,
    /// Formats whose readers want paths from another place than those that were given.
    pub roots: Roots,
}

/// How text for people is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HumanOptions {
    /// ANSI colours.
    pub color: bool,
    /// OSC 8 links instead of plain addresses.
    pub links: bool,
    /// Draw with ASCII only.
    pub ascii: bool,
    /// Columns of the terminal; prose is wrapped and long source lines are cut to fit.
    pub width: usize,
    /// Findings from this severity on are shown; the others are counted by rule.
    pub show: Severity,
    /// List every note, and each document that was skipped.
    pub verbose: bool,
    /// Plans: say by which rules of Kubernetes' behaviour each thing happens, `[GC-22]`.
    pub citations: bool,
}

impl Default for HumanOptions {
    fn default() -> Self {
        Self {
            color: false,
            links: false,
            ascii: false,
            width: 100,
            show: Severity::Warning,
            verbose: false,
            citations: true,
        }
    }
}

/// The contents of one line per finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConciseOptions {
    /// Findings from this severity on are shown.
    pub show: Severity,
}

impl Default for ConciseOptions {
    fn default() -> Self {
        Self {
            show: Severity::Warning,
        }
    }
}

/// The agreement of an editor and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LspOptions {
    /// The unit of a column.
    pub position_encoding: ColumnUnit,
}

impl Default for LspOptions {
    fn default() -> Self {
        Self {
            position_encoding: ColumnUnit::Utf16,
        }
    }
}

/// Which findings count as failed tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JunitOptions {
    /// Findings from this severity on are failures; `None` when nothing fails.
    pub fail_on: Option<Severity>,
}

impl Default for JunitOptions {
    fn default() -> Self {
        Self {
            fail_on: Some(Severity::Error),
        }
    }
}

/// The options of GitHub's runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GithubOptions {
    /// Annotations per severity; the runner shows ten of each kind per step.
    pub annotation_cap: usize,
}

impl Default for GithubOptions {
    fn default() -> Self {
        Self { annotation_cap: 10 }
    }
}

/// How long a Markdown document may be, and where it can link to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Bytes the document may take; GitHub drops a job summary over 1 MiB and a comment over 64 KiB.
    pub bytes: usize,
    /// Where lines of files can be read on the web.
    pub published: Option<Published>,
}

impl Default for MarkdownOptions {
    fn default() -> Self {
        Self {
            bytes: 1_000_000,
            published: None,
        }
    }
}

/// Where a page can link to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HtmlOptions {
    /// Where lines of files can be read on the web; of a change, those of head.
    pub published: Option<Published>,
    /// Where lines of base can be read, of a change.
    pub base: Option<Published>,
}

/// A commit on a code host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The address below which its files are shown, `https://github.com/owner/name/blob/<commit>`; or, for other hosts, the address
    /// of a line with `{path}` and `{line}` in it.
    pub url: String,
    /// The files that are there as they were read, from the root of the repository. All others get no link.
    pub files: BTreeSet<String>,
}

/// Where paths begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The absolute directory that reported paths are relative to, with forward slashes.
    pub working_directory: Option<String>,
    /// The absolute root of the repository, with forward slashes: code hosts want paths from there.
    pub repository_root: Option<String>,
}
