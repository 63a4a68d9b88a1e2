//! What a plan says: the simulation's result with the few facts that presenting it needs, and one file per format.

mod json;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::UnknownFormat;
use crate::gc;

/// What the presentation of a plan may say besides the simulation itself.
#[derive(Debug)]
pub struct PlanView<'a> {
    /// The simulation.
    pub plan: &'a gc::Plan<'a>,
    /// Objects that no input holds because controllers create them.
    pub implied: Vec<Implied>,
    /// One line per step: `delete Deployment.apps/shop/web (Background)`.
    pub titles: Vec<String>,
    /// The objects that each step is about.
    pub targets: Vec<Vec<gc::Key>>,
    /// Assumptions made, a sentence or two each.
    pub notes: Vec<String>,
    /// What to type to let go of an object that hangs after the last step.
    pub commands: BTreeMap<gc::Key, String>,
}

/// An object that a controller would create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// The object.
    pub key: gc::Key,
    /// What it is created for.
    pub owner: gc::Key,
    /// The row of the deletion semantics that says so: `DEP-1`.
    pub why: &'static str,
}

/// A format of `plan --output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanFormat {
    /// The contract `ownerlint.plan/1`.
    Json,
}

impl PlanFormat {
    /// Every format, in the order of this type.
    pub const ALL: [Self; 1] = [Self::Json];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
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

/// The whole document of a plan in `format`, ending in a line break. `steps` are those that were simulated.
pub fn render(format: PlanFormat, view: &PlanView<'_>, steps: &[gc::Step]) -> String {
    match format {
        PlanFormat::Json => json::render(view, steps),
    }
}
