//! Which objects in the input the cluster has: one per key, each with a uid of its own.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashSet};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use smol_str::{SmolStr, format_smolstr};

use super::object::{is_minted, numbered_uid};
use super::source::{Assumptions, Source};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ObjectKey, sort_by_object_key};

pub(super) struct Members<'a> {
    /// The objects that the cluster has, by their keys.
    chosen: HashTable<ObjectId>,
    hasher: RandomState,
    keys: Keys<'a>,
    /// The objects among them that have the uid of their manifest; the others have a new one.
    with_uid: HashSet<ObjectId>,
    /// How many objects of such a key there are so far.
    numbers: HashMap<&'a ObjectKey, usize>,
    /// Objects that the cluster does not have: left out, or rejected.
    missing: BTreeSet<ObjectId>,
}

/// The keys of objects.
struct Keys<'a> {
    inventory: &'a Inventory,
    /// Of those whose names the server makes up.
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
            chosen: HashTable::with_capacity(inventory.members.len()),
            hasher: RandomState::default(),
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

    /// The objects that the cluster has, in the order of their keys.
    pub(super) fn in_order(&self) -> Vec<(&ObjectKey, ObjectId)> {
        sort_by_object_key(
            self.chosen
                .iter()
                .map(|id| (self.keys.of(*id), *id))
                .collect(),
            |(key, _)| key,
        )
    }

    /// Whether the cluster has an object of the input under a key.
    pub(super) fn has(&self, key: &ObjectKey) -> bool {
        self.find(key).is_some()
    }

    /// The key of an object in the input, which may be that of the one chosen instead of it.
    pub(super) fn key_of(&self, id: ObjectId) -> Option<&ObjectKey> {
        (!self.missing.contains(&id)).then(|| self.keys.of(id))
    }

    /// The object that the cluster has under a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&'a Member> {
        self.find(key).map(|id| self.keys.inventory.member(id))
    }

    /// The uid of the object that the cluster has under a key.
    pub(super) fn uid(&self, key: &ObjectKey) -> Option<SmolStr> {
        self.find(key).map(|id| self.uid_of(id))
    }

    /// The uid of an object that the cluster has.
    pub(super) fn uid_of(&self, id: ObjectId) -> SmolStr {
        let written = self
            .with_uid
            .get(&id)
            .and_then(|id| self.keys.inventory.member(*id).object.uid());
        written.map_or_else(|| numbered_uid(id), SmolStr::from)
    }

    fn find(&self, key: &ObjectKey) -> Option<ObjectId> {
        self.chosen
            .find(self.hasher.hash_one(key), |id| self.keys.of(*id) == key)
            .copied()
    }

    fn take(&mut self, member: &'a Member, assumptions: &mut Assumptions) {
        if !member.decodes() || member.key.name.is_empty() {
            assumptions.rejected.push(member.key.clone());
            self.missing.insert(member.id);
            return;
        }
        if member.is_generated() {
            let generated = self.next_generated(&member.key);
            self.keys.generated.insert(member.id, generated);
        }
        let (keys, hasher) = (&self.keys, &self.hasher);
        let key = keys.of(member.id);
        match self.chosen.entry(
            hasher.hash_one(key),
            |id| keys.of(*id) == key,
            |id| hasher.hash_one(keys.of(*id)),
        ) {
            Entry::Vacant(place) => _ = place.insert(member.id),
            Entry::Occupied(mut place) => {
                // The content of a dump is the state of what is to be applied; otherwise the last one is applied last.
                let known = self.keys.inventory.member(*place.get());
                if member.from_dump == known.from_dump {
                    assumptions.duplicates.push(key.clone());
                }
                if member.from_dump || !known.from_dump {
                    *place.get_mut() = member.id;
                }
            }
        }
    }

    /// The server makes up a name for each: two of them are two objects.
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

    /// The first object that has a written uid keeps it.
    fn give_uids(&mut self, assumptions: &mut Assumptions) {
        let inventory = self.keys.inventory;
        let uid_of = |id: ObjectId| inventory.member(id).object.uid();
        let mut written: Vec<ObjectId> = self
            .chosen
            .iter()
            .copied()
            .filter(|id| uid_of(*id).is_some())
            .collect();
        written.sort_unstable();
        let mut used = HashSet::default();
        for id in written {
            let is_first = uid_of(id).is_some_and(|uid| !is_minted(uid) && used.insert(uid));
            if is_first {
                _ = self.with_uid.insert(id);
            } else {
                assumptions.shared_uids.push(self.keys.of(id).clone());
            }
        }
    }
}
