//! A compact index of objects by name: it stores no copies of the names.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

use super::ObjectId;

/// The objects that have a name, sorted by its hash, then by the name, then in the order of the
/// inventory. The functions `name_of` must always return the same name for an object.
#[derive(Debug, Default)]
pub(super) struct Index {
    hashes: Vec<u32>,
    ids: Vec<ObjectId>,
}

impl Index {
    /// Indexes `all`, which are in order; most of them have a name.
    pub(super) fn new<N: Hash + Ord>(
        all: impl Iterator<Item = ObjectId>,
        name_of: impl Fn(ObjectId) -> Option<N>,
    ) -> Self {
        let named = all.filter_map(|id| Some((hash(&name_of(id)?), id)));
        let mut named: Vec<(u32, ObjectId)> = named.collect();
        named.sort_unstable();
        for alike in named.chunk_by_mut(|a, b| a.0 == b.0) {
            // The sort is stable: objects with the same name stay in the order of the inventory.
            alike.sort_by_key(|(_, id)| name_of(*id));
        }
        let (hashes, ids) = named.into_iter().unzip();
        Self { hashes, ids }
    }

    /// Returns the objects of each name, in the order of the inventory; the order of names is unspecified.
    pub(super) fn each<N: Eq>(
        &self,
        name_of: impl Fn(ObjectId) -> Option<N>,
    ) -> impl Iterator<Item = &[ObjectId]> {
        self.ids.chunk_by(move |a, b| name_of(*a) == name_of(*b))
    }

    /// Returns the objects of that name, in the order of the inventory.
    pub(super) fn get<N: Hash + Ord>(
        &self,
        wanted: &N,
        name_of: impl Fn(ObjectId) -> Option<N>,
    ) -> &[ObjectId] {
        let hash = hash(wanted);
        let start = self.hashes.partition_point(|one| *one < hash);
        let end = self.hashes.partition_point(|one| *one <= hash);
        let alike = &self.ids[start..end];
        let start = alike.partition_point(|id| name_of(*id).as_ref() < Some(wanted));
        let end = alike.partition_point(|id| name_of(*id).as_ref() <= Some(wanted));
        &alike[start..end]
    }
}

/// Hashes a name. The hash is the same in every run.
fn hash(name: &impl Hash) -> u32 {
    FixedState::default().hash_one(name) as u32
}
