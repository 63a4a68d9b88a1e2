//! The edges between objects: who owns whom, each with its evidence; and who removes which finalizer.
//!
//! Knows nothing of deletion: whether an edge makes anything die is for the simulation to say.

mod contains;
mod defines;
mod generates;
mod implied;
pub mod known_finalizers;
mod pod_specs;
mod removers;
mod run_time;
pub mod tables;
mod tie;
mod ties;
mod uses;
mod written;

pub use implied::{Implied, ImpliedObject, ImpliedReference, MOST_REPLICAS, implied};
pub use removers::{Evidence, FinalizerHolder, Remover, Removers};
pub use run_time::added_finalizers;
pub use tables::Tables;
pub use tie::{Tie, TieEnd, TieEvidence, TieKind};
pub use ties::Ties;
pub use written::{Owner, OwnerEdge, Ownership};
