//! Evaluates the builds of kustomize. Replacements and vars are not evaluated: in fields other than
//! names and metadata, builds may differ from those of kustomize.

mod budget;
mod build;
mod doc;
mod generate;
mod images;
mod inflate;
mod labels;
mod marks;
mod memo;
mod namespaced;
mod objects;
mod part;
mod patch;
mod references;
mod resource;
mod resource_index;
mod select;
mod transform;

pub use budget::{Budget, Taken};
pub use build::{BuildError, Builder, Built};
pub use doc::{KustomizationDoc, is_kustomization_field, kustomization};
pub use generate::json_text;
pub(super) use images::image_parts;
pub use memo::Builds;
pub use objects::{objects_of, resources_of};
pub use patch::merged;
pub use resource::{Origin, ResId, Resource, is_cluster_scoped, is_namespaced};
