//! Fast sorting by key.

use std::hash::Hash;

use foldhash::HashMap;

use super::ObjectKey;

/// A sort prefix of a key, which decides most comparisons without access to its strings, which are scattered in memory.
/// Kinds and namespaces are ranked once for all keys; names are compared only if their first bytes are equal.
struct Decider {
    kind: u32,
    namespace: u32,
    name: u64,
    at: usize,
}

/// Sorts by keys, in the order of [`ObjectKey`] itself.
pub fn sort_by_object_key<T>(mut items: Vec<T>, key_of: impl Fn(&T) -> &ObjectKey) -> Vec<T> {
    if items.is_sorted_by(|a, b| key_of(a) <= key_of(b)) {
        return items;
    }
    let keys = items.iter().map(&key_of);
    let kinds = ranks(keys.clone().map(|key| (key.group(), key.kind())));
    let namespaces = ranks(keys.clone().map(|key| &key.namespace));
    let deciders = keys.zip(kinds).zip(namespaces).enumerate();
    let mut order: Vec<Decider> = deciders
        .map(|(at, ((key, kind), namespace))| Decider {
            kind,
            namespace,
            name: first_eight(&key.name),
            at,
        })
        .collect();
    order.sort_unstable_by(|a, b| {
        let places = (a.kind, a.namespace, a.name).cmp(&(b.kind, b.namespace, b.name));
        // Stable: items with one key keep their order.
        places
            .then_with(|| key_of(&items[a.at]).name.cmp(&key_of(&items[b.at]).name))
            .then(a.at.cmp(&b.at))
    });
    arrange(
        &mut items,
        order.into_iter().map(|decider| decider.at).collect(),
    );
    items
}

/// Returns the rank of each value among the distinct values.
fn ranks<K: Ord + Hash + Copy>(values: impl Iterator<Item = K>) -> Vec<u32> {
    let mut numbers: HashMap<K, u32> = HashMap::default();
    let mut ranks: Vec<u32> = values
        .map(|value| {
            let new = numbers.len() as u32;
            *numbers.entry(value).or_insert(new)
        })
        .collect();
    let mut different: Vec<(K, u32)> = numbers.into_iter().collect();
    different.sort_unstable();
    let mut rank_of = vec![0; different.len()];
    for (rank, (_, number)) in (0..).zip(different) {
        rank_of[number as usize] = rank;
    }
    for rank in &mut ranks {
        *rank = rank_of[*rank as usize];
    }
    ranks
}

/// Permutes items in place, since they may be large. `origins` has the old index of each item.
fn arrange<T>(items: &mut [T], mut origins: Vec<usize>) {
    for start in 0..items.len() {
        // Follow one cycle of the permutation.
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut origins[at], at);
            if from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

/// Returns the first eight bytes as a number. The numbers have the order of the strings, unless these eight bytes are
/// equal.
fn first_eight(text: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = text.len().min(8);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::GroupKind;
    use super::*;

    #[test]
    fn sort_by_object_key_matches_key_order() {
        let texts = [
            "",
            "a",
            "b",
            "kubernetes-a",
            "kubernetes-b",
            "kubernetes",
            "a\0",
        ];
        let mut keys = Vec::new();
        for group in texts {
            for (at, name) in texts.iter().enumerate() {
                for namespace in ["", "?", "b", "kubernetes-b", "kubernetes-a"] {
                    keys.push(ObjectKey::new(
                        GroupKind::new(group, texts[6 - at]),
                        namespace.into(),
                        *name,
                    ));
                }
            }
        }
        let mut expected = keys.clone();
        expected.sort();
        assert_ne!(keys, expected);
        assert_eq!(sort_by_object_key(keys, |key| key), expected);
    }
}
