//! Owner references as the collector will see them.

use std::collections::BTreeMap;

use super::members::Members;
use super::{Assumptions, Source, Uids, minted_uid, object};
use crate::gc::kinds::{Kinds, split_api_version};
use crate::gc::object::{Key, Object, OwnerReference};
use crate::inventory::{Member, ObjectId};
use crate::manifest;
use crate::ownership::{ImpliedObject, Owner, OwnerEdge};

/// What a manifest has in place of the uid that binds, by holder and entry.
type WrittenUids = BTreeMap<(Key, usize), String>;

pub(super) struct References<'a> {
    source: &'a Source<'a>,
    kinds: &'a Kinds,
    members: &'a Members,
    /// Owners that were made up, by key.
    assumed: BTreeMap<Key, Object>,
    written_uids: WrittenUids,
    /// Of implied objects.
    minted: Uids,
}

impl<'a> References<'a> {
    pub(super) fn new(source: &'a Source<'a>, kinds: &'a Kinds, members: &'a Members) -> Self {
        let implied = source.implied.objects.iter().map(|implied| Key::from(&implied.key));
        Self {
            source,
            kinds,
            members,
            assumed: BTreeMap::new(),
            written_uids: BTreeMap::new(),
            minted: implied.map(|key| (key.clone(), minted_uid(&key))).collect(),
        }
    }

    /// What was made up: owners, and uids in place of others.
    pub(super) fn finish(self) -> (BTreeMap<Key, Object>, WrittenUids) {
        (self.assumed, self.written_uids)
    }

    /// The references of an object of the input.
    pub(super) fn of_member(&mut self, key: &Key, id: ObjectId, assumptions: &mut Assumptions) -> Vec<OwnerReference> {
        let member = self.source.inventory.member(id);
        let entries = &member.object.metadata.owner_references.entries;
        let mut references = Vec::with_capacity(entries.len());
        for edge in self.edges(id) {
            let entry = &entries[edge.entry];
            if member.from_dump {
                self.note_absent(key, member, edge, entry, assumptions);
                references.push(copied(entry));
                continue;
            }
            // [VAL-14]: the server drops repetitions.
            if entries[..edge.entry].iter().any(|earlier| earlier.repeats(entry)) {
                continue;
            }
            let uid = self.uid_for(key, edge, entry, assumptions);
            references.push(self.bind(key, references.len(), entry, uid));
        }
        references
    }

