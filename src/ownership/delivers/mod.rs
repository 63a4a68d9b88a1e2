//! The content of delivery objects: Applications, ApplicationSets, Flux Kustomizations and HelmReleases, as their
//! manifests describe it.
//!
//! For each delivery object: the sources of its manifests, their cluster and namespace, whether it prunes, the effect
//! of its own deletion, and the objects in the tree that it delivers.

mod application;
mod application_set;
mod flux;
mod object;
mod reach;

pub use object::{DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource};
pub use reach::{Reach, tops};

use crate::inventory::{Inventory, Member};
use crate::kube::kinds;

/// Reads an object as a delivery object; `None` for most.
pub fn delivery_object(member: &Member) -> Option<DeliveryObject> {
    match member.object.group_kind() {
        kinds::APPLICATION => application::read(member),
        kinds::APPLICATION_SET => application_set::read(member),
        kinds::FLUX_KUSTOMIZATION => flux::kustomization(member),
        kinds::HELM_RELEASE => flux::helm_release(member),
        _ => None,
    }
}

/// Returns every delivery object of an input, in its order.
pub fn delivery_objects(inventory: &Inventory) -> Vec<DeliveryObject> {
    inventory
        .members
        .iter()
        .filter(|member| member.decodes())
        .filter_map(delivery_object)
        .collect()
}
