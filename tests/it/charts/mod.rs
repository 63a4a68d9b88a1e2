//! `--render` of charts: what a version bump or a changed value deletes.

mod fake;
mod real;
mod recorded;
mod surroundings;
mod values;
