//! Delivery object → what it delivers: Applications, ApplicationSets, Flux Kustomizations and HelmReleases, as they are
//! written.
//!
//! What an object says: where its manifests are, into which cluster and namespace they go, what it prunes, and what its own
//! deletion does; and, as far as that is in the tree, the objects that it delivers.

mod application;
mod application_set;
mod flux;
mod object;
mod reach;

pub use object::{DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource, OnDeletion, SourceContent};
pub use reach::{Build, Reach};

use crate::inventory::{Inventory, Member};

/// What an object delivers: nothing for most.
pub fn delivered_by(member: &Member) -> Vec<DeliveryObject> {
    match (member.object.group(), member.object.kind.value.as_str()) {
        ("argoproj.io", "Application") => application::read(member).into_iter().collect(),
        ("argoproj.io", "ApplicationSet") => application_set::read(member),
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => flux::kustomization(member).into_iter().collect(),
        ("helm.toolkit.fluxcd.io", "HelmRelease") => flux::helm_release(member).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Every delivery object of an input, in its order.
pub(super) fn of(inventory: &Inventory) -> Vec<DeliveryObject> {
    inventory.members.iter().filter(|member| member.decodes()).flat_map(delivered_by).collect()
}
