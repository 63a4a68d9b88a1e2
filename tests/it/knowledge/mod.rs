//! The tables of `rules/` about Kubernetes and operators, and the findings that depend on their rows.

mod finalizers;
mod operators;
mod rows;
mod tables;
