//! Owner references as the model's collector sees them.

use foldhash::HashMap;
use smol_str::SmolStr;

use super::members::Members;
use super::object::{minted_uid, object};
use super::source::{Assumptions, Source};
use crate::gc::{KindTable, Object, OwnerReference};
use crate::inventory::{Member, ObjectId};
use crate::kube::{Namespace, ObjectKey, kinds as well_known};
use crate::manifest;
use crate::ownership::{ImpliedObject, Owner, OwnerEdge};

pub(super) struct ReferenceBinder<'a> {
    source: &'a Source<'a>,
    kinds: &'a KindTable,
    members: &'a Members<'a>,
    /// Assumed owners, by key.
    assumed: HashMap<ObjectKey, Object>,
    /// Minted uids of implied objects.
    minted: HashMap<ObjectKey, SmolStr>,
}

impl<'a> ReferenceBinder<'a> {
    pub(super) fn new(
        source: &'a Source<'a>,
        kinds: &'a KindTable,
        members: &'a Members<'a>,
    ) -> Self {
        let implied = source.implied.objects.iter().map(|implied| &implied.key);
        Self {
            source,
            kinds,
            members,
            assumed: HashMap::default(),
            minted: implied.map(|key| (key.clone(), minted_uid(key))).collect(),
        }
    }

    /// Returns the assumed owners, unordered: the cluster sorts its objects.
    pub(super) fn into_assumed(self) -> impl Iterator<Item = Object> {
        self.assumed.into_values()
    }

    pub(super) fn of_member(
        &mut self,
        key: &ObjectKey,
        id: ObjectId,
        assumptions: &mut Assumptions,
    ) -> Vec<OwnerReference> {
        let member = self.source.inventory.member(id);
        let written = member.object.metadata().owner_references();
        let (entries, repetitions) = (&written.entries, written.repetitions());
        let mut references = Vec::with_capacity(entries.len());
        for edge in self.source.ownership.edges_of(id) {
            let entry = &entries[edge.entry];
            // The uid of a rendered owner is unknown: it may be the written one.
            if member.from_dump && !matches!(edge.owner, Owner::ByName(_)) {
                self.note_absent(key, member, edge, entry, assumptions);
                references.push(copied(entry));
                continue;
            }
            // [VAL-14]: the server drops repetitions.
            if repetitions[edge.entry].is_some() {
                continue;
            }
            let uid = self.uid_for(key, edge, entry, assumptions);
            references.push(bound(entry, uid));
        }
        references.extend(self.adopted(id));
        references
    }

    /// Returns the references that operators add to an object of the input.
    fn adopted(&self, id: ObjectId) -> impl Iterator<Item = OwnerReference> {
        let adopted = &self.source.implied.adopted;
        let start = adopted.partition_point(|one| one.child < id);
        let of_child = adopted[start..]
            .iter()
            .take_while(move |one| one.child == id);
        of_child.filter_map(|one| {
            let owner = &self.source.inventory.member(one.owner).object;
            let key = self.members.key_of(one.owner)?;
            Some(OwnerReference {
                api_version: owner.api_version().into(),
                kind: key.kind().into(),
                name: key.name.clone(),
                uid: self.members.uid(key)?,
                written_uid: Some(SmolStr::default()),
                controller: None,
                block_owner_deletion: None,
            })
        })
    }

    /// Returns the uid of the owner that a rendered reference means; `None` if the written one stays.
    fn uid_for(
        &mut self,
        holder: &ObjectKey,
        edge: &OwnerEdge,
        entry: &manifest::OwnerReference,
        assumptions: &mut Assumptions,
    ) -> Option<SmolStr> {
        let owner = edge.bound().and_then(|id| self.members.key_of(id));
        match (&edge.owner, owner) {
            (Owner::ByUid(_), Some(owner)) => return self.members.uid(owner),
            // [SIM-6]: never across namespaces, even if it is not certain that they differ.
            (Owner::ByName(_), Some(owner))
                if self
                    .implied_key(holder, entry)
                    .is_none_or(|key| key == *owner) =>
            {
                assumptions.bound_by_name += 1;
                return self.members.uid(owner);
            }
            _ => {}
        }
        self.assume(holder, entry, assumptions)
    }

