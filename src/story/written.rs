//! Places of the objects of a simulated cluster in files.

use std::collections::BTreeMap;

use crate::gc::{Cluster, ObjectId};
use crate::inventory::Inventory;
use crate::text::{FileId, Sources};

/// The places of the objects of a cluster; objects that no file contains have none. Lines are counted on first use.
#[derive(Clone, Debug, Default)]
pub struct WrittenAt {
    /// The files; clones share their texts.
    sources: Sources,
    /// The file, and the byte at which the object begins.
    places: BTreeMap<ObjectId, (FileId, u32)>,
}

impl WrittenAt {
    /// Finds the places of the objects that `cluster` has from `inventory`: the first, if an object is written twice.
    pub fn of(inventory: &Inventory, cluster: &Cluster) -> Self {
        let mut places = BTreeMap::new();
        for member in &inventory.members {
            if let Some(id) = cluster.find(&member.key) {
                places
                    .entry(id)
                    .or_insert((member.file, member.object.start().start));
            }
        }
        Self {
            sources: inventory.sources.clone(),
            places,
        }
    }

    /// Returns the file in the tree that contains or generates an object, and the 1-based line
    /// there.
    pub(crate) fn place(&self, id: ObjectId) -> Option<(&str, usize)> {
        let (file, start) = self.places.get(&id)?;
        let file = self.sources.file(*file);
        Some((file.path_in_tree(), file.line_in_tree(*start)))
    }
}
