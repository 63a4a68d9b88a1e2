//! The objects that Flux and Argo CD deliver from a tree.

mod claimed;
mod list;
mod sets;
mod sources;
mod tools;
