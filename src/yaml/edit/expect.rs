//! Computes the expected value of a document after changes, and compares it with the actual one.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use super::change::{NewValue, Route, RouteStep, ValueChange};
use crate::yaml::tree::{Kind, NodeId, Tree, Value};

/// The changes of the members of a mapping or a list.
#[derive(Debug, Default)]
struct Changed {
    removed: BTreeSet<usize>,
    renamed: HashMap<usize, String>,
    replaced: HashMap<usize, NewValue>,
    added: Vec<(String, NewValue)>,
}

/// The expected value: an old tree with changes.
#[derive(Debug)]
pub(super) struct ExpectedTree<'a> {
    old: &'a Tree,
    changed: HashMap<NodeId, Changed>,
}

/// The expected value at one place.
#[derive(Clone, Copy)]
enum WantedValue<'e> {
    /// The value in the old tree, with its changes.
    Old(NodeId),
    /// A new value.
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
        };
        for change in changes {
            let (ValueChange::Remove(route)
            | ValueChange::Rename(route, _)
            | ValueChange::Set(route, _)
            | ValueChange::Append(route, _)) = change;
            let start = old.value(*maps.get(&route.start)?);
            match change {
                ValueChange::Remove(_) => {
                    let (parent, member) = expected.member(start, route)?;
                    expected.of(parent).removed.insert(member);
                }
                ValueChange::Rename(_, to) => {
                    let (parent, member) = expected.member(start, route)?;
                    expected.of(parent).renamed.insert(member, to.clone());
                }
                ValueChange::Set(_, value) => expected.set(start, route, value)?,
                ValueChange::Append(_, value) => {
                    let list = route.follow(start)?;
                    expected
                        .of(list.id())
                        .added
                        .push((String::new(), value.clone()));
                }
            }
        }
        expected.drop_emptied_lists();
        Some(expected)
    }

    fn of(&mut self, node: NodeId) -> &mut Changed {
        self.changed.entry(node).or_default()
    }

    /// Returns the collection before the last step, and the index of the member that the step leads to.
    fn member(&self, start: Value<'a>, route: &Route) -> Option<(NodeId, usize)> {
        let (last, way) = route.steps.split_last()?;
        let parent = way
            .iter()
            .try_fold(start, |at, step| Some(step.member_of(at)?.1))?;
        Some((parent.id(), last.member_of(parent)?.0))
    }

    fn set(&mut self, start: Value<'a>, route: &Route, value: &NewValue) -> Option<()> {
        let mut at = start;
        let mut above = None;
        for (depth, step) in route.steps.iter().enumerate() {
            if let Some((member, below)) = step.member_of(at) {
                above = Some((at.id(), member));
                at = below;
                continue;
            }
            let mut missing: Vec<_> = route.steps[depth..].iter().rev().cloned().collect();
            let first = missing.pop();
            let value = missing
                .into_iter()
                .try_fold(value.clone(), |value, step| match step {
                    RouteStep::Key(key) => Some(NewValue::Map(vec![(key.to_string(), value)])),
                    RouteStep::Item(_) => None,
                })?;
            let Some(RouteStep::Key(key)) = first else {
                return None;
            };
            match (at.kind(), above) {
                (Kind::Map, _) => self.of(at.id()).added.push((key.to_string(), value)),
                (Kind::Null, Some((parent, member))) => {
                    let value = NewValue::Map(vec![(key.to_string(), value)]);
                    self.of(parent).replaced.insert(member, value);
                }
                _ => return None,
            }
            return Some(());
        }
        let (parent, member) = above?;
        self.of(parent).replaced.insert(member, value.clone());
        Some(())
    }

    /// Removes the entries of mappings whose list loses its last item.
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
            self.of(map).removed.insert(member);
        }
    }

    /// Whether a tree has the expected value. Aliases share nodes, so each pair of nodes is compared once.
    pub(super) fn is(&self, new: &Tree) -> bool {
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
        let untouched = Changed::default();
        let changed = self.changed.get(&old.id());
        match (old.kind(), found.kind()) {
            (Kind::Map, Kind::Map) => {
                let (removed, renamed) = match changed {
                    Some(changed) => (&changed.removed, &changed.renamed),
                    None => (&untouched.removed, &untouched.renamed),
                };
                let kept = old
                    .entries()
                    .enumerate()
                    .filter(|(at, _)| !removed.contains(at));
                let kept = kept.map(|(at, entry)| {
                    let key = renamed.get(&at).map_or(entry.key, String::as_str);
                    (key, self.wanted(changed, at, entry.value.id()))
                });
                let added = changed.iter().flat_map(|changed| &changed.added);
                let wanted: Vec<(&str, WantedValue<'_>)> = kept
                    .chain(added.map(|(key, value)| (key.as_str(), WantedValue::New(value))))
                    .collect();
                let same_keys = wanted.len() == found.entries().len()
                    && wanted
                        .iter()
                        .zip(found.entries())
                        .all(|((key, _), entry)| *key == entry.key);
                if same_keys {
                    pending.extend(
                        wanted
                            .iter()
                            .zip(found.entries())
                            .map(|((_, wanted), entry)| (*wanted, entry.value)),
                    );
                }
                same_keys
            }
            (Kind::Seq, Kind::Seq) => {
                let kept = old.items().enumerate();
                let kept = kept
                    .filter(|(at, _)| !changed.is_some_and(|changed| changed.removed.contains(at)));
                let kept = kept.map(|(at, item)| self.wanted(changed, at, item.id()));
                let added = changed
                    .iter()
                    .flat_map(|changed| &changed.added)
                    .map(|(_, value)| WantedValue::New(value));
                let wanted: Vec<WantedValue<'_>> = kept.chain(added).collect();
                pending.extend(wanted.iter().copied().zip(found.items()));
                wanted.len() == found.items().len()
            }
            (Kind::Float(old), Kind::Float(found)) => old.to_bits() == found.to_bits(),
            (old, found) => old == found,
        }
    }

    fn wanted<'e>(
        &self,
        changed: Option<&'e Changed>,
        member: usize,
        old: NodeId,
    ) -> WantedValue<'e> {
        let replaced = changed.and_then(|changed| changed.replaced.get(&member));
        replaced.map_or(WantedValue::Old(old), WantedValue::New)
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
            pending.extend(items.iter().map(WantedValue::New).zip(found.items()));
            found.is_seq() && found.items().len() == items.len()
        }
        NewValue::Map(entries) => {
            let same_keys = entries
                .iter()
                .zip(found.entries())
                .all(|((key, _), entry)| key == entry.key);
            let values = entries.iter().zip(found.entries());
            pending
                .extend(values.map(|((_, value), entry)| (WantedValue::New(value), entry.value)));
            found.is_map() && same_keys && found.entries().len() == entries.len()
        }
    }
}
