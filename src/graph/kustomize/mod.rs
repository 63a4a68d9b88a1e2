//! What kustomize builds, evaluated: everything that decides which objects there are, what they are called and what their metadata
//! says. What else is in an object is carried along.

mod budget;
mod build;
mod doc;
mod generate;
mod inflate;
mod memo;
mod patch;
mod resource;
mod select;
mod transform;

pub use budget::Budget;
pub use build::{BuildError, Builder, Built, resources_of};
pub use doc::{KustomizationDoc, kustomization, kustomizations};
pub use memo::Builds;
pub use patch::merged;
pub use resource::{Origin, ResId, Resource, is_cluster_scoped, is_namespaced};
