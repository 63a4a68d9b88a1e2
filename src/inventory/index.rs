//! A compact index of objects by name: it stores no copies of the names.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

use super::ObjectId;

/// The objects that have a name, sorted by the bucket of its hash, then by the name, then in the order of the
/// inventory. A function computes the name of an object, and must always return the same one.
///
/// There is one bucket per four objects or so: this keeps the index small, and a binary search in a bucket takes two
/// steps.
#[derive(Debug, Default)]
pub(super) struct Index {
    ids: Vec<ObjectId>,
    /// The start of each name's objects in `ids`, followed by the end of the last.
    names: Vec<u32>,
    /// The start of each bucket's names in `names`, followed by the end of the last.
    buckets: Vec<u32>,
}

impl Index {
    /// Indexes `all`, which are in order; most of them have a name.
    pub(super) fn new<N: Hash + Ord>(
        all: impl ExactSizeIterator<Item = ObjectId> + Clone,
        name_of: impl Fn(ObjectId) -> Option<N>,
    ) -> Self {
        let buckets = all.len().div_ceil(4).next_power_of_two();
        let named = all.filter_map(|id| Some((name_of(id)?, id)));
        let mut starts = vec![0; buckets + 1];
        for (name, _) in named.clone() {
            starts[bucket(hash(&name), buckets) + 1] += 1;
        }
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let mut ids = vec![ObjectId::default(); starts[buckets] as usize];
        let mut next = starts.clone();
        // Hashes again, since a list of hashes would be as long as the index.
        for (name, id) in named {
            let next = &mut next[bucket(hash(&name), buckets)];
            ids[*next as usize] = id;
            *next += 1;
        }
        let (mut names, mut at) = (Vec::with_capacity(ids.len() + 1), 0);
        for bucket in 0..buckets {
            let alike = &mut ids[starts[bucket] as usize..starts[bucket + 1] as usize];
            starts[bucket] = names.len() as u32;
            if alike.len() > 1 {
                // The sort is stable: objects with the same name stay in the order of the inventory.
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

    /// Returns the objects of each name, in the order of the inventory; the order of names is unspecified.
    pub(super) fn each(&self) -> impl Iterator<Item = &[ObjectId]> {
        self.names
            .windows(2)
            .map(|bounds| &self.ids[bounds[0] as usize..bounds[1] as usize])
    }

    /// Returns the objects of that name, in the order of the inventory.
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

/// Hashes a name. The hash is the same in every run. Collisions are harmless, because the names of a bucket are sorted.
fn hash(name: &impl Hash) -> u32 {
    FixedState::default().hash_one(name) as u32
}

/// Returns the bucket of a hash; the number of `buckets` is a power of two.
fn bucket(hash: u32, buckets: usize) -> usize {
    hash as usize & (buckets - 1)
}
