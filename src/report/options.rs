//! Settings that the formats take from their caller. Each format gets only the part that it uses.

use std::collections::BTreeSet;

use crate::finding::Severity;
use crate::text::ColumnUnit;

/// The options of all formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Text for terminals.
    pub human: HumanOptions,
    /// The lowest severity that the concise format shows.
    pub concise_show: Severity,
    /// The unit of a column in diagnostics for editors.
    pub position_encoding: ColumnUnit,
    /// The lowest severity that is a failed test in JUnit's XML; `None` if no test fails.
    pub fail_on: Option<Severity>,
    /// Markdown for GitHub.
    pub markdown: MarkdownOptions,
    /// The HTML page.
    pub html: HtmlOptions,
    /// The folders that paths are relative to.
    pub roots: Roots,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            human: HumanOptions::default(),
            concise_show: Severity::Warning,
            position_encoding: ColumnUnit::Utf16,
            fail_on: Some(Severity::Error),
            markdown: MarkdownOptions::default(),
            html: HtmlOptions::default(),
            roots: Roots::default(),
        }
    }
}

/// The options of text for terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HumanOptions {
    /// ANSI colours.
    pub color: bool,
    /// OSC 8 links from the rule of a finding to its page.
    pub links: bool,
    /// Whether to draw with ASCII only.
    pub ascii: bool,
    /// Columns of the terminal; prose is wrapped and long source lines are cut to fit.
    pub width: usize,
    /// The lowest severity that is shown. Findings below it are only counted, by rule.
    pub show: Severity,
    /// Whether to list every note and every skipped document, and to draw more of the related places.
    pub verbose: bool,
    /// In plans, cite the rules of Kubernetes' behaviour: `[GC-22]`.
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

/// The options of a Markdown document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// The maximum size in bytes. GitHub drops a job summary over 1 MiB and a comment over 64 KiB.
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

/// The options of the HTML page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HtmlOptions {
    /// Where lines of files can be read on the web; in a comparison, those of head.
    pub published: Option<Published>,
    /// Where lines of base can be read on the web, in a comparison.
    pub base: Option<Published>,
}

/// A commit on a code host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The URL below which its files are shown, `https://github.com/owner/name/blob/<commit>`; or, for other hosts, a
    /// URL template of a line with `{path}` and `{line}`.
    pub url: String,
    /// The files, from the root of the repository, that the commit contains as they were read. Only these get links.
    pub files: BTreeSet<String>,
}

/// The folders that paths are relative to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The absolute directory that reported paths are relative to, with forward slashes.
    pub working_directory: Option<String>,
    /// The absolute root of the repository, with forward slashes. Code hosts expect paths relative to it.
    pub repository_root: Option<String>,
}
