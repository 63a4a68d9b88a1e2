//! CRD → instance.

use std::collections::BTreeMap;

use crate::inventory::{Inventory, ObjectId, table};
use crate::kube::GroupKind;

/// The objects of every kind that a CustomResourceDefinition defines, in the input or not, in the order of the inventory.
pub(super) fn of(inventory: &Inventory) -> BTreeMap<GroupKind, Vec<ObjectId>> {
    let mut instances: BTreeMap<GroupKind<&str>, Vec<ObjectId>> = BTreeMap::new();
    let custom = inventory.members.iter().filter(|member| !table().is_builtin_group(&member.key.group));
    for member in custom {
        instances.entry(member.key.group_kind()).or_default().push(member.id);
    }
    instances.into_iter().map(|(kind, ids)| (kind.to_owned(), ids)).collect()
}
