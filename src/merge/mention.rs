//! Mentions of objects in arbitrary fields: not all fields of custom resources are known, and the values of a
//! HelmRelease have no schema.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use crate::changes::TreePart;
use crate::inventory::Member;
use crate::kube::{Namespace, ObjectKey};
use crate::yaml::{NodeId, Value};

/// Maximum number of mappings and sequences of one object that are searched.
const MAX_VALUES: usize = 100_000;

/// The objects that mention a name, by their namespace and the name.
#[derive(Debug, Default)]
pub(super) struct PassingMentions<'a>(HashMap<(&'a Namespace, &'a str), Vec<&'a ObjectKey>>);

impl<'a> PassingMentions<'a> {
    /// Finds the applied objects of a tree that contain one of `names` outside of their own metadata.
    pub(super) fn of(tree: &'a TreePart, names: &BTreeSet<&str>) -> Self {
        let mut found = Self::default();
        for member in tree
            .inventory
            .members
            .iter()
            .filter(|member| tree.applies(member))
        {
            for name in mentioned(member, names) {
                found
                    .0
                    .entry((&member.key.namespace, name))
                    .or_default()
                    .push(&member.key);
            }
        }
        found
    }

    /// Returns whether an object in the namespace of `key` contains the name in `key`. The `makers` do not count: their
    /// deletion deletes the object of `key`, and they usually contain its name.
    pub(super) fn contain(&self, key: &ObjectKey, makers: &[ObjectKey]) -> bool {
        let by = self.0.get(&(&key.namespace, key.name.as_str()));
        by.is_some_and(|by| by.iter().any(|user| !makers.contains(user)))
    }
}

/// Returns the `names` that an object contains outside of its metadata.
fn mentioned<'a>(member: &'a Member, names: &BTreeSet<&str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut seen: HashSet<NodeId> = HashSet::default();
    let outer = member
        .object
        .value()
        .entries()
        .filter(|entry| entry.key != "metadata");
    let mut pending: Vec<Value<'a>> = outer.map(|entry| entry.value).collect();
    while let Some(value) = pending.pop() {
        found.extend(value.as_str().filter(|text| names.contains(text)));
        let compound = value.is_map() || value.is_seq();
        if compound && seen.len() < MAX_VALUES && seen.insert(value.id()) {
            pending.extend(
                value
                    .entries()
                    .map(|entry| entry.value)
                    .chain(value.items()),
            );
        }
    }
    found
}
