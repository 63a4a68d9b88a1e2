//! Kubernetes' own words, from [`kube_gc::names`], and the `kubectl` commands that say them.
//!
//! Every identity of the program is an [`ObjectKey`]; text becomes one where it comes from outside
//! (arguments, lists of steps) and is made of one where it goes out (reports, fingerprints, baselines), never in between.

pub mod kubectl;
mod quantity;
pub mod shell;

pub use kube_gc::names::*;
pub use quantity::quantity;
