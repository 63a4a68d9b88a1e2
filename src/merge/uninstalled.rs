//! Flux, uninstalled by the Flux Operator because a FluxInstance is deleted.

use std::collections::BTreeSet;

use super::part::MergePart;
use crate::delivery::flux_operator;
use crate::inventory::Member;
use crate::kube::{ObjectKey, kinds};

/// Returns the FluxInstance among the deleted objects of a part, if the Flux Operator uninstalls Flux with it.
pub(super) fn uninstalling<'a>(
    part: &MergePart<'a>,
    requested: &BTreeSet<ObjectKey>,
) -> Option<&'a Member> {
    let mut instances = part.base.inventory.of_kind(kinds::FLUX_INSTANCE);
    instances.find(|member| requested.contains(&member.key) && flux_operator::uninstalls(member))
}

/// Describes what the Flux Operator does when `instance` is deleted.
pub(super) fn uninstalled(instance: &Member) -> String {
    format!(
        "the Flux Operator uninstalls Flux with {}: the CustomResourceDefinitions of Flux are deleted with every \
         Kustomization and HelmRelease, without pruning: what they applied stays in the cluster, and nothing applies it \
         any more",
        instance.key
    )
}
