//! The cluster before the first step, interned and flat: everything about it that never changes.
//!
//! Objects are numbered in the order of their keys, so that nothing below depends on the order of
//! the input; owner references are resolved once ([`super::references`]). What changes while a
//! simulation runs is in `state`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ids::ObjectId;
use super::kinds::{KindId, KindInfo, Kinds};
use super::links::Links;
use super::references::{Dependents, Ref, Written};
use super::symbols::{Symbol, Symbols};
use crate::kube::ObjectKey;

/// The objects of a cluster and the kinds it serves. Built once, shared by all simulations.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub(super) kinds: Arc<Kinds>,
    pub(super) text: Arc<Symbols>,
    pub(super) nodes: Vec<Node>,
    /// Of every object, and one more for the end of the last.
    pub(super) starts: Vec<Starts>,
    pub(super) refs: Vec<Ref>,
    /// What is written in each of `refs`.
    pub(super) written: Vec<Written>,
    pub(super) finalizers: Vec<Symbol>,
    /// Indexes into `finalizers` of those that only a deletion adds `[CRD-2]`.
    pub(super) absent_finalizers: Vec<u32>,
    pub(super) dependents: Dependents,
    pub(super) links: Links,
    /// Objects that no input holds, sorted: plans leave them out.
    pub(super) assumed: Vec<ObjectId>,
    /// The uid that a manifest has, by the reference whose uid was changed to bind it.
    pub(super) written_uids: BTreeMap<u32, String>,
}

/// One object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: KindId,
    pub(super) namespace: Symbol,
    pub(super) name: Symbol,
    pub(super) uid: Symbol,
    /// The state flags it starts with.
    pub(super) flags: u16,
}

/// Where the references and the finalizers of an object start; they end where those of the next one start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Starts {
    references: u32,
    finalizers: u32,
}

impl Cluster {
    /// Whether an object was only assumed to exist, because a rendered reference names it. Plans do not show it.
    pub fn is_assumed(&self, id: ObjectId) -> bool {
        self.assumed.binary_search(&id).is_ok()
    }

    /// The uid that a reference shows: what binds a rendered one is nobody's business but the collector's.
    pub(super) fn shown_uid(&self, index: u32) -> &str {
        self.written_uids.get(&index).map_or_else(|| self.text.get(self.written(index).uid), String::as_str)
    }

    /// The references and finalizers so far are all those of the last object.
    pub(super) fn end_object(&mut self) {
        self.starts.push(Starts { references: self.refs.len() as u32, finalizers: self.finalizers.len() as u32 });
    }

    pub(super) fn key_with(&self, id: ObjectId, kinds: &Kinds, text: &Symbols) -> ObjectKey {
        let node = &self.nodes[id as usize];
        ObjectKey::new(kinds.get(node.kind).group_kind(), text.namespace(node.namespace), text.get(node.name))
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it holds no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All objects, in the order of their keys.
    pub fn ids(&self) -> std::ops::Range<ObjectId> {
        0..self.len() as ObjectId
    }

    /// The key of an object.
    pub fn key(&self, id: ObjectId) -> ObjectKey {
        self.key_with(id, &self.kinds, &self.text)
    }

    /// The object with that key.
    pub fn find(&self, key: &ObjectKey) -> Option<ObjectId> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let node = &self.nodes[middle];
            let kind = self.kinds.get(node.kind).group_kind().cmp(&key.group_kind());
            let namespace = || self.text.compare_namespace(node.namespace, &key.namespace);
            match kind.then_with(namespace).then_with(|| self.text.get(node.name).cmp(&key.name)) {
                std::cmp::Ordering::Equal => return Some(middle as ObjectId),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn info(&self, id: ObjectId) -> &KindInfo {
        self.kinds.get(self.nodes[id as usize].kind)
    }

    pub(super) fn refs_of(&self, id: ObjectId) -> std::ops::Range<u32> {
        self.starts[id as usize].references..self.starts[id as usize + 1].references
    }

    pub(super) fn finalizers_of(&self, id: ObjectId) -> std::ops::Range<u32> {
        self.starts[id as usize].finalizers..self.starts[id as usize + 1].finalizers
    }

    pub(super) fn reference(&self, index: u32) -> &Ref {
        &self.refs[index as usize]
    }

    pub(super) fn written(&self, index: u32) -> &Written {
        &self.written[index as usize]
    }
}
