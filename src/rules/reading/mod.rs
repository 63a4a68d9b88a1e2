//! The input as text, and the suppression of findings.

pub(in crate::rules) mod duplicates;
pub(in crate::rules) mod input;
pub(in crate::rules) mod suppressing;
