//! Single objects: their metadata, kind and namespace, and Secrets for tokens.

pub(in crate::rules) mod metadata;
pub(in crate::rules) mod scope;
pub(in crate::rules) mod serving;
pub(in crate::rules) mod token;
