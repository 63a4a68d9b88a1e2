//! The configuration, suppressions and baselines.

mod controllers;
mod file;
mod suppression_properties;
mod suppressions;