    /// The written edges of one object; they stand in the order of their dependents.
    fn edges(&self, id: ObjectId) -> &'a [OwnerEdge] {
        let edges = &self.source.ownership.written;
        let start = edges.partition_point(|edge| edge.dependent < id);
        let end = edges.partition_point(|edge| edge.dependent <= id);
        &edges[start..end]
    }

    /// The uid of the owner that a rendered reference means, where it is not the one that is written.
    fn uid_for(
        &mut self,
        holder: &Key,
        edge: &OwnerEdge,
        entry: &manifest::OwnerReference,
        assumptions: &mut Assumptions,
    ) -> Option<String> {
        let owner = edge.bound().and_then(|id| self.members.keys.get(&id));
        match (&edge.owner, owner) {
            (Owner::ByUid(_), Some(owner)) => return self.members.uids.get(owner).cloned(),
            // [SIM-6]: never across namespaces, not even one that only may differ.
            (Owner::ByName(_), Some(owner)) if self.implied_key(holder, entry).is_none_or(|key| key == *owner) => {
                assumptions.bound_by_name += 1;
                return self.members.uids.get(owner).cloned();
            }
            _ => {}
        }
        self.assume(holder, entry, assumptions)
    }

    /// Assumes that the owner exists where the reference looks for it. Nothing is assumed of a kind that does not
    /// resolve, or that the holder's scope rules out: the collector keeps such a dependent anyway `[GC-16]`, `[GC-20]`.
    fn assume(
        &mut self,
        holder: &Key,
        entry: &manifest::OwnerReference,
        assumptions: &mut Assumptions,
    ) -> Option<String> {
        let owner = self.implied_key(holder, entry)?;
        if let Some(uid) = self.members.uids.get(&owner).or_else(|| self.minted.get(&owner)) {
            assumptions.bound_by_name += 1;
            return Some(uid.clone());
        }
        assumptions.assumed_owners.push((holder.clone(), owner.clone()));
        let assumed = self.assumed.entry(owner).or_insert_with_key(|owner| object(owner, minted_uid(owner)));
        Some(assumed.uid.clone())
    }

    /// Where the collector looks for the owner `[GC-15]`.
    fn implied_key(&self, holder: &Key, entry: &manifest::OwnerReference) -> Option<Key> {
        let info = self.kinds.get(self.kinds.resolve(entry.api_version(), entry.kind())?);
        let namespace = if info.namespaced { holder.namespace.clone() } else { String::new() };
        if info.namespaced && namespace.is_empty() {
            return None;
        }
        let (group, _) = split_api_version(entry.api_version())?;
        Some(Key { group: group.to_owned(), kind: info.kind.clone(), namespace, name: entry.name().to_owned() })
    }

    fn bind(
        &mut self,
        holder: &Key,
        position: usize,
        entry: &manifest::OwnerReference,
        uid: Option<String>,
    ) -> OwnerReference {
        let reference = copied(entry);
        match uid {
            Some(uid) if uid != reference.uid => {
                self.written_uids.insert((holder.clone(), position), reference.uid.clone());
                OwnerReference { uid, ..reference }
            }
            _ => reference,
        }
    }

    /// A dump is the whole cluster. Only its namespaces need no object: something lives in them.
    fn note_absent(
        &mut self,
        holder: &Key,
        member: &Member,
        edge: &OwnerEdge,
        entry: &manifest::OwnerReference,
        assumptions: &mut Assumptions,
    ) {
        if edge.bound().is_some() {
            return;
        }
        let Some(owner) = self.implied_key(holder, entry) else { return };
        if self.members.uids.contains_key(&owner) {
            return;
        }
        let is_home =
            owner.kind == "Namespace" && owner.group.is_empty() && member.key.namespace.name() == Some(&owner.name);
        if is_home && !entry.uid().is_empty() {
            self.assumed.entry(owner).or_insert_with_key(|owner| object(owner, entry.uid().to_owned()));
        } else {
            assumptions.absent_owners.push((holder.clone(), owner));
        }
    }

    /// The references of an implied object.
    pub(super) fn of_implied(
        &mut self,
        key: &Key,
        implied: &ImpliedObject<'_>,
        assumptions: &mut Assumptions,
    ) -> Vec<OwnerReference> {
        let mut references = Vec::new();
        for entry in &implied.copied_references {
            let uid = self.assume(key, entry, assumptions);
            references.push(self.bind(key, references.len(), entry, uid));
        }
        let Some(reference) = implied.reference else { return references };
        let owner = Key::from(&implied.owner);
        let uid = self.members.uids.get(&owner).or_else(|| self.minted.get(&owner));
        let Some(uid) = uid.cloned() else { return references };
        self.written_uids.insert((key.clone(), references.len()), String::new());
        references.push(OwnerReference {
            api_version: reference.api_version.to_owned(),
            kind: owner.kind,
            name: owner.name,
            uid,
            controller: reference.controller,
            block_owner_deletion: reference.block_owner_deletion,
        });
        references
    }

    /// The Namespace object of a namespace in use, unless the input has it. References may have assumed it already.
    pub(super) fn namespace(&mut self, name: &str) -> Option<Object> {
        let key = Key { group: String::new(), kind: "Namespace".into(), namespace: String::new(), name: name.into() };
        if self.members.uids.contains_key(&key) {
            return None;
        }
        let assumed = self.assumed.remove(&key);
        Some(assumed.unwrap_or_else(|| object(&key, minted_uid(&key))))
    }
}

/// A reference as it is written.
fn copied(entry: &manifest::OwnerReference) -> OwnerReference {
    OwnerReference {
        api_version: entry.api_version().to_owned(),
        kind: entry.kind().to_owned(),
        name: entry.name().to_owned(),
        uid: entry.uid().to_owned(),
        controller: entry.controller.as_ref().map(|flag| flag.value),
        block_owner_deletion: entry.block_owner_deletion.as_ref().map(|flag| flag.value),
    }
}
