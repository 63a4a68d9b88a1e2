//! `--render` of charts: what a version bump or a changed value deletes.

mod fake;
mod real;
mod recorded;
pub(crate) mod surroundings;
mod values;
