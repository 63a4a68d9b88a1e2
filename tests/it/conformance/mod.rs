//! Comparisons with recordings of real programs, and with the corpus of real manifests.

mod admission;
mod admission_finalizers;
pub(crate) mod corpus;
mod corpus_list;
mod kustomize;
mod permissions;
mod plan;
pub(crate) mod teardown;
