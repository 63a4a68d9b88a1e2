//! YAML and JSON as Kubernetes reads them.

mod corpus;
mod decode;
mod limits;
mod mutants;
mod properties;
mod rules;
mod second_opinion;
pub(crate) mod support;
