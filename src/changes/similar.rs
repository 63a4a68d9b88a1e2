//! The likeness of two objects, by which renamed objects are recognised.

use std::hash::{DefaultHasher, Hash, Hasher};

use foldhash::HashMap;

use crate::manifest::Object;
use crate::yaml::{Kind, Value, Visited};

/// Maximum number of compared values of one object.
const MAX_VALUES: usize = 20_000;

/// The content of an object without its name: hashes of the values with their paths, and their counts.
#[derive(Debug)]
pub(super) struct ValueHashes {
    values: HashMap<u64, usize>,
    count: usize,
}

impl ValueHashes {
    /// Computes the hashes of an object. Values that all objects of a kind share (version, kind) or that a renaming
    /// changes (name, namespace) are left out.
    pub(super) fn new(object: &Object) -> Self {
        let mut hashes = Self {
            values: HashMap::default(),
            count: 0,
        };
        let mut visited = Visited::default();
        let outer = object
            .value()
            .entries()
            .filter(|entry| !matches!(entry.key, "apiVersion" | "kind"));
        let mut pending: Vec<(u64, Value<'_>)> = outer
            .map(|entry| (hash((0u64, entry.key)), entry.value))
            .collect();
        let metadata = hash((0u64, "metadata"));
        while let Some((path, value)) = pending.pop() {
            if hashes.count >= MAX_VALUES {
                break;
            }
            if value.is_map() || value.is_seq() {
                if visited.is_new(value) {
                    let entries = value.entries().filter(|entry| {
                        path != metadata
                            || !matches!(entry.key, "name" | "namespace" | "generateName")
                    });
                    pending.extend(entries.map(|entry| (hash((path, entry.key)), entry.value)));
                    pending.extend(value.items().map(|item| (hash((path, "[]")), item)));
                }
                continue;
            }
            *hashes.values.entry(hash((path, text(value)))).or_default() += 1;
            hashes.count += 1;
        }
        hashes
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns the Jaccard index of the values of both, from 0 to 1; 0 if neither has a value.
    pub(super) fn similarity(&self, other: &Self) -> f64 {
        let shared = self
            .values
            .iter()
            .map(|(value, count)| other.values.get(value).map_or(0, |there| *there.min(count)));
        let shared: usize = shared.sum();
        let all = self.count + other.count - shared;
        if all == 0 {
            0.0
        } else {
            shared as f64 / all as f64
        }
    }
}

fn text(value: Value<'_>) -> String {
    match value.kind() {
        // The quote distinguishes the text `1` from the number.
        Kind::String(text) => format!("\"{text}"),
        kind => format!("{kind:?}"),
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
