//! Objects by what they are called: a few bytes for each, where a map would have a copy of every name.

use std::hash::{Hash, Hasher};

use super::object_id::ObjectId;
use crate::text::QuickHasher;

/// The objects that have a name, sorted by a hash of it, then by the name itself, then in the order of the inventory. The name is
/// whatever a function says of an object, the same one each time.
#[derive(Debug, Default)]
pub(super) struct Index {
    ids: Vec<ObjectId>,
    /// Where the objects of a hash begin, and one more for the end of the last.
    starts: Vec<u32>,
}

impl Index {
    /// Of the first `count` objects.
    pub(super) fn new<N: Hash + Ord>(count: usize, name_of: impl Fn(ObjectId) -> Option<N>) -> Self {
        let buckets = count.next_power_of_two();
        let places = (0..count as u32).map(ObjectId).filter_map(|id| Some((bucket(&name_of(id)?, buckets), id)));
        let places: Vec<(u32, ObjectId)> = places.collect();
        let mut starts = vec![0; buckets + 1];
        places.iter().for_each(|(bucket, _)| starts[*bucket as usize + 1] += 1);
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let mut ids = vec![ObjectId::default(); places.len()];
        let mut next = starts.clone();
        for (bucket, id) in places {
            let next = &mut next[bucket as usize];
            ids[*next as usize] = id;
            *next += 1;
        }
        for bounds in starts.windows(2) {
            let alike = &mut ids[bounds[0] as usize..bounds[1] as usize];
            if alike.len() > 1 {
                // Stable: those of one name stay in the order of the inventory.
                alike.sort_by_key(|id| name_of(*id));
            }
        }
        Self { ids, starts }
    }

    /// The objects that share their name with others, those of each name together and in the order of the inventory.
    pub(super) fn shared<N: Ord>(&self, name_of: impl Fn(ObjectId) -> Option<N>) -> Vec<&[ObjectId]> {
        let alike = self.starts.windows(2).map(|bounds| &self.ids[bounds[0] as usize..bounds[1] as usize]);
        let of_one_name =
            alike.filter(|alike| alike.len() > 1).flat_map(|alike| alike.chunk_by(|a, b| name_of(*a) == name_of(*b)));
        of_one_name.filter(|ids| ids.len() > 1).collect()
    }

    /// The objects of that name, in the order of the inventory.
    pub(super) fn get<N: Hash + Ord>(&self, wanted: &N, name_of: impl Fn(ObjectId) -> Option<N>) -> &[ObjectId] {
        let buckets = self.starts.len().saturating_sub(1);
        if buckets == 0 {
            return &[];
        }
        let bucket = bucket(wanted, buckets) as usize;
        let alike = &self.ids[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
        let start = alike.partition_point(|id| name_of(*id).as_ref() < Some(wanted));
        let end = alike.partition_point(|id| name_of(*id).as_ref() <= Some(wanted));
        &alike[start..end]
    }
}

/// The place of a name among so many, a power of two. The same in every run; who makes names collide gains nothing, because those
/// of one place are sorted.
fn bucket(name: &impl Hash, buckets: usize) -> u32 {
    let mut hasher = QuickHasher::default();
    name.hash(&mut hasher);
    (hasher.finish() as usize & (buckets - 1)) as u32
}
