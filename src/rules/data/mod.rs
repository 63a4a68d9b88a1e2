//! Volumes and other data.

pub(in crate::rules) mod claims;
pub(in crate::rules) mod volume;
