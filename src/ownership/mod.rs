//! The edges between objects: who owns whom, each with its evidence; and who removes which finalizer.
//!
//! Knows nothing of deletion: whether an edge makes anything die is for the simulation to say.

mod implied;
pub mod known_finalizers;
mod removers;
mod written;

pub use implied::{Implied, ImpliedObject, ImpliedReference, MOST_REPLICAS, implied};
pub use removers::{Evidence, FinalizerHolder, Remover, Removers};
pub use written::{Owner, OwnerEdge, Ownership};
