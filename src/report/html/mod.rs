//! One self-contained HTML page: causes and effects as a tree, a graph and a timeline; the findings with their lines.
//!
//! * `document`: the page around the data, and the policy that guards it; `assets`: the parts that are always the same
//! * `story`: a step of a plan as the page shows it; `page_data`: all other data that is not in the contract,
//!   and the links to files on the web
//! * `snippet`: the lines of a finding
//! * `plan`, `diff`, `findings`: the page of each command; `deliveries`: that of a listing, which has no script
//!
//! The contract is embedded as `--output json` prints it, so the page says the same and scripts can read it back.

mod assets;
mod deliveries;
mod diff;
mod document;
mod findings;
mod page_data;
mod plan;
mod snippet;
mod story;

pub(super) use diff::diff;
pub(super) use findings::findings;
pub(super) use plan::plan;
pub use story::StoryDocument;
