//! Rules of change: consequences of a merge that the Git diff does not show. `diff` runs them.
//!
//! Their findings point at base; the cause in head is a related place. `merge` decides the severity.

pub(super) mod backend;
pub(super) mod controller;
pub(super) mod data;
pub(super) mod definition;
pub(super) mod delivery;
pub(super) mod generator;
pub(super) mod hook;
pub(super) mod immutable;
pub(super) mod joined;
pub(super) mod moved;
pub(super) mod namespace;
mod operator;
pub(super) mod owner;
mod places;
pub(super) mod project;
mod recipe;
pub(super) mod used;
pub(super) mod weakened;
mod words;
