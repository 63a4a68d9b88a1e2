//! The rules: each is a static description beside a function, and a page `rules/<id>.md`.
//!
//! A rule reads a [`Context`] and pushes [`Draft`]s into a [`Sink`], which adds the rule's id and default severity, so
//! no rule can mislabel itself. Rules are in folders by [`Subject`]; [`RULES`] is the only registry.

mod argocd;
mod change;
mod data;
mod delivery;
mod draft;
mod finalizers;
mod helm;
mod holder;
mod namespaces;
mod objects;
mod page;
mod proposal;
mod reading;
mod references;
mod registry;
mod rule;
mod subject;
mod trials;
mod words;

pub use draft::Draft;
pub use page::{Example, ExampleLanguage, FrontMatter, Page, PageError};
pub(crate) use references::identity::is_contradicted;
pub(crate) use registry::suggestion;
pub use registry::{RULES, find};
pub use rule::{
    CascadeOf, Context, MAX_FINDINGS, Omitted, Repeats, Rule, RuleCheck, RunOutcome, Shown, Sink,
    World,
};
pub use subject::Subject;
