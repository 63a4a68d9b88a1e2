//! Computes the expected value of a document after changes, and compares it with the actual one.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use super::change::{NewValue, Route, RouteStep, ValueChange, follow};
use crate::tree::{Kind, NodeId, Tree, Value};

/// The changes to the members of a mapping or a list, by their indices.
#[derive(Debug, Default)]
struct Changed {
    removed: BTreeSet<usize>,
    renamed: HashMap<usize, String>,
    replaced: HashMap<usize, NewValue>,
    /// With their keys, which are empty in a list.
    added: Vec<(String, NewValue)>,
}

/// The expected value: an old tree with changes.
#[derive(Debug)]
pub(super) struct ExpectedTree<'a> {
    old: &'a Tree,
    changed: HashMap<NodeId, Changed>,
    /// Empty: the changes to all other nodes.
    untouched: Changed,
}

/// The expected value at one place.
#[derive(Clone, Copy)]
enum WantedValue<'e> {
    /// The value in the old tree, with its changes.
    Old(NodeId),
    New(&'e NewValue),
}

impl<'a> ExpectedTree<'a> {
    /// Applies the changes; `None` if one is impossible. `maps` contains the mappings of the tree by their offsets.
    pub(super) fn new<'c>(
        old: &'a Tree,
        maps: &HashMap<u32, NodeId>,
        changes: impl IntoIterator<Item = &'c ValueChange>,
    ) -> Option<Self> {
        let mut expected = Self {
            old,
            changed: HashMap::default(),
            untouched: Changed::default(),
        };
        for change in changes {
            let route = change.route();
            let start = old.value(*maps.get(&route.start)?);
            match change {
                ValueChange::Remove(_) => {
                    let (parent, member) = expected.member(start, route)?;
                    expected.changes_of(parent).removed.insert(member);
                }
                ValueChange::Rename(_, to) => {
                    let (parent, member) = expected.member(start, route)?;
                    expected
                        .changes_of(parent)
                        .renamed
                        .insert(member, to.clone());
                }
                ValueChange::Set(_, value) => expected.set(start, route, value)?,
                ValueChange::Append(_, value) => {
                    let list = expected.changes_of(route.follow(start)?.id());
                    list.added.push((String::new(), value.clone()));
                }
            }
        }
        expected.drop_emptied_lists();
        Some(expected)
    }

    fn changes_of(&mut self, node: NodeId) -> &mut Changed {
        self.changed.entry(node).or_default()
    }

    /// Returns the collection before the last step, and the index of the member that the step leads to.
    fn member(&self, start: Value<'a>, route: &Route) -> Option<(NodeId, usize)> {
        let (last, way) = route.steps.split_last()?;
        let parent = follow(start, way)?;
        Some((parent.id(), last.member_of(parent)?.0))
    }

    /// Replaces the value at a place, or adds the missing entries on the way to it; `None` below a scalar.
    fn set(&mut self, start: Value<'a>, route: &Route, value: &NewValue) -> Option<()> {
        let mut at = start;
        let mut above = None;
        for (depth, step) in route.steps.iter().enumerate() {
            if let Some((member, below)) = step.member_of(at) {
                above = Some((at.id(), member));
                at = below;
                continue;
            }
            let RouteStep::Key(key) = step else {
                return None;
            };
            let entry = (
                key.to_string(),
                value.below(route.steps[depth + 1..].iter())?,
            );
            match (at.kind(), above) {
                (Kind::Map, _) => self.changes_of(at.id()).added.push(entry),
                (Kind::Null, Some((parent, member))) => {
                    let map = NewValue::Map(vec![entry]);
                    self.changes_of(parent).replaced.insert(member, map);
                }
                _ => return None,
            }
            return Some(());
        }
        let (parent, member) = above?;
        self.changes_of(parent)
            .replaced
            .insert(member, value.clone());
        Some(())
    }

    /// Removes the entries of mappings whose list loses all its items.
    fn drop_emptied_lists(&mut self) {
        let emptied = self.changed.iter().filter(|(node, changed)| {
            let list = self.old.value(**node);
            list.is_seq() && changed.removed.len() == list.items().len() && changed.added.is_empty()
        });
        let emptied: HashSet<NodeId> = emptied.map(|(node, _)| *node).collect();
        if emptied.is_empty() {
            return;
        }
        let holding: Vec<(NodeId, usize)> = self
            .old
            .values()
            .flat_map(|map| {
                let entries = map.entries().enumerate();
                entries
                    .filter(|(_, entry)| emptied.contains(&entry.value.id()))
                    .map(move |(at, _)| (map.id(), at))
            })
            .collect();
        for (map, member) in holding {
            self.changes_of(map).removed.insert(member);
        }
    }

    /// Whether a tree has the expected value. Pairs of nodes that were compared are skipped, because
    /// aliases share nodes.
    pub(super) fn is_value_of(&self, new: &Tree) -> bool {
        let mut compared = HashSet::default();
        let mut pending = vec![(WantedValue::Old(self.old.root().id()), new.root())];
        while let Some((wanted, found)) = pending.pop() {
            let equal = match wanted {
                WantedValue::Old(old) if !compared.insert((old, found.id())) => true,
                WantedValue::Old(old) => self.same(old, found, &mut pending),
                WantedValue::New(value) => same_as_new(value, found, &mut pending),
            };
            if !equal {
                return false;
            }
        }
        true
    }

    fn same<'e>(
        &'e self,
        old: NodeId,
        found: Value<'e>,
        pending: &mut Vec<(WantedValue<'e>, Value<'e>)>,
    ) -> bool {
        let old = self.old.value(old);
        let changed = self.changed.get(&old.id()).unwrap_or(&self.untouched);
        let added = changed
            .added
            .iter()
            .map(|(key, value)| (key.as_str(), WantedValue::New(value)));
        match (old.kind(), found.kind()) {
            (Kind::Map, Kind::Map) => {
                let kept = old.entries().enumerate().filter_map(|(at, entry)| {
                    let key = changed.renamed.get(&at).map_or(entry.key, String::as_str);
                    Some((key, changed.expected(at, entry.value)?))
                });
                same_entries(kept.chain(added).collect(), found, pending)
            }
            (Kind::Seq, Kind::Seq) => {
                let kept = old.items().enumerate();
                let kept = kept.filter_map(|(at, item)| changed.expected(at, item));
                let added = added.map(|(_, value)| value);
                same_items(kept.chain(added).collect(), found, pending)
            }
            (Kind::Float(old), Kind::Float(found)) => old.to_bits() == found.to_bits(),
            (old, found) => old == found,
        }
    }
}

