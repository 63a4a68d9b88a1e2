//! Rules of change: what merging a change does that the change does not show. `diff` runs them.
//!
//! A finding of theirs is on the line of base that vanished; what caused it in head is related. How bad it is, `merge` decides.

pub(super) mod definition;
mod places;
mod recipe;
mod words;
