//! Chooses the objects of the input that are in the cluster: one per key, each with its own uid.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashSet};
use smol_str::{SmolStr, format_smolstr};

use super::object::{is_minted, numbered_uid};
use super::source::{Assumptions, Source};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::ObjectKey;

pub(super) struct Members<'a> {
    /// The chosen objects, by key.
    chosen: HashMap<ObjectKey, ObjectId>,
    keys: Keys<'a>,
    /// The chosen objects that have the uid of their manifest; the others have a minted one.
    with_uid: HashSet<ObjectId>,
    /// For each key with a generated name, the number of objects so far.
    numbers: HashMap<&'a ObjectKey, usize>,
    /// Objects that are not in the cluster: excluded by the caller, or rejected.
    missing: BTreeSet<ObjectId>,
}

/// The keys of objects in the cluster.
struct Keys<'a> {
    inventory: &'a Inventory,
    /// Keys of the objects whose names the API server generates.
    generated: HashMap<ObjectId, ObjectKey>,
}

impl Keys<'_> {
    fn of(&self, id: ObjectId) -> &ObjectKey {
        self.generated
            .get(&id)
            .unwrap_or_else(|| &self.inventory.member(id).key)
    }
}

impl<'a> Members<'a> {
    pub(super) fn choose(source: &Source<'a>, assumptions: &mut Assumptions) -> Self {
        let inventory = source.inventory;
        let mut members = Self {
            chosen: HashMap::default(),
            keys: Keys {
                inventory,
                generated: HashMap::default(),
            },
            with_uid: HashSet::default(),
            numbers: HashMap::default(),
            missing: source.absent.clone(),
        };
        for member in inventory
            .members
            .iter()
            .filter(|member| !source.absent.contains(&member.id))
        {
            members.take(member, assumptions);
        }
        members.give_uids(assumptions);
        assumptions.duplicates.sort();
        assumptions.duplicates.dedup();
        members
    }

    /// Returns the chosen objects, in the order of their keys.
    pub(super) fn in_order(&self) -> Vec<(&ObjectKey, ObjectId)> {
        let mut chosen: Vec<_> = self.chosen.iter().map(|(key, id)| (key, *id)).collect();
        chosen.sort_unstable();
        chosen
    }

    /// Whether an object of the input was chosen for a key.
    pub(super) fn has(&self, key: &ObjectKey) -> bool {
        self.find(key).is_some()
    }

    /// Returns the key of an object, even if another object was chosen for that key; `None` if the object is `missing`.
    pub(super) fn key_of(&self, id: ObjectId) -> Option<&ObjectKey> {
        (!self.missing.contains(&id)).then(|| self.keys.of(id))
    }

    /// Returns the object that was chosen for a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&'a Member> {
        self.find(key).map(|id| self.keys.inventory.member(id))
    }

    /// Returns the uid of the object that was chosen for a key.
    pub(super) fn uid(&self, key: &ObjectKey) -> Option<SmolStr> {
        self.find(key).map(|id| self.uid_of(id))
    }

    pub(super) fn uid_of(&self, id: ObjectId) -> SmolStr {
        let written = self
            .with_uid
            .get(&id)
            .and_then(|id| self.keys.inventory.member(*id).object.uid());
        written.map_or_else(|| numbered_uid(id), SmolStr::from)
    }

    fn find(&self, key: &ObjectKey) -> Option<ObjectId> {
        self.chosen.get(key).copied()
    }

    fn take(&mut self, member: &'a Member, assumptions: &mut Assumptions) {
        if !member.decodes() || member.key.name.is_empty() {
            assumptions.rejected.push(member.key.clone());
            self.missing.insert(member.id);
            return;
        }
        if member.is_generated {
            let generated = self.next_generated(&member.key);
            self.keys.generated.insert(member.id, generated);
        }
        match self.chosen.entry(self.keys.of(member.id).clone()) {
            Entry::Vacant(place) => _ = place.insert(member.id),
            Entry::Occupied(mut place) => {
                // A dump wins, as the live state; otherwise the last one, which is applied last.
                let known = self.keys.inventory.member(*place.get());
                if member.from_dump == known.from_dump {
                    assumptions.duplicates.push(place.key().clone());
                }
                if member.from_dump || !known.from_dump {
                    *place.get_mut() = member.id;
                }
            }
        }
    }

    /// Returns a new key for a generated name: two objects with one `generateName` are different objects.
    fn next_generated(&mut self, key: &'a ObjectKey) -> ObjectKey {
        loop {
            let last = self.numbers.entry(key).or_default();
            *last += 1;
            let numbered = match *last {
                1 => key.clone(),
                number => key.named(format_smolstr!("{}{number}", key.name)),
            };
            if !self.has(&numbered) {
                return numbered;
            }
        }
    }

    /// Assigns each written uid to the first object that has it.
    fn give_uids(&mut self, assumptions: &mut Assumptions) {
        let inventory = self.keys.inventory;
        let mut written: Vec<(ObjectId, &str)> = self
            .chosen
            .values()
            .filter_map(|id| Some((*id, inventory.member(*id).object.uid()?)))
            .collect();
        written.sort_unstable();
        let mut used = HashSet::default();
        for (id, uid) in written {
            if !is_minted(uid) && used.insert(uid) {
                _ = self.with_uid.insert(id);
            } else {
                assumptions.shared_uids.push(self.keys.of(id).clone());
            }
        }
    }
}
