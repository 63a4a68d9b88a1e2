//! Delivery object → what it delivers: Applications, ApplicationSets, Flux Kustomizations and HelmReleases, as they are
//! written.
//!
//! The content of a delivery object: where its manifests are, into which cluster and namespace they go, which objects
//! it prunes, and the effect of its own deletion; and, as far as that is in the tree, the objects that it delivers.

mod application;
mod application_set;
mod flux;
mod object;
mod reach;

pub use object::{
    DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource, SourceContent,
};
pub use reach::{Reach, tops};

use crate::inventory::{Inventory, Member};
use crate::kube::kinds;

/// The delivery objects in an object: none for most.
pub fn delivered_by(member: &Member) -> Vec<DeliveryObject> {
    match member.object.group_kind() {
        kinds::APPLICATION => application::read(member).into_iter().collect(),
        kinds::APPLICATION_SET => application_set::read(member),
        kinds::FLUX_KUSTOMIZATION => flux::kustomization(member).into_iter().collect(),
        kinds::HELM_RELEASE => flux::helm_release(member).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The Applications of an ApplicationSet that are not looked at, because it generates too many.
pub fn not_generated(member: &Member) -> usize {
    application_set::left_out(member)
}

/// Every delivery object of an input, in its order.
pub fn delivery_objects(inventory: &Inventory) -> Vec<DeliveryObject> {
    inventory
        .members
        .iter()
        .filter(|member| member.decodes())
        .flat_map(delivered_by)
        .collect()
}
