//! What the objects of Flux and Argo CD in a tree deliver.

mod claimed;
mod list;
mod tools;
