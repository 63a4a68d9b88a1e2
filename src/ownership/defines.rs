//! The instances of a definition (CRD → instance).

use crate::inventory::{Inventory, Member, table};
use crate::kube::GroupKind;

/// Returns the objects that the API server deletes with the CustomResourceDefinition of a kind, in inventory order.
pub fn instances_of<'a>(
    inventory: &'a Inventory,
    kind: GroupKind<&str>,
) -> impl Iterator<Item = &'a Member> + use<'a> {
    // [CRD-3]: a definition does not replace a built-in kind.
    let is_custom = !table().is_builtin_group(kind.group);
    is_custom
        .then(|| inventory.of_kind(kind))
        .into_iter()
        .flatten()
}
