//! What a run found, and one file per format that says it.
//!
//! Every format is a pure function of a finished [`Report`]: no environment, no terminal, no clock, no I/O. What a format
//! cannot know by itself (colour, width, where the repository's root is) stands in [`Options`]. Text that comes from
//! manifests is hostile until a format has made it harmless in its own way.
//!
//! Knows nothing of manifests, rules or how a finding came about.

mod concise;
mod excerpt;
mod format;
mod github;
mod gitlab;
mod human;
mod json;
mod junit;
mod list;
mod lsp;
mod markdown;
mod paths;
pub mod plan;
mod rdjson;
mod region;
mod rules;
mod sarif;
mod schema;
mod wrap;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::finding::{Consequence, Finding, Fingerprint, Label, Severity};
use crate::text::{ColumnUnit, FileId, Sources, Span, plain};

pub use concise::closing;
pub use format::{Format, UnknownFormat};
pub use list::{ListedObject, ListedPlace, ListedReference, ListedSkip, Listing};
pub use rules::{rules_human, rules_json};
pub use schema::{SCHEMAS, schema};

/// Everything a format may say about one run.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who speaks.
    pub tool: Tool,
    /// The files of the run, those without findings too: editors clear old diagnostics of them.
    pub sources: Sources,
    /// What is reported, sorted by path, offset and rule.
    pub findings: Vec<Reported>,
    /// All enabled rules, in the registry's fixed order, whether or not they fired.
    pub rules: Vec<RuleInfo>,
    /// Counts of the run.
    pub summary: Summary,
    /// What a reader should know besides the findings: skipped templates, files that could not be opened.
    pub notes: Vec<Note>,
    /// The simulated deletions behind findings that stand on one.
    pub cascades: Cascades,
}

/// Simulated deletions, for formats that can draw.
#[derive(Clone, Debug, Default)]
pub struct Cascades {
    /// The first ones.
    pub shown: Vec<plan::Cascade>,
    /// How many more there are.
    pub left_out: usize,
}

/// The program, as formats name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// `ownerlint`.
    pub name: String,
    /// The released version: `1.2.3`.
    pub version: String,
    /// Where the program lives.
    pub url: String,
}

/// A finding as it is reported: with its identity across runs and its documentation.
#[derive(Clone, Debug)]
pub struct Reported {
    /// What, where, why.
    pub finding: Finding,
    /// The same value in every format and in baselines.
    pub fingerprint: Fingerprint,
    /// The page of its rule.
    pub url: Option<String>,
    /// Where the objects of [`Finding::chain`] are written, link by link; `None` for an object that no file holds. May be
    /// shorter than the chain.
    pub chain_places: Vec<Option<Place>>,
}

/// Bytes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub span: Span,
}

impl From<&Label> for Place {
    fn from(label: &Label) -> Self {
        Self { file: label.file, span: label.span }
    }
}

/// A rule, as formats describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its id: `owner-of-cluster-scoped`.
    pub id: &'static str,
    /// One sentence on what it flags.
    pub summary: String,
    /// Its severity in this run.
    pub severity: Severity,
    /// What the cluster does about it.
    pub consequence: Consequence,
    /// Its page, in Markdown.
    pub page: String,
    /// Where the page is published.
    pub url: String,
}

/// Counts of one run; `error`, `warning` and `info` count what is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Files read.
    pub files: usize,
    /// Documents in them.
    pub documents: usize,
    /// Kubernetes objects in them, items of Lists included.
    pub objects: usize,
    /// Findings of severity error.
    pub error: usize,
    /// Findings of severity warning.
    pub warning: usize,
    /// Findings of severity info.
    pub info: usize,
    /// Findings silenced by a comment, an annotation or the configuration.
    pub suppressed: usize,
    /// Findings that the baseline knows.
    pub baseline: usize,
}

impl Summary {
    /// `1 error, 2 warnings`, or `nothing found`.
    fn found(&self) -> String {
        let found = [(self.error, "error"), (self.warning, "warning"), (self.info, "info")];
        let found: Vec<_> = found.into_iter().filter(|&(n, _)| n > 0).map(|(n, noun)| plain::count(n, noun)).collect();
        if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") }
    }
}

/// Something about the run itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `Error`: part of the input was not analysed, so absence of findings proves nothing there.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The file it is about, as reported; it need not be one of the sources.
    pub path: Option<String>,
    /// The 1-based line in that file.
    pub line: Option<usize>,
}

/// What the formats cannot know by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Human: ANSI colours.
    pub color: bool,
    /// Human: OSC 8 links instead of plain addresses.
    pub links: bool,
    /// Human: draw with ASCII only.
    pub ascii: bool,
    /// Human: columns of the terminal; prose is wrapped and long source lines are cut to fit.
    pub width: usize,
    /// LSP: what a column counts, as client and server agreed on it.
    pub position_encoding: ColumnUnit,
    /// JUnit: findings from this severity on are failures; `None` when nothing fails.
    pub fail_on: Option<Severity>,
    /// GitHub: annotations per severity; the runner shows ten of each kind per step.
    pub annotation_cap: usize,
    /// Markdown: bytes the document may take; GitHub drops a job summary over 1 MiB and a comment over 64 KiB.
    pub markdown_bytes: usize,
    /// Markdown: where lines of files can be read on the web.
    pub published: Option<Published>,
    /// The absolute directory that reported paths are relative to, with forward slashes.
    pub working_directory: Option<String>,
    /// The absolute root of the repository, with forward slashes: code hosts want paths from there.
    pub repository_root: Option<String>,
}

/// A commit on a code host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The address below which its files are shown: `https://github.com/owner/name/blob/<commit>`.
    pub url: String,
    /// The files that are there as they were read, from the root of the repository. All others get no link.
    pub files: BTreeSet<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            color: false,
            links: false,
            ascii: false,
            width: 100,
            position_encoding: ColumnUnit::Utf16,
            fail_on: Some(Severity::Error),
            annotation_cap: 10,
            markdown_bytes: 1_000_000,
            published: None,
            working_directory: None,
            repository_root: None,
        }
    }
}

/// The whole document of `report` in `format`, ending in a line break unless it is empty.
pub fn render(format: Format, report: &Report, options: &Options) -> String {
    match format {
        Format::Human => human::render(report, options),
        Format::Concise => concise::render(report, options),
        Format::Json => json::render(report, options),
        Format::Jsonl => json::render_lines(report, options),
        Format::Sarif => sarif::render(report, options),
        Format::Github => github::render(report, options),
        Format::Gitlab => gitlab::render(report, options),
        Format::Junit => junit::render(report, options),
        Format::Rdjson => rdjson::render(report, options),
        Format::Lsp => lsp::render(report, options),
        Format::Markdown => markdown::render(report, options),
    }
}

impl Report {
    /// The findings, worst first, else in report order.
    fn worst_first(&self) -> Vec<&Reported> {
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|reported| std::cmp::Reverse(reported.finding.severity));
        findings
    }

    /// The findings of each file, in the order of the sources; empty for a file without.
    fn by_file(&self) -> Vec<Vec<&Reported>> {
        let mut files = vec![Vec::new(); self.sources.len()];
        for reported in &self.findings {
            files[reported.finding.primary.file.0 as usize].push(reported);
        }
        files
    }

    /// The path under which `file` is reported.
    fn path(&self, file: FileId) -> &str {
        self.sources.file(file).path()
    }
}
