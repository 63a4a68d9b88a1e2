//! `diff`: two states, compared.

mod changes;
mod conformance;
mod effects;
#[cfg(unix)]
mod git;
mod histories;
mod immutable;
mod places;
mod sources;
