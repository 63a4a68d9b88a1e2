//! Namespace → namespaced object.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::inventory::{Inventory, ObjectId};

/// What the namespace controller deletes with each Namespace, by its name, in the order of the inventory. Objects whose
/// namespace nobody says are in none.
pub(super) fn of(inventory: &Inventory) -> BTreeMap<String, Vec<ObjectId>> {
    let mut contents: HashMap<&str, Vec<ObjectId>> = HashMap::default();
    for member in &inventory.members {
        if let Some(name) = member.key.namespace.name() {
            contents.entry(name).or_default().push(member.id);
        }
    }
    contents.into_iter().map(|(name, ids)| (name.to_owned(), ids)).collect()
}
