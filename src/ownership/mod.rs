//! The edges between objects: who owns whom, each with its evidence.
//!
//! Knows nothing of deletion: whether an edge makes anything die is for the simulation to say.

mod written;

pub use written::{Owner, OwnerEdge, Ownership};