impl Changed {
    /// Returns the expected value of a member; `None` if it is removed.
    fn expected(&self, member: usize, old: Value<'_>) -> Option<WantedValue<'_>> {
        if self.removed.contains(&member) {
            return None;
        }
        let replaced = self.replaced.get(&member);
        Some(replaced.map_or(WantedValue::Old(old.id()), WantedValue::New))
    }
}

fn same_as_new<'e>(
    wanted: &'e NewValue,
    found: Value<'e>,
    pending: &mut Vec<(WantedValue<'e>, Value<'e>)>,
) -> bool {
    match wanted {
        NewValue::Text(text) => found.as_str() == Some(text),
        NewValue::List(items) => {
            let items = items.iter().map(WantedValue::New);
            found.is_seq() && same_items(items.collect(), found, pending)
        }
        NewValue::Map(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (key.as_str(), WantedValue::New(value)));
            found.is_map() && same_entries(entries.collect(), found, pending)
        }
    }
}

/// Whether a mapping has the wanted keys; its values are still to be compared.
fn same_entries<'e>(
    wanted: Vec<(&str, WantedValue<'e>)>,
    found: Value<'e>,
    pending: &mut Vec<(WantedValue<'e>, Value<'e>)>,
) -> bool {
    let same_keys = wanted.len() == found.entries().len()
        && wanted
            .iter()
            .zip(found.entries())
            .all(|((key, _), entry)| *key == entry.key);
    if same_keys {
        let values = wanted.into_iter().map(|(_, value)| value);
        pending.extend(values.zip(found.entries().map(|entry| entry.value)));
    }
    same_keys
}

/// Whether a list has the wanted length; its items are still to be compared.
fn same_items<'e>(
    wanted: Vec<WantedValue<'e>>,
    found: Value<'e>,
    pending: &mut Vec<(WantedValue<'e>, Value<'e>)>,
) -> bool {
    let same_length = wanted.len() == found.items().len();
    pending.extend(wanted.into_iter().zip(found.items()));
    same_length
}
