//! The order of many keys.

use std::cmp::Ordering;

use foldhash::HashMap;

use super::{Namespace, ObjectKey};

/// A text among others: which one it is, and how it begins.
#[derive(Clone, Copy)]
struct Beginning {
    number: u32,
    eight: u64,
}

/// What decides between two keys most of the time. Texts of many keys are far apart in memory, so they are looked at once, and
/// again only where two begin alike.
struct Decider {
    group: Beginning,
    kind: Beginning,
    namespace_rank: u8,
    namespace: Beginning,
    name: u64,
    at: usize,
}

/// Numbers texts; equal ones have one number.
#[derive(Default)]
struct Numbering<'a>(HashMap<&'a str, u32>);

impl<'a> Numbering<'a> {
    fn number(&mut self, text: &'a str) -> Beginning {
        let new = self.0.len() as u32;
        Beginning { number: *self.0.entry(text).or_insert(new), eight: first_eight(text) }
    }
}

impl Beginning {
    fn order(self, other: Self, texts: impl FnOnce() -> Ordering) -> Ordering {
        match self.number == other.number {
            true => Ordering::Equal,
            false => self.eight.cmp(&other.eight).then_with(texts),
        }
    }
}

/// Sorts by keys, in the order of [`ObjectKey`] itself.
pub fn sort_by_object_key<T>(mut items: Vec<T>, key_of: impl Fn(&T) -> &ObjectKey) -> Vec<T> {
    if items.is_sorted_by(|a, b| key_of(a) <= key_of(b)) {
        return items;
    }
    let mut numbering = Numbering::default();
    let deciders = items.iter().map(&key_of).enumerate().map(|(at, key)| Decider {
        group: numbering.number(&key.group),
        kind: numbering.number(&key.kind),
        namespace_rank: namespace_rank(&key.namespace),
        namespace: numbering.number(key.namespace.name().unwrap_or_default()),
        name: first_eight(&key.name),
        at,
    });
    let mut order: Vec<Decider> = deciders.collect();
    let key_at = |at: usize| key_of(&items[at]);
    order.sort_by(|a, b| {
        let (one, other) = (|| key_at(a.at), || key_at(b.at));
        let group = a.group.order(b.group, || one().group.cmp(&other().group));
        group
            .then_with(|| a.kind.order(b.kind, || one().kind.cmp(&other().kind)))
            .then(a.namespace_rank.cmp(&b.namespace_rank))
            .then_with(|| a.namespace.order(b.namespace, || one().namespace.cmp(&other().namespace)))
            .then(a.name.cmp(&b.name))
            .then_with(|| one().name.cmp(&other().name))
    });
    arrange(&mut items, order.into_iter().map(|decider| decider.at).collect());
    items
}

/// Puts items into an order: where each one comes from. In place, for they may be large.
fn arrange<T>(items: &mut [T], mut origins: Vec<usize>) {
    for start in 0..items.len() {
        // Around the circle of places that pass an item on to each other.
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

fn namespace_rank(namespace: &Namespace) -> u8 {
    match namespace {
        Namespace::None => 0,
        Namespace::Unwritten => 1,
        Namespace::Named(_) => 2,
    }
}

/// The first eight bytes, so that their order as a number is that of the texts, as far as they differ there.
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
    fn the_order_is_that_of_the_keys() {
        let texts = ["", "a", "b", "kubernetes-a", "kubernetes-b", "kubernetes", "a\0"];
        let mut keys = Vec::new();
        for group in texts {
            for (at, name) in texts.iter().enumerate() {
                for namespace in ["", "?", "b", "kubernetes-b", "kubernetes-a"] {
                    keys.push(ObjectKey::new(GroupKind::new(group, texts[6 - at]), namespace.into(), *name));
                }
            }
        }
        let mut expected = keys.clone();
        expected.sort();
        assert_ne!(keys, expected);
        assert_eq!(sort_by_object_key(keys, |key| key), expected);
    }
}