    /// Assumes that the owner exists where the reference looks for it. Nothing is assumed if the owner's kind does not
    /// resolve or its scope does not fit the holder's: the collector keeps such a dependent anyway `[GC-16]`,
    /// `[GC-20]`.
    fn assume(
        &mut self,
        holder: &ObjectKey,
        entry: &manifest::OwnerReference,
        assumptions: &mut Assumptions,
    ) -> Option<SmolStr> {
        let owner = self.implied_key(holder, entry)?;
        if let Some(uid) = self.known_uid(&owner) {
            assumptions.bound_by_name += 1;
            return Some(uid);
        }
        assumptions
            .assumed_owners
            .push((holder.clone(), owner.clone()));
        let assumed = self
            .assumed
            .entry(owner)
            .or_insert_with_key(|owner| assumed(owner, minted_uid(owner)));
        Some(assumed.uid.clone())
    }

    /// Returns the uid of an object of the input, or of an implied one.
    fn known_uid(&self, key: &ObjectKey) -> Option<SmolStr> {
        self.members
            .uid(key)
            .or_else(|| self.minted.get(key).cloned())
    }

    /// Returns the key under which the collector looks for the owner `[GC-15]`; `None` if there is none.
    fn implied_key(
        &self,
        holder: &ObjectKey,
        entry: &manifest::OwnerReference,
    ) -> Option<ObjectKey> {
        let info = self
            .kinds
            .get(self.kinds.resolve(entry.api_version(), entry.kind())?);
        let namespace = match &holder.namespace {
            _ if !info.namespaced => Namespace::None,
            Namespace::None => return None,
            namespace => namespace.clone(),
        };
        Some(ObjectKey::new(info.group_kind(), namespace, entry.name()))
    }

    /// Records an owner as absent, because a dump is the whole cluster. Only the object's own Namespace is assumed to
    /// exist.
    fn note_absent(
        &mut self,
        holder: &ObjectKey,
        member: &Member,
        edge: &OwnerEdge,
        entry: &manifest::OwnerReference,
        assumptions: &mut Assumptions,
    ) {
        if edge.bound().is_some() {
            return;
        }
        let Some(owner) = self.implied_key(holder, entry) else {
            return;
        };
        if self.members.has(&owner) {
            return;
        }
        let is_home =
            owner.is(well_known::NAMESPACE) && member.key.namespace.name() == Some(&owner.name);
        if is_home && !entry.uid().is_empty() {
            self.assumed
                .entry(owner)
                .or_insert_with_key(|owner| assumed(owner, entry.uid().into()));
        } else {
            assumptions.absent_owners.push((holder.clone(), owner));
        }
    }

    pub(super) fn of_implied(
        &mut self,
        key: &ObjectKey,
        implied: &ImpliedObject<'_>,
        assumptions: &mut Assumptions,
    ) -> Vec<OwnerReference> {
        let mut references = Vec::new();
        for entry in &implied.copied_references {
            let uid = self.assume(key, entry, assumptions);
            references.push(bound(entry, uid));
        }
        let owner = &implied.owner;
        if let Some(reference) = implied.reference
            && let Some(uid) = self.known_uid(owner)
        {
            references.push(OwnerReference {
                api_version: reference.api_version.into(),
                kind: owner.kind().into(),
                name: owner.name.clone(),
                uid,
                written_uid: Some(SmolStr::default()),
                controller: reference.controller,
                block_owner_deletion: reference.block_owner_deletion,
            });
        }
        references
    }

    /// Returns the Namespace object of a namespace in use, unless the input has it. Reuses one that references assumed.
    pub(super) fn namespace(&mut self, name: &str) -> Option<Object> {
        let key = ObjectKey::of_namespace(name);
        if self.members.has(&key) {
            return None;
        }
        let uid = self
            .assumed
            .remove(&key)
            .map_or_else(|| minted_uid(&key), |assumed| assumed.uid);
        Some(object(&key, uid))
    }
}

/// Creates an assumed owner.
fn assumed(key: &ObjectKey, uid: SmolStr) -> Object {
    Object {
        assumed: true,
        ..object(key, uid)
    }
}

/// Copies a reference, bound by `uid` if there is one, instead of the written uid.
fn bound(entry: &manifest::OwnerReference, uid: Option<SmolStr>) -> OwnerReference {
    let reference = copied(entry);
    match uid {
        Some(uid) if uid != reference.uid => OwnerReference {
            written_uid: Some(reference.uid),
            uid,
            ..reference
        },
        _ => reference,
    }
}

/// Copies a reference as written.
fn copied(entry: &manifest::OwnerReference) -> OwnerReference {
    OwnerReference {
        api_version: entry.api_version().into(),
        kind: entry.kind().into(),
        name: entry.name().into(),
        uid: entry.uid().into(),
        written_uid: None,
        controller: entry.controller.as_ref().map(|flag| flag.value),
        block_owner_deletion: entry.block_owner_deletion.as_ref().map(|flag| flag.value),
    }
}
