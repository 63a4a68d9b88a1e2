//! Rules of change: what merging a change does that the change does not show. `diff` runs them.
//!
//! A finding of theirs is on the line of base that vanished; what caused it in head is related. How bad it is, `merge` decides.

pub(super) mod backend;
pub(super) mod controller;
pub(super) mod data;
pub(super) mod definition;
pub(super) mod delivery;
pub(super) mod generator;
pub(super) mod hook;
pub(super) mod immutable;
pub(super) mod namespace;
pub(super) mod owner;
mod places;
pub(super) mod project;
mod recipe;
pub(super) mod used;
pub(super) mod weakened;
mod words;
