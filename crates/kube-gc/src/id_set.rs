//! A set of objects that is read in ascending order, such as the collector's queues.
//!
//! A hierarchical bitset: one bit per object and, on each higher level, one bit per word of the
//! level below, set if that word is not zero. Inserting an object and finding the next one each
//! visit at most six levels, up and down, however large the cluster; nothing is sorted.

use crate::ids::ObjectId;

/// Maximum number of levels: numbers have 32 bits, of which each level takes six.
const LEVELS: usize = 6;

/// A set of object numbers below the size it was made for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct IdSet {
    /// All levels in one vector, which is cheap to copy: the objects' own bits first, a single word last.
    words: Vec<u64>,
    /// Number of words in the first level.
    size: usize,
}

/// Start of a level, and its number of words.
#[derive(Clone, Copy)]
struct BitLevel {
    start: usize,
    size: usize,
}

impl BitLevel {
    /// Returns the level above; `None` if this one is a single word.
    fn above(self) -> Option<BitLevel> {
        (self.size > 1).then(|| BitLevel {
            start: self.start + self.size,
            size: self.size.div_ceil(64),
        })
    }
}

impl IdSet {
    /// Creates an empty set for objects with numbers below `size`.
    pub(super) fn new(size: usize) -> IdSet {
        let mut set = IdSet {
            words: Vec::new(),
            size: size.div_ceil(64).max(1),
        };
        let words = set.levels().map(|level| level.size).sum();
        set.words = vec![0; words];
        set
    }

    fn levels(&self) -> impl Iterator<Item = BitLevel> + use<> {
        std::iter::successors(
            Some(BitLevel {
                start: 0,
                size: self.size,
            }),
            |level| level.above(),
        )
    }

    pub(super) fn insert(&mut self, id: ObjectId) {
        let mut index = usize::from(id);
        for level in self.levels() {
            let word = &mut self.words[level.start + index / 64];
            let known = *word != 0;
            *word |= 1 << (index % 64);
            if known {
                return;
            }
            index /= 64;
        }
    }

    pub(super) fn remove(&mut self, id: ObjectId) {
        let mut index = usize::from(id);
        for level in self.levels() {
            let word = &mut self.words[level.start + index / 64];
            *word &= !(1 << (index % 64));
            if *word != 0 {
                return;
            }
            index /= 64;
        }
    }

    pub(super) fn contains(&self, id: ObjectId) -> bool {
        let index = usize::from(id);
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.last().is_none_or(|top| *top == 0)
    }

    /// Returns the first object at or after `from`.
    pub(super) fn next_from(&self, from: ObjectId) -> Option<ObjectId> {
        let mut index = usize::from(from);
        for (height, level) in self.levels().enumerate() {
            let word = if index / 64 < level.size {
                self.words[level.start + index / 64]
            } else {
                0
            };
            let rest = word >> (index % 64);
            if rest != 0 {
                let found = index + rest.trailing_zeros() as usize;
                return Some(self.first_below(found, height).into());
            }
            index = index / 64 + 1;
        }
        None
    }

    /// Returns the first object below a bit of the level at `height`.
    fn first_below(&self, bit: usize, height: usize) -> usize {
        if height == 0 {
            return bit;
        }
        let mut starts = [0; LEVELS];
        for (start, level) in starts.iter_mut().zip(self.levels()) {
            *start = level.start;
        }
        let below = starts[..height].iter().rev();
        below.fold(bit, |bit, start| {
            bit * 64 + self.words[start + bit].trailing_zeros() as usize
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let mut from = ObjectId::FIRST;
        std::iter::from_fn(move || {
            let id = self.next_from(from)?;
            from = id.next();
            Some(id)
        })
    }

    /// Empties the set and returns its objects.
    pub(super) fn drain(&mut self) -> Vec<ObjectId> {
        let ids: Vec<ObjectId> = self.iter().collect();
        for id in &ids {
            self.remove(*id);
        }
        ids
    }
}

impl Extend<ObjectId> for IdSet {
    fn extend<T: IntoIterator<Item = ObjectId>>(&mut self, ids: T) {
        ids.into_iter().for_each(|id| self.insert(id));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn behaves_like_btree_set() {
        for size in [1_usize, 63, 64, 65, 4_096, 4_097, 300_000] {
            let (mut set, mut model) = (IdSet::new(size), BTreeSet::new());
            let mut random = 0x9e37_79b9_u32;
            for step in 0..2_000 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let id = ObjectId::from((random >> 8) as usize % size);
                if step % 3 == 0 {
                    set.remove(id);
                    model.remove(&id);
                } else {
                    set.insert(id);
                    model.insert(id);
                }
                let from = ObjectId::from((random >> 4) as usize % size);
                assert_eq!(
                    set.next_from(from),
                    model.range(from..).next().copied(),
                    "size {size}, from {from:?}"
                );
                assert_eq!(set.contains(from), model.contains(&from));
                assert_eq!(set.is_empty(), model.is_empty());
            }
            assert!(set.iter().eq(model.iter().copied()));
            assert_eq!(set.drain(), model.into_iter().collect::<Vec<_>>());
            assert!(set.is_empty() && set == IdSet::new(size));
        }
    }
}
