//! Evaluates the builds of kustomize, as far as they decide which objects there are, their names and their metadata.
//! Other fields may differ from those that kustomize builds.

mod budget;
mod build;
mod doc;
mod generate;
mod inflate;
mod labels;
mod memo;
mod named;
mod objects;
mod part;
mod patch;
mod resource;
mod select;
mod transform;

pub use budget::{Budget, Taken};
pub use build::{BuildError, Builder, Built};
pub use doc::{KustomizationDoc, kustomization};
pub use generate::json_text;
pub use memo::Builds;
pub use objects::{objects_of, resources_of};
pub use patch::merged;
pub use resource::{Origin, ResId, Resource, is_cluster_scoped, is_namespaced};
