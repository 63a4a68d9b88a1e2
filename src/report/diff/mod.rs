//! The formats of a comparison: each a pure function of a finished [`DiffReport`].

mod human;
mod json;
mod markdown;
mod model;
mod words;

use std::fmt;
use std::str::FromStr;

use super::{Options, UnknownFormat};

pub use model::{
    ChangedPlace, DiffEffect, DiffReport, DiffSummary, EffectCertainty, EffectKind, ReportedChange, StateName,
};

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
}

impl DiffFormat {
    /// Every format, in the order of this type.
    pub const ALL: [Self; 3] = [Self::Human, Self::Json, Self::Markdown];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Markdown => "markdown",
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
    match format {
        DiffFormat::Human => human::render(report),
        DiffFormat::Json => json::render(report),
        DiffFormat::Markdown => markdown::render(report, &options.markdown),
    }
}

impl DiffReport {
    /// The comparison in a format.
    pub fn render(&self, format: DiffFormat) -> String {
        render(format, self, &Options::default())
    }
}
