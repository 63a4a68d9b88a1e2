//! The input as text, and the comments that suppress findings.

pub(in crate::rules) mod input;
pub(in crate::rules) mod suppressing;
