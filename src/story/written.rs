//! Where the objects of a simulated cluster are written.

use std::collections::BTreeMap;

use crate::gc::{Cluster, ObjectId};
use crate::inventory::Inventory;
use crate::text::{ColumnUnit, FileId, Sources};

/// Where the objects of a cluster are written; those that no file contains have no place. Lines are counted on first use.
#[derive(Clone, Debug, Default)]
pub struct WrittenAt {
    /// A copy shares the texts.
    sources: Sources,
    /// The file, and the byte at which the object begins.
    places: BTreeMap<ObjectId, (FileId, u32)>,
}

impl WrittenAt {
    /// The places of the objects that a cluster has of an inventory. Of an object that is written more than once, the first.
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

    /// The file of an object, as it is reported, and the 1-based line at which the object begins.
    pub(crate) fn place(&self, id: ObjectId) -> Option<(&str, usize)> {
        let (file, start) = self.places.get(&id)?;
        let file = self.sources.file(*file);
        let line = file.position(*start, ColumnUnit::Utf8).line;
        Some((file.path_in_tree(), line))
    }
}
