//! Finds equal keys of a mapping: without an allocation in small mappings, and in linear time in large ones.

use std::collections::HashMap;

/// Mappings up to this size are searched linearly.
const SEARCHED: usize = 32;

/// The keys of one mapping, by index. A small mapping stores none: the caller provides the texts.
#[derive(Default)]
pub(super) struct KeySet {
    large: Option<HashMap<Box<str>, usize>>,
}

impl KeySet {
    /// Adds `key` at the index `place`, which is the number of keys so far. Returns the index of an earlier equal key.
    /// `text_at` returns the text at an earlier index.
    #[inline]
    pub(super) fn insert<'t>(
        &mut self,
        key: &str,
        place: usize,
        text_at: impl Fn(usize) -> &'t str,
    ) -> Option<usize> {
        if place < SEARCHED {
            return (0..place).rev().find(|&at| text_at(at) == key);
        }
        let large = self
            .large
            .get_or_insert_with(|| (0..place).map(|at| (text_at(at).into(), at)).collect());
        large.insert(key.into(), place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_key_is_found_in_small_and_large_mappings() {
        let texts: Vec<String> = (0..100).map(|at| format!("key-{}", at % 70)).collect();
        let mut keys = KeySet::default();
        for (place, text) in texts.iter().enumerate() {
            let earlier = keys.insert(text, place, |at| texts[at].as_str());
            assert_eq!(earlier, place.checked_sub(70), "{text}");
        }
    }
}
