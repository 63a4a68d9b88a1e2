//! Applications of Argo CD.

pub(in crate::rules) mod gitops;
