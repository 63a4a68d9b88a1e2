//! How much of an object another one repeats: enough, and one is the other under a new name.

use std::hash::{DefaultHasher, Hash, Hasher};

use foldhash::HashMap;

use crate::manifest::Object;
use crate::yaml::{Kind, Value, Visited};

/// Values of one object that are compared.
const MOST_VALUES: usize = 20_000;

/// The content of an object besides its name: each value with its path, as numbers, and how often.
#[derive(Debug)]
pub(super) struct Shape {
    values: HashMap<u64, usize>,
    count: usize,
}

impl Shape {
    /// The shape of an object. Values that every object of a kind repeats (version, kind) or that a renaming changes (name,
    /// namespace) is left out.
    pub(super) fn of(object: &Object) -> Self {
        let mut shape = Self {
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
            if shape.count >= MOST_VALUES {
                break;
            }
            if value.is_map() || value.is_seq() {
                if visited.is_new(value) {
                    let identity = |key| {
                        path == metadata && matches!(key, "name" | "namespace" | "generateName")
                    };
                    let entries = value.entries().filter(|entry| !identity(entry.key));
                    pending.extend(entries.map(|entry| (hash((path, entry.key)), entry.value)));
                    pending.extend(value.items().map(|item| (hash((path, "[]")), item)));
                }
                continue;
            }
            *shape.values.entry(hash((path, text(value)))).or_default() += 1;
            shape.count += 1;
        }
        shape
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The share of the values of both that are in both, from 0 to 1; 0 without any value.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
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
        Kind::String(text) => format!("\"{text}"),
        kind => format!("{kind:?}"),
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
