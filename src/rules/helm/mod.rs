//! Releases of Helm.

pub(in crate::rules) mod release;
