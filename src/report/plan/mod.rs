//! The formats of a plan, each a pure function of a [`PlanView`] and its options. [`crate::story`] decides on the
//! content, its order and its wording; a format only draws it.

mod cascade;
mod dot;
mod human;
mod json;
mod markdown;
mod mermaid;
mod outcomes;
mod removal;
mod screen;
mod unanswered;

use std::fmt;
use std::str::FromStr;

use super::{Options, UnknownFormat, html};
use crate::story::PlanView;

pub use cascade::Cascade;
pub(in crate::report) use dot::quoted as dot_text;
pub use json::LastStep;
pub(in crate::report) use json::PlanDocument;
pub(in crate::report) use markdown::held_item;
pub(in crate::report) use mermaid::escaped as mermaid_text;

/// A format of `plan --output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
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
    /// One self-contained HTML page.
    Html,
}

impl PlanFormat {
    /// Every format, in the order of this type.
    pub const ALL: [Self; 6] = [
        Self::Human,
        Self::Json,
        Self::Dot,
        Self::Mermaid,
        Self::Markdown,
        Self::Html,
    ];

    /// Returns the name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Dot => "dot",
            Self::Mermaid => "mermaid",
            Self::Markdown => "markdown",
            Self::Html => "html",
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
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// Renders the whole document of `view` in `format`, ending in a line break.
pub fn render(format: PlanFormat, view: &PlanView<'_>, options: &Options) -> String {
    match format {
        PlanFormat::Json => json::render(view),
        PlanFormat::Human => human::render(view, &options.human),
        PlanFormat::Dot => dot::render(view),
        PlanFormat::Mermaid => mermaid::render(view),
        PlanFormat::Markdown => markdown::render(view, &options.markdown),
        PlanFormat::Html => html::plan(view, &options.html, &options.roots),
    }
}
