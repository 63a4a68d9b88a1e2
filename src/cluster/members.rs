//! Which objects in the input the cluster has: one per key, each with a uid of its own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashMapExt, HashSet};
use smol_str::format_smolstr;

use super::object::minted_uid;
use super::source::{Assumptions, Source};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ObjectKey, sort_by_object_key};

/// An object that the cluster has.
pub(super) struct ChosenMember {
    /// Which one of the input it is.
    pub(super) id: ObjectId,
    /// That of its manifest, or a new one.
    pub(super) uid: String,
}

pub(super) struct Members<'a> {
    inventory: &'a Inventory,
    chosen: HashMap<Cow<'a, ObjectKey>, ChosenMember>,
    /// The keys of objects whose names the server makes up.
    generated: HashMap<ObjectId, ObjectKey>,
    /// How many objects of such a key there are so far.
    numbers: HashMap<&'a ObjectKey, usize>,
    /// Objects that the cluster does not have: left out, or rejected.
    missing: BTreeSet<ObjectId>,
}

impl<'a> Members<'a> {
    pub(super) fn choose(source: &Source<'a>, assumptions: &mut Assumptions) -> Self {
        let inventory = source.inventory;
        let missing = source.absent.clone();
        let (generated, numbers) = Default::default();
        let chosen = HashMap::with_capacity(inventory.members.len());
        let mut members = Self { inventory, chosen, generated, numbers, missing };
        for member in inventory.members.iter().filter(|member| !source.absent.contains(&member.id)) {
            members.take(member, assumptions);
        }
        members.give_uids(assumptions);
        assumptions.duplicates.sort();
        assumptions.duplicates.dedup();
        members
    }

    /// The objects that the cluster has, in the order of their keys.
    pub(super) fn in_order(&self) -> Vec<(&ObjectKey, &ChosenMember)> {
        sort_by_object_key(self.chosen.iter().map(|(key, chosen)| (&**key, chosen)).collect(), |(key, _)| key)
    }

    /// Whether the cluster has an object of the input under a key.
    pub(super) fn has(&self, key: &ObjectKey) -> bool {
        self.chosen.contains_key(key)
    }

    /// The key of an object in the input, which may be that of the one chosen instead of it.
    pub(super) fn key_of(&self, id: ObjectId) -> Option<&ObjectKey> {
        if self.missing.contains(&id) {
            return None;
        }
        Some(self.generated.get(&id).unwrap_or_else(|| &self.inventory.member(id).key))
    }

    /// The object that the cluster has under a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&'a Member> {
        self.chosen.get(key).map(|chosen| self.inventory.member(chosen.id))
    }

    /// The uid of the object that the cluster has under a key.
    pub(super) fn uid(&self, key: &ObjectKey) -> Option<&str> {
        self.chosen.get(key).map(|chosen| chosen.uid.as_str())
    }

    fn take(&mut self, member: &'a Member, assumptions: &mut Assumptions) {
        let mut key = Cow::Borrowed(&member.key);
        if !member.decodes() || key.name.is_empty() {
            assumptions.rejected.push(member.key.clone());
            self.missing.insert(member.id);
            return;
        }
        if member.is_generated() {
            let generated = self.next_generated(&member.key);
            self.generated.insert(member.id, generated.clone());
            key = Cow::Owned(generated);
        }
        match self.chosen.entry(key) {
            Entry::Vacant(place) => _ = place.insert(ChosenMember { id: member.id, uid: String::new() }),
            Entry::Occupied(mut place) => {
                assumptions.duplicates.push(place.key().clone().into_owned());
                // What a cluster contains counts more than what is to be applied; otherwise the last one is applied last.
                if member.from_dump || !self.inventory.member(place.get().id).from_dump {
                    place.get_mut().id = member.id;
                }
            }
        }
    }

    /// The server makes up a name for each: two of them are two objects.
    fn next_generated(&mut self, key: &'a ObjectKey) -> ObjectKey {
        let last = self.numbers.entry(key).or_default();
        loop {
            *last += 1;
            let numbered = match *last {
                1 => key.clone(),
                number => ObjectKey { name: format_smolstr!("{}{number}", key.name), ..key.clone() },
            };
            if !self.chosen.contains_key(&numbered) {
                return numbered;
            }
        }
    }

    /// The written uid, for the first object that has it; all others get a new one.
    fn give_uids(&mut self, assumptions: &mut Assumptions) {
        let inventory = self.inventory;
        let mut order: Vec<(&Cow<'_, ObjectKey>, &mut ChosenMember)> = self.chosen.iter_mut().collect();
        order.sort_unstable_by_key(|(_, chosen)| chosen.id);
        let mut used = HashSet::default();
        for (key, chosen) in order {
            chosen.uid = match inventory.member(chosen.id).object.uid() {
                Some(uid) if used.insert(uid) => uid.to_owned(),
                Some(_) => {
                    assumptions.shared_uids.push(key.clone().into_owned());
                    minted_uid(key)
                }
                None => minted_uid(key),
            };
        }
    }
}
