//! Namespace → namespaced object.

use std::collections::BTreeMap;

use crate::inventory::{Inventory, ObjectId};

/// What the namespace controller deletes with each Namespace, by its name, in the order of the inventory. Objects whose
/// namespace nobody says are in none.
pub(super) fn of(inventory: &Inventory) -> BTreeMap<String, Vec<ObjectId>> {
    let mut contents: BTreeMap<String, Vec<ObjectId>> = BTreeMap::new();
    for member in &inventory.members {
        let Some(name) = member.key.namespace.name() else { continue };
        match contents.get_mut(name) {
            Some(ids) => ids.push(member.id),
            None => {
                contents.insert(name.to_owned(), vec![member.id]);
            }
        }
    }
    contents
}
