//! Suppressions of findings, with reasons: comments and annotations in manifests, ignores in the configuration.
//!
//! A directive names rules and covers bytes of one file; an ignore names a rule and objects. [`Directives::new`] finds
//! the directives of a bundle, [`Suppressions::apply`] removes findings and records which suppressions it used, so that
//! a suppression without effect can be reported ([`Idle`]).
//!
//! Does not depend on the rules.

mod apply;
mod cover;
mod date;
mod directive;
mod ignore;
mod intervals;
mod syntax;

pub use apply::{Applied, Idle, IdleCause, Suppressed, Suppressions};
pub use date::{Date, NotADate};
pub use directive::{Directive, Directives, Form, Malformed, NamedRule};
pub use ignore::{Ignore, ObjectPattern};
