//! Comparison of objects by content, whatever their notation.

use std::sync::Arc;

use foldhash::HashSet;

use crate::manifest::Object;
use crate::yaml::{Entry, Kind, NodeId, Value};

/// Maximum number of compared pairs of maps and lists, which aliases multiply. A larger value counts as different.
const MOST_PAIRS: usize = 1_000_000;

/// Whether both objects have the same fields with the same values, in whatever order, notation and style.
pub fn same_content(one: &Arc<Object>, other: &Arc<Object>) -> bool {
    Arc::ptr_eq(one, other) || same_value(one.value(), other.value())
}

/// Whether both values are the same for Kubernetes.
pub fn same_value(one: Value<'_>, other: Value<'_>) -> bool {
    let mut pending = vec![(one, other)];
    let mut seen: HashSet<(NodeId, NodeId)> = HashSet::default();
    while let Some((one, other)) = pending.pop() {
        let compound = one.is_map() || one.is_seq();
        if compound && !seen.insert((one.id(), other.id())) {
            continue;
        }
        if seen.len() > MOST_PAIRS {
            return false;
        }
        match (one.kind(), other.kind()) {
            (Kind::Map, Kind::Map) => {
                if one.entries().len() != other.entries().len() {
                    return false;
                }
                // Sorted only if the order differs; a lookup per key would be quadratic.
                let mut others: Vec<_> = other.entries().collect();
                let mut ones: Vec<_> = one.entries().collect();
                if !have_same_keys(&ones, &others) {
                    ones.sort_by_key(|entry| entry.key);
                    others.sort_by_key(|entry| entry.key);
                }
                if !have_same_keys(&ones, &others) {
                    return false;
                }
                let pairs = ones.iter().zip(&others);
                pending.extend(pairs.map(|(one, other)| (one.value, other.value)));
            }
            (Kind::Seq, Kind::Seq) => {
                if one.items().len() != other.items().len() {
                    return false;
                }
                pending.extend(one.items().zip(other.items()));
            }
            (one, other) if one != other => return false,
            _ => {}
        }
    }
    true
}

fn have_same_keys(ones: &[Entry<'_>], others: &[Entry<'_>]) -> bool {
    let keys = ones.iter().map(|entry| entry.key);
    keys.eq(others.iter().map(|entry| entry.key))
}
