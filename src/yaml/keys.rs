//! Which keys a mapping has had: equal keys are found without an allocation for the usual small mapping, and in linear time for
//! a huge one.

use std::hash::{BuildHasher, RandomState};

use foldhash::HashMap;

use crate::text::quick_hash;

/// Mappings up to this size are searched from end to end when the filter says that a key may be there.
const SEARCHED: usize = 32;

/// The keys of one mapping. It keeps no text: whoever asks compares the texts.
#[derive(Default)]
pub(super) struct KeySet {
    /// One bit for each key, by its text.
    filter: u64,
    large: Option<Box<LargeSet>>,
}

/// Places of keys by the hash of their text.
#[derive(Default)]
struct LargeSet {
    hasher: RandomState,
    places: HashMap<u64, usize>,
    /// Places that share their hash with another key's.
    colliding: Vec<usize>,
}

impl KeySet {
    /// Notes that `key` is at `place`, the number of keys so far, and says where it was before. `text_at` is
    /// the text of an earlier one.
    pub(super) fn insert<'t>(
        &mut self,
        key: &str,
        place: usize,
        text_at: impl Fn(usize) -> &'t str,
    ) -> Option<usize> {
        let bit = 1 << (quick_hash(key.as_bytes()) % 64);
        let maybe = self.filter & bit != 0;
        self.filter |= bit;
        if place < SEARCHED {
            return if maybe {
                (0..place).rev().find(|&at| text_at(at) == key)
            } else {
                None
            };
        }
        let large = self.large.get_or_insert_with(|| {
            let mut large = Box::<LargeSet>::default();
            for at in 0..place {
                large.insert(text_at(at), at, &text_at);
            }
            large
        });
        large.insert(key, place, &text_at)
    }
}

impl LargeSet {
    fn insert<'t>(
        &mut self,
        key: &str,
        place: usize,
        text_at: &impl Fn(usize) -> &'t str,
    ) -> Option<usize> {
        let earlier = self.places.insert(self.hasher.hash_one(key), place)?;
        if text_at(earlier) == key {
            return Some(earlier);
        }
        let before = self
            .colliding
            .iter()
            .rposition(|&at| text_at(at) == key)
            .map(|at| self.colliding.swap_remove(at));
        self.colliding.push(earlier);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_key_is_found_in_small_and_in_large_mappings() {
        let texts: Vec<String> = (0..100).map(|at| format!("key-{}", at % 70)).collect();
        let mut keys = KeySet::default();
        for (place, text) in texts.iter().enumerate() {
            let earlier = keys.insert(text, place, |at| texts[at].as_str());
            assert_eq!(earlier, place.checked_sub(70), "{text}");
        }
    }
}
