//! The rules: each a static description beside a function, and a page `rules/<id>.md`.
//!
//! A rule reads a [`Context`] and pushes [`Draft`]s into a [`Sink`], which stamps them with the rule's id and default
//! severity, so that no rule can mislabel itself. Families live in one file each; [`RULES`] is the one registry.

mod change;
mod claimed;
mod claims;
mod draft;
mod finalizer_lifecycle;
mod finalizer_syntax;
mod finalizer_template;
mod finalizer_words;
mod gitops;
mod held;
mod holder;
mod metadata;
mod operator;
mod owner_graph;
mod owner_identity;
mod owner_shape;
mod page;
mod permission;
mod proposal;
mod protection;
mod reading;
mod registry;
mod release;
mod rule;
mod scope;
mod serving;
mod shared_namespace;
pub(crate) mod simulation;
mod suppressing;
mod trials;
mod unanswered;
mod volume;
mod words;

pub use draft::Draft;
pub(crate) use owner_identity::is_contradicted;
pub use page::{Example, ExampleLanguage, FrontMatter, Page, PageError};
pub(crate) use registry::suggestion;
pub use registry::{RULES, find};
pub use rule::{
    Context, MOST_FINDINGS, Omitted, Repeats, Rule, RuleCheck, RunOutcome, Shown, Sink, World,
};
