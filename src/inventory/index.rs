//! Objects by what they are called: a few bytes for each, where a map would have a copy of every name.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::object_id::ObjectId;

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
        let named = || (0..count as u32).map(ObjectId).filter_map(|id| Some((name_of(id)?, id)));
        let count = named().count();
        let buckets = count.next_power_of_two();
        let mut entries: Vec<(u32, ObjectId)> = Vec::with_capacity(count);
        entries.extend(named().map(|(name, id)| (bucket(&name, buckets), id)));
        entries.sort_unstable_by(|(a, one), (b, other)| {
            a.cmp(b).then_with(|| name_of(*one).cmp(&name_of(*other))).then(one.cmp(other))
        });
        let mut starts = vec![0; buckets + 1];
        entries.iter().for_each(|(bucket, _)| starts[*bucket as usize + 1] += 1);
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        Self { ids: entries.into_iter().map(|(_, id)| id).collect(), starts }
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
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    (hasher.finish() as usize & (buckets - 1)) as u32
}
