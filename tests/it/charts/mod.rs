//! `--render` of charts: the deletions that a version bump or a changed value causes.

mod bundles;
mod dependencies;
mod fake;
mod parts;
mod real;
mod recorded;
pub(crate) mod surroundings;
mod twice;
mod values;
