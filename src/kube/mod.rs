//! Kubernetes' vocabulary, from [`kube_gc::names`], and the `kubectl` commands that use it.
//!
//! Every identity in the program is an [`ObjectKey`]. Text is parsed where it comes in from outside (arguments, lists
//! of steps) and keys are formatted where they go out (reports, fingerprints, baselines), never in between.

pub mod kubectl;
mod quantity;
pub mod shell;

pub use kube_gc::names::*;
pub use quantity::quantity;
