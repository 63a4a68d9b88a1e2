//! The Flux Operator: it uninstalls Flux when a FluxInstance is deleted, and prunes nothing.
//!
//! It deletes the Deployments that the instance installed and waits until they are gone, then everything else that the
//! instance installed, with the CustomResourceDefinitions of Flux, and last removes the finalizers of all objects of Flux
//! (controlplaneio-fluxcd/flux-operator@074f777f5c75 internal/controller/fluxinstance_uninstaller.go). The Namespace
//! stays: it is annotated (internal/builder/templates.go, `namespaceTmpl`).

use super::flux;
use crate::inventory::{Inventory, Member};
use crate::kube::kinds;

/// The finalizer of all objects of Flux (fluxcd/pkg apis/meta, `Finalizer`).
pub const FLUX_FINALIZER: &str = "finalizers.fluxcd.io";

/// The labels of the objects that an instance installs: its name and its namespace.
const OWNER: [&str; 2] = [
    "fluxcd.controlplane.io/name",
    "fluxcd.controlplane.io/namespace",
];

/// Whether the operator uninstalls Flux when `instance` is deleted: a disabled instance only loses its finalizer.
pub fn uninstalls(instance: &Member) -> bool {
    instance.key.is(kinds::FLUX_INSTANCE)
        && !is_disabled(instance, "fluxcd.controlplane.io/reconcile")
}

/// Returns the objects that are deleted when Flux is uninstalled with `instance`: those that it
/// installed, unless their pruning is disabled, and the objects of Flux.
pub fn uninstalled<'i>(
    inventory: &'i Inventory,
    instance: &Member,
) -> impl Iterator<Item = &'i Member> {
    let owner = [
        instance.key.name.as_str(),
        instance.key.namespace.name().unwrap_or_default(),
    ];
    inventory.members.iter().filter(move |member| {
        let metadata = member.object.metadata();
        let labels = OWNER.map(|key| metadata.label(key).map(|label| label.value));
        let is_installed =
            labels == owner.map(Some) && !is_disabled(member, "fluxcd.controlplane.io/prune");
        is_installed || flux::is_own(member)
    })
}

fn is_disabled(member: &Member, key: &str) -> bool {
    let metadata = member.object.metadata();
    metadata
        .annotation(key)
        .is_some_and(|value| value.value.eq_ignore_ascii_case("disabled"))
}
