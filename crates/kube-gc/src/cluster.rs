//! The immutable part of a cluster: its objects before the first step, interned and flat.
//!
//! Objects are numbered in the order of their keys, so that nothing below depends on the order of the input. Owner
//! references are resolved once ([`super::references`]). The mutable part of a simulation is in `state`.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;
use typed_index_collections::TiVec;

use crate::behaviour::Behaviour;
use crate::ids::{FinalizerId, Numbers, ObjectId, RefId};
use crate::kinds::{KindId, KindInfo, KindTable};
use crate::links::{Links, Role};
use crate::names::ObjectKey;
use crate::references::{Dependents, Ref, Written};
use crate::symbols::{Symbol, Symbols};

/// The objects of a cluster and the kinds it serves. Built once, shared by all simulations.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub(super) behaviour: Behaviour,
    pub(super) kinds: Arc<KindTable>,
    pub(super) text: Arc<Symbols>,
    pub(super) nodes: TiVec<ObjectId, Node>,
    /// By object, plus one entry for the end of the last object.
    pub(super) starts: TiVec<ObjectId, Starts>,
    pub(super) refs: TiVec<RefId, Ref>,
    pub(super) written: TiVec<RefId, Written>,
    pub(super) finalizers: TiVec<FinalizerId, Symbol>,
    /// Entries of `finalizers` that only a deletion adds `[CRD-2]`.
    pub(super) absent_finalizers: Vec<FinalizerId>,
    pub(super) dependents: Dependents,
    pub(super) links: Links,
    /// Objects that no input contains, sorted: plans leave them out.
    pub(super) assumed: Vec<ObjectId>,
    /// Original uid of each reference whose uid was changed to bind it.
    pub(super) written_uids: BTreeMap<RefId, SmolStr>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: KindId,
    pub(super) namespace: Symbol,
    pub(super) name: Symbol,
    pub(super) uid: Symbol,
    /// Initial state flags.
    pub(super) flags: u16,
}

impl Node {
    /// Returns kind, namespace and name, which identify the object.
    pub(super) fn coordinates(&self) -> (KindId, Symbol, Symbol) {
        (self.kind, self.namespace, self.name)
    }
}

/// Start of an object's references and finalizers, which end at the start of the next object's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Starts {
    references: RefId,
    finalizers: FinalizerId,
}

impl Cluster {
    /// Creates a cluster without objects that shares `kinds` and `text`.
    pub(super) fn empty(kinds: Arc<KindTable>, text: Arc<Symbols>) -> Self {
        let mut cluster = Cluster {
            behaviour: Behaviour::NEWEST,
            kinds,
            text,
            nodes: TiVec::new(),
            starts: TiVec::new(),
            refs: TiVec::new(),
            written: TiVec::new(),
            finalizers: TiVec::new(),
            absent_finalizers: Vec::new(),
            dependents: Dependents::default(),
            links: Links::default(),
            assumed: Vec::new(),
            written_uids: BTreeMap::new(),
        };
        cluster.end_object();
        cluster
    }

    /// Whether an object was only assumed to exist, because a rendered reference names it. Plans do not show it.
    pub fn is_assumed(&self, id: ObjectId) -> bool {
        self.assumed.binary_search(&id).is_ok()
    }

    /// Returns the uid of a reference in the manifest, not the internal one that binds it.
    pub(super) fn shown_uid(&self, index: RefId) -> &str {
        self.written_uids
            .get(&index)
            .map_or_else(|| self.text.get(self.written[index].uid), SmolStr::as_str)
    }

    /// Ends the last object: all references and finalizers added since the previous call are its own.
    pub(super) fn end_object(&mut self) {
        self.starts.push(Starts {
            references: self.refs.next_key(),
            finalizers: self.finalizers.next_key(),
        });
    }

    pub(super) fn key_with(&self, id: ObjectId, kinds: &KindTable, text: &Symbols) -> ObjectKey {
        let node = &self.nodes[id];
        ObjectKey::new(
            kinds.get(node.kind).group_kind(),
            text.namespace(node.namespace),
            text.get(node.name),
        )
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the size of a simulation in objects: eight pairs of a webhook and an object count as one.
    pub fn weight(&self) -> usize {
        self.len() + self.links.callouts.pairs() / 8
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all objects, in the order of their keys.
    pub fn ids(&self) -> Numbers<ObjectId> {
        Numbers::new(ObjectId::FIRST, self.nodes.next_key())
    }

    /// Returns the key of an object.
    pub fn key(&self, id: ObjectId) -> ObjectKey {
        self.key_with(id, &self.kinds, &self.text)
    }

    /// Finds the object with a key.
    pub fn find(&self, key: &ObjectKey) -> Option<ObjectId> {
        let kind = key.group_kind();
        let found = self.nodes.binary_search_by(|node| {
            let order = self.kinds.get(node.kind).group_kind().cmp(&kind);
            order
                .then_with(|| self.text.compare_namespace(node.namespace, &key.namespace))
                .then_with(|| self.text.get(node.name).cmp(&key.name))
        });
        found.ok()
    }

    /// Whether a webhook is called for any object of the kind that all `objects` have.
    pub(super) fn asks_about_kind_of(&self, objects: &[ObjectId]) -> bool {
        objects
            .first()
            .is_some_and(|id| self.links.callouts.concerns_kind(self.nodes[*id].kind))
    }

    /// Returns the facts about an object's kind.
    pub fn kind_of(&self, id: ObjectId) -> &KindInfo {
        self.kinds.get(self.nodes[id].kind)
    }

    /// Returns the definition of an object's kind.
    pub(super) fn definition_of(&self, id: ObjectId) -> Option<ObjectId> {
        let kind = self.nodes[id].kind;
        self.links.definition_of.get(&kind).copied()
    }

    /// Returns the Namespace that contains an object, and the definition of its kind.
    pub(super) fn above(&self, id: ObjectId) -> impl Iterator<Item = ObjectId> {
        let home = self.links.home_of(id);
        home.into_iter().chain(self.definition_of(id))
    }

    /// Whether the object is a Pod that a namespace deletes before everything else in it `[NS-17]`.
    pub(super) fn goes_first(&self, id: ObjectId) -> bool {
        self.behaviour.pods_first && matches!(self.links.roles.get(&id), Some(Role::Pod { .. }))
    }

    pub(super) fn refs_of(&self, id: ObjectId) -> Numbers<RefId> {
        Numbers::new(
            self.starts[id].references,
            self.starts[id.next()].references,
        )
    }

    pub(super) fn finalizers_of(&self, id: ObjectId) -> Numbers<FinalizerId> {
        Numbers::new(
            self.starts[id].finalizers,
            self.starts[id.next()].finalizers,
        )
    }

    pub(super) fn finalizer(&self, slot: FinalizerId) -> &str {
        self.text.get(self.finalizers[slot])
    }
}
