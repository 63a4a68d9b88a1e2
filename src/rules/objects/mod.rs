//! The metadata of every object.

pub(in crate::rules) mod metadata;
pub(in crate::rules) mod scope;
pub(in crate::rules) mod serving;
pub(in crate::rules) mod token;
