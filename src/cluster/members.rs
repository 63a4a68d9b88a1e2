//! Which objects in the input the cluster has: one per key, each with a uid of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::object::{Uids, minted_uid};
use super::source::{Assumptions, Source};
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;

pub(super) struct Members {
    /// The object chosen for each key.
    pub(super) chosen: BTreeMap<ObjectKey, ObjectId>,
    /// The key of an object in the input, or of the one chosen instead of it.
    pub(super) keys: BTreeMap<ObjectId, ObjectKey>,
    pub(super) uids: Uids,
}

impl Members {
    pub(super) fn choose(source: &Source<'_>, assumptions: &mut Assumptions) -> Self {
        let mut members = Self { chosen: BTreeMap::new(), keys: BTreeMap::new(), uids: Uids::new() };
        for member in source.inventory.members.iter().filter(|member| !source.absent.contains(&member.id)) {
            members.take(source, member, assumptions);
        }
        members.give_uids(source, assumptions);
        assumptions.duplicates.sort();
        assumptions.duplicates.dedup();
        members
    }

    fn take(&mut self, source: &Source<'_>, member: &Member, assumptions: &mut Assumptions) {
        let mut key = member.key.clone();
        if !member.decodes() || key.name.is_empty() {
            assumptions.rejected.push(key);
            return;
        }
        if is_generated(member) {
            key = self.next_generated(key);
        }
        if let Some(known) = self.chosen.get(&key).map(|id| source.inventory.member(*id)) {
            assumptions.duplicates.push(key.clone());
            // What a cluster contains counts more than what is to be applied; otherwise the last one is applied last.
            if known.from_dump && !member.from_dump {
                self.keys.insert(member.id, key);
                return;
            }
        }
        self.chosen.insert(key.clone(), member.id);
        self.keys.insert(member.id, key);
    }

    /// The server makes up a name for each: two of them are two objects.
    fn next_generated(&self, key: ObjectKey) -> ObjectKey {
        let numbered = |number: usize| match number {
            1 => key.clone(),
            _ => ObjectKey { name: format!("{}{number}", key.name), ..key.clone() },
        };
        (1..).map(numbered).find(|key| !self.chosen.contains_key(key)).unwrap_or(key)
    }

    /// The written uid, for the first object that has it; all others get a new one.
    fn give_uids(&mut self, source: &Source<'_>, assumptions: &mut Assumptions) {
        let mut order: Vec<(&ObjectId, &ObjectKey)> = self.chosen.iter().map(|(key, id)| (id, key)).collect();
        order.sort_unstable();
        let mut used = BTreeSet::new();
        for (id, key) in order {
            let written = source.inventory.member(*id).object.uid();
            let uid = match written {
                Some(uid) if used.insert(uid) => uid.to_owned(),
                Some(_) => {
                    assumptions.shared_uids.push(key.clone());
                    minted_uid(key)
                }
                None => minted_uid(key),
            };
            self.uids.insert(key.clone(), uid);
        }
    }
}

fn is_generated(member: &Member) -> bool {
    member.object.metadata.name.as_ref().is_none_or(|name| name.value.is_empty())
}
