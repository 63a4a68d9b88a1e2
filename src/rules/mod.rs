//! The rules: each a static description beside a function, and a page `rules/<id>.md`.
//!
//! A rule reads a [`Context`] and pushes [`Draft`]s into a [`Sink`], which stamps them with the rule's id and default
//! severity, so that no rule can mislabel itself. Rules live in
//! folders by [`Subject`]; [`RULES`] is the one registry.

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
    CascadeOf, Context, MOST_FINDINGS, Omitted, Repeats, Rule, RuleCheck, RunOutcome, Shown, Sink,
    World,
};
pub use subject::Subject;
