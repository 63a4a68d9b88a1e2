//! What a simulation found, and one file per format that says it.
//!
//! Like the formats of a report, each is a pure function: of a [`PlanView`] and [`Options`]. `story` reads a step from the
//! simulation once (what goes, hangs and stays, each with its cause), `outline` cuts it down to what a reader can take
//! in, `words` and `remedy` say why and what to do; the formats only draw.

mod cascade;
mod command;
mod dot;
mod graph;
mod human;
mod json;
mod markdown;
mod mermaid;
mod outline;
mod remedy;
mod story;
mod variation;
mod words;

use std::fmt;
use std::str::FromStr;

use super::{Options, UnknownFormat};
use crate::gc::{Key, Plan, Step};

pub use cascade::Cascade;

/// What the presentation of a plan may say besides the simulation itself.
#[derive(Debug)]
pub struct PlanView<'a> {
    /// The finished simulation.
    pub plan: &'a Plan<'a>,
    /// The steps that were simulated.
    pub steps: &'a [Step],
    /// Objects of the simulated cluster that no manifest holds.
    pub implied: Vec<Implied>,
    /// One line per step: what is done, as its user would say it.
    pub titles: Vec<String>,
    /// Per step: what the request names.
    pub targets: Vec<Vec<Key>>,
    /// What was assumed; one sentence each.
    pub notes: Vec<String>,
}

/// An object that a controller would have created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Implied {
    /// The object.
    pub key: Key,
    /// The object because of which it exists.
    pub owner: Key,
    /// The rule that says so: `DEP-1`.
    pub rule: &'static str,
}

/// A format of `plan --output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanFormat {
    /// Trees, reasons and commands for people.
    Human,
    /// The contract `ownerlint.plan/1`.
    Json,
    /// A Graphviz graph.
    Dot,
    /// A Mermaid flowchart.
    Mermaid,
    /// A job summary or a comment, with the flowchart.
    Markdown,
}

impl PlanFormat {
    /// Every format, in the order of this type.
    pub const ALL: [Self; 5] = [Self::Human, Self::Json, Self::Dot, Self::Mermaid, Self::Markdown];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Dot => "dot",
            Self::Mermaid => "mermaid",
            Self::Markdown => "markdown",
        }
    }
}

impl fmt::Display for PlanFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PlanFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// The whole document of `view` in `format`, ending in a line break.
pub fn render(format: PlanFormat, view: &PlanView<'_>, options: &Options) -> String {
    match format {
        PlanFormat::Json => json::render(view),
        PlanFormat::Human => human::render(view, options),
        PlanFormat::Dot => dot::render(view),
        PlanFormat::Mermaid => mermaid::render(view),
        PlanFormat::Markdown => markdown::render(view, options),
    }
}
