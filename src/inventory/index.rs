//! Objects by name: a few bytes for each, where a map would have a copy of every name.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

use super::object_id::ObjectId;

/// The objects that have a name, sorted by a hash of it, then by the name itself, then in the order of the inventory. The name is
/// whatever a function says of an object, the same one each time.
///
/// There is one hash for four objects: an input may have a million, and a search among four names takes two steps.
#[derive(Debug, Default)]
pub(super) struct Index {
    ids: Vec<ObjectId>,
    /// Where the objects of a name begin in `ids`, and one more for the end of the last.
    names: Vec<u32>,
    /// Where the names of a hash begin in `names`, and one more for the end of the last.
    buckets: Vec<u32>,
}

impl Index {
    /// Of `all`, which come in order; most of them have a name.
    pub(super) fn new<N: Hash + Ord>(
        all: impl ExactSizeIterator<Item = ObjectId> + Clone,
        name_of: impl Fn(ObjectId) -> Option<N>,
    ) -> Self {
        let buckets = all.len().div_ceil(4).next_power_of_two();
        let named = || all.clone().filter_map(|id| Some((name_of(id)?, id)));
        let mut starts = vec![0; buckets + 1];
        named().for_each(|(name, _)| starts[bucket(hash(&name), buckets) + 1] += 1);
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let mut ids = vec![ObjectId::default(); starts[buckets] as usize];
        let mut next = starts.clone();
        // Hashed twice: a list of hashes would be as long as the index.
        for (name, id) in named() {
            let next = &mut next[bucket(hash(&name), buckets)];
            ids[*next as usize] = id;
            *next += 1;
        }
        let (mut names, mut at) = (Vec::with_capacity(ids.len() + 1), 0);
        for bucket in 0..buckets {
            let alike = &mut ids[starts[bucket] as usize..starts[bucket + 1] as usize];
            starts[bucket] = names.len() as u32;
            if alike.len() > 1 {
                // Stable: those of one name stay in the order of the inventory.
                alike.sort_by_key(|id| name_of(*id));
            }
            for of_one_name in alike.chunk_by(|a, b| name_of(*a) == name_of(*b)) {
                names.push(at);
                at += of_one_name.len() as u32;
            }
        }
        starts[buckets] = names.len() as u32;
        names.push(at);
        Self {
            ids,
            names,
            buckets: starts,
        }
    }

    /// The objects of each name, in the order of the inventory; the names in none.
    pub(super) fn each(&self) -> impl Iterator<Item = &[ObjectId]> {
        self.names
            .windows(2)
            .map(|bounds| &self.ids[bounds[0] as usize..bounds[1] as usize])
    }

    /// The objects of that name, in the order of the inventory.
    pub(super) fn get<N: Hash + Ord>(
        &self,
        wanted: &N,
        name_of: impl Fn(ObjectId) -> Option<N>,
    ) -> &[ObjectId] {
        let buckets = self.buckets.len().saturating_sub(1);
        if buckets == 0 {
            return &[];
        }
        let bucket = bucket(hash(wanted), buckets);
        let first = self.buckets[bucket] as usize;
        let names = &self.names[first..self.buckets[bucket + 1] as usize];
        let found = names
            .binary_search_by(|at| name_of(self.ids[*at as usize]).as_ref().cmp(&Some(wanted)));
        found.map_or(&[], |at| {
            &self.ids[self.names[first + at] as usize..self.names[first + at + 1] as usize]
        })
    }
}

/// Hashes a name, equally in every run; colliding names are no attack, because those of one bucket are sorted.
fn hash(name: &impl Hash) -> u32 {
    FixedState::default().hash_one(name) as u32
}

/// The bucket of a hash among so many, a power of two.
fn bucket(hash: u32, buckets: usize) -> usize {
    hash as usize & (buckets - 1)
}
