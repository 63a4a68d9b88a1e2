//! The formats of a comparison: each a pure function of a finished [`DiffReport`].

mod human;
mod in_head;
mod json;
mod markdown;
mod model;
mod words;

use std::fmt;
use std::str::FromStr;

use super::{Format, Options, UnknownFormat, render as render_findings};
use in_head::in_head;

pub use model::{ChangedPlace, DiffReport, DiffSummary, ReportedChange, StateName};

/// A format of `diff --output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DiffFormat {
    /// For people.
    Human,
    /// The contract `ownerlint.diff/1`.
    Json,
    /// The comment on a pull request.
    Markdown,
    /// The findings alone, one line each.
    Concise,
    /// The findings of the contract, one per line.
    Jsonl,
    /// The findings alone: SARIF 2.1.0.
    Sarif,
    /// The findings alone: annotations on the pull request.
    Github,
    /// The findings alone: GitLab code quality.
    Gitlab,
    /// The findings alone: JUnit XML.
    Junit,
    /// The findings alone: Reviewdog's diagnostic format.
    Rdjson,
}

impl DiffFormat {
    /// Every format, in the order of this type.
    pub const ALL: [Self; 10] = [
        Self::Human,
        Self::Json,
        Self::Markdown,
        Self::Concise,
        Self::Jsonl,
        Self::Sarif,
        Self::Github,
        Self::Gitlab,
        Self::Junit,
        Self::Rdjson,
    ];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Concise => "concise",
            Self::Jsonl => "jsonl",
            Self::Sarif => "sarif",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Junit => "junit",
            Self::Rdjson => "rdjson",
        }
    }
}

impl fmt::Display for DiffFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DiffFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// The comparison in a format.
pub fn render(format: DiffFormat, report: &DiffReport, options: &Options) -> String {
    let findings = &report.findings;
    let of_head = |format| render_findings(format, &in_head(findings), options);
    match format {
        DiffFormat::Human => human::render(report, &options.human),
        DiffFormat::Json => json::render(report),
        DiffFormat::Markdown => markdown::render(report, options),
        DiffFormat::Jsonl => render_findings(Format::Jsonl, findings, options),
        DiffFormat::Concise => of_head(Format::Concise),
        DiffFormat::Sarif => of_head(Format::Sarif),
        DiffFormat::Github => of_head(Format::Github),
        DiffFormat::Gitlab => of_head(Format::Gitlab),
        DiffFormat::Junit => of_head(Format::Junit),
        DiffFormat::Rdjson => of_head(Format::Rdjson),
    }
}

impl DiffReport {
    /// The comparison in a format, without colours and 100 columns wide where that matters.
    pub fn render(&self, format: DiffFormat) -> String {
        render(format, self, &Options::default())
    }
}
