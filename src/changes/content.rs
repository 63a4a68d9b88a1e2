//! Comparison of objects by content, in any notation.

use std::sync::Arc;

use foldhash::HashSet;

use crate::graph::node::Node;
use crate::manifest::Object;
use crate::yaml::{Entry, Kind, NodeId, Value};

/// Maximum number of compared maps and lists, with aliases. Larger values count as different.
const MAX_PAIRS: usize = 1_000_000;

/// Whether both objects have the same fields and values, in any order, notation and style.
pub fn same_content(one: &Arc<Object>, other: &Arc<Object>) -> bool {
    Arc::ptr_eq(one, other) || same_value(one.value(), other.value())
}

/// Whether both values are the same for Kubernetes.
pub fn same_value(one: Value<'_>, other: Value<'_>) -> bool {
    is_same(one, other, |_| true)
}

/// Whether both values are the same if a null field counts as omitted.
pub(super) fn same_but_for_nulls(one: Value<'_>, other: Value<'_>) -> bool {
    is_same(one, other, |entry| !entry.value.is_null())
}

/// Whether both values are the same, ignoring map entries for which `counts` is false.
fn is_same(one: Value<'_>, other: Value<'_>, counts: impl Fn(&Entry<'_>) -> bool) -> bool {
    let mut pending = vec![(one, other)];
    let mut seen: HashSet<(NodeId, NodeId)> = HashSet::default();
    while let Some((one, other)) = pending.pop() {
        let compound = one.is_map() || one.is_seq();
        if compound && !seen.insert((one.id(), other.id())) {
            continue;
        }
        if seen.len() > MAX_PAIRS {
            return false;
        }
        match (one.kind(), other.kind()) {
            (Kind::Map, Kind::Map) => {
                // Sorted only if the order differs; a lookup per key would be quadratic.
                let mut others: Vec<_> = other.entries().filter(&counts).collect();
                let mut ones: Vec<_> = one.entries().filter(&counts).collect();
                if ones.len() != others.len() {
                    return false;
                }
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

/// Whether both built values are the same for Kubernetes.
pub fn same_node(one: &Node, other: &Node) -> bool {
    let mut pending = vec![(one.clone(), other.clone())];
    let mut visits = 0;
    while let Some((one, other)) = pending.pop() {
        visits += 1;
        if visits > MAX_PAIRS {
            return false;
        }
        if one.address().is_some() && one.address() == other.address() {
            continue;
        }
        let is_same = match (&one, &other) {
            (Node::Written(here, was), Node::Written(there, is)) => {
                same_value(here.value(*was), there.value(*is))
            }
            _ if one.is_map() && other.is_map() => {
                let [mut ones, mut others] = [one.entries(), other.entries()];
                ones.sort_by(|(one, _), (other, _)| one.cmp(other));
                others.sort_by(|(one, _), (other, _)| one.cmp(other));
                let keys = ones.iter().map(|(key, _)| key);
                let is_same = keys.eq(others.iter().map(|(key, _)| key));
                let pairs = ones.into_iter().zip(others);
                pending.extend(pairs.map(|((_, one), (_, other))| (one, other)));
                is_same
            }
            _ if one.is_seq() && other.is_seq() => {
                let [ones, others] = [one.items(), other.items()];
                let is_same = ones.len() == others.len();
                pending.extend(ones.into_iter().zip(others));
                is_same
            }
            _ => one.to_json(0) == other.to_json(0),
        };
        if !is_same {
            return false;
        }
    }
    true
}

fn have_same_keys(ones: &[Entry<'_>], others: &[Entry<'_>]) -> bool {
    let keys = ones.iter().map(|entry| entry.key);
    keys.eq(others.iter().map(|entry| entry.key))
}
