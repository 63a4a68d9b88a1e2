//! `diff`: two states, compared.

mod changes;
#[cfg(unix)]
mod git;
mod histories;
mod places;
mod sources;
