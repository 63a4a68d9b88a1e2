//! The cluster before the first step, interned and flat: everything about it that never changes.
//!
//! Objects are numbered in the order of their keys, so that nothing below depends on the order of
//! the input; owner references are resolved once ([`super::references`]). What changes while a
//! simulation runs is in [`super::state`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kinds::{KindId, KindInfo, Kinds};
use super::links::Links;
use super::object::{Deletion, Facts, Object};
use super::references::{Dependents, Lookup, Ref, Written};
use super::state::{FOREGROUND, GRACEFUL, ORPHAN, SPEC_KUBERNETES, TERMINATING, UNWATCHED};
use super::symbols::{Interner, Symbol, Symbols};
use crate::kube::{ApiVersion, GroupKind, Namespace, ObjectKey, finalizers};

/// Number of an object in its [`Cluster`].
pub type ObjectId = u32;

/// No such object.
pub(super) const NONE: u32 = u32::MAX;

/// Why a list of objects is no cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// Two objects with one key.
    #[error("two objects have the key {0}")]
    DuplicateKey(Box<ObjectKey>),
    /// Two objects with one uid.
    #[error("{0} and {1} have the same uid")]
    DuplicateUid(Box<ObjectKey>, Box<ObjectKey>),
    /// More objects, references or finalizers than 32 bits count.
    #[error("the cluster is too large")]
    TooLarge,
}

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
    /// Builds a cluster. Kinds that the objects' CustomResourceDefinitions declare are added to `kinds`.
    ///
    /// # Errors
    /// Two objects with one key or one uid: the caller decides which one is right.
    pub fn new(mut kinds: Kinds, mut objects: Vec<Object>) -> Result<Cluster, ClusterError> {
        for object in &objects {
            if let Facts::Definition(crd) = &object.facts {
                // [CRD-3] OverlappingBuiltInResource: a definition does not replace a built-in kind.
                let kind = GroupKind::new(&crd.group, &crd.kind);
                if kinds.find(kind).is_none_or(|id| kinds.get(id).custom) {
                    let served: Vec<&str> = crd.served.iter().map(String::as_str).collect();
                    kinds.add(KindInfo::custom(kind, &crd.plural, crd.namespaced, &served));
                }
            }
        }
        // Input order must not matter: objects are numbered in the order of their keys.
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        let mut interner = Interner::default();
        let mut cluster = Cluster::flatten(&mut kinds, &objects, &mut interner)?;
        cluster.resolve(&kinds, &interner)?;
        cluster.kinds = Arc::new(kinds);
        cluster.text = Arc::new(interner.finish());
        cluster.links = Links::new(&cluster, &objects);
        cluster.dependents = Dependents::new(cluster.len(), &cluster.refs);
        Ok(cluster)
    }

    /// Whether an object was only assumed to exist, because a rendered reference names it. Plans do not show it.
    pub fn is_assumed(&self, id: ObjectId) -> bool {
        self.assumed.binary_search(&id).is_ok()
    }

    /// The uid that a reference shows: what binds a rendered one is nobody's business but the collector's.
    pub(super) fn shown_uid(&self, index: u32) -> &str {
        self.written_uids.get(&index).map_or_else(|| self.text.get(self.written(index).uid), String::as_str)
    }

    /// Copies the objects into the flat form, references still unresolved.
    fn flatten(kinds: &mut Kinds, objects: &[Object], text: &mut Interner) -> Result<Cluster, ClusterError> {
        let references = objects.iter().map(|object| object.owner_references.len()).sum();
        let mut cluster = Cluster {
            kinds: Arc::default(),
            text: Arc::default(),
            nodes: Vec::with_capacity(objects.len()),
            starts: vec![Starts::default()],
            refs: Vec::with_capacity(references),
            written: Vec::with_capacity(references),
            finalizers: Vec::new(),
            absent_finalizers: Vec::new(),
            dependents: Dependents::default(),
            links: Links::default(),
            assumed: Vec::new(),
            written_uids: BTreeMap::new(),
        };
        for (id, object) in objects.iter().enumerate() {
            let id = u32::try_from(id).map_err(|_| ClusterError::TooLarge)?;
            let ObjectKey { namespace, name, .. } = &object.key;
            let unknown = || KindInfo::unknown(object.key.group_kind(), *namespace != Namespace::None);
            let kind = kinds.find(object.key.group_kind()).unwrap_or_else(|| kinds.add(unknown()));
            if object.assumed {
                cluster.assumed.push(id);
            }
            let node = Node {
                kind,
                namespace: text.intern_namespace(namespace),
                name: text.intern(name),
                uid: text.intern(&object.uid),
                flags: initial_flags(object, kinds.get(kind)),
            };
            cluster.nodes.push(node);
            for reference in &object.owner_references {
                if let Some(uid) = &reference.written_uid {
                    cluster.written_uids.insert(cluster.refs.len() as u32, uid.clone());
                }
                cluster.written.push(Written::new(reference, text));
                cluster.refs.push(Ref { holder: id, by_uid: NONE, lookup: Lookup::Unresolvable, exact: false });
            }
            let foreign = object.finalizers.iter().filter(|name| !finalizers::is_collectors(name));
            cluster.finalizers.extend(foreign.map(|name| text.intern(name)));
            // A slot for the finalizer that a deletion would add [CRD-2].
            if matches!(object.facts, Facts::Definition(_))
                && !object.finalizers.iter().any(|name| name == finalizers::CUSTOM_RESOURCE_CLEANUP)
            {
                cluster.absent_finalizers.push(cluster.finalizers.len() as u32);
                cluster.finalizers.push(text.intern(finalizers::CUSTOM_RESOURCE_CLEANUP));
            }
            if let Facts::Namespace(namespace) = &object.facts {
                namespace.spec_finalizers.iter().for_each(|token| _ = text.intern(token));
            }
            cluster.end_object();
        }
        let longest = cluster.refs.len().max(cluster.finalizers.len());
        if u32::try_from(longest).is_err() { Err(ClusterError::TooLarge) } else { Ok(cluster) }
    }

    /// The references and finalizers so far are all those of the last object.
    pub(super) fn end_object(&mut self) {
        self.starts.push(Starts { references: self.refs.len() as u32, finalizers: self.finalizers.len() as u32 });
    }

    /// Resolves every reference, by uid and by coordinates.
    fn resolve(&mut self, kinds: &Kinds, text: &Interner) -> Result<(), ClusterError> {
        let mut by_uid = vec![NONE; text.len()];
        let mut by_name = std::collections::HashMap::with_capacity(self.len());
        for id in 0..self.len() as ObjectId {
            let node = self.nodes[id as usize];
            if node.uid != Symbol::EMPTY {
                let other = std::mem::replace(&mut by_uid[node.uid.index()], id);
                if other != NONE {
                    let [other, id] = [other, id].map(|id| Box::new(self.key_with(id, kinds, text.symbols())));
                    return Err(ClusterError::DuplicateUid(other, id));
                }
            }
            if by_name.insert((node.kind, node.namespace, node.name), id).is_some() {
                return Err(ClusterError::DuplicateKey(Box::new(self.key_with(id, kinds, text.symbols()))));
            }
        }
        for (reference, written) in self.refs.iter_mut().zip(&mut self.written) {
            let holder = self.nodes[reference.holder as usize];
            if written.uid != Symbol::EMPTY {
                reference.by_uid = by_uid[written.uid.index()];
            }
            let api_version = text.get(written.api_version);
            written.kind = kinds.resolve(api_version, text.get(written.kind_name));
            let Some(id) = written.kind else { continue };
            let kind = kinds.get(id);
            let namespace = if kind.namespaced { holder.namespace } else { Symbol::EMPTY };
            written.named = by_name.get(&(id, namespace, written.name)).copied().unwrap_or(NONE);
            let found = reference.by_uid != NONE && reference.by_uid == written.named;
            reference.lookup = match found {
                _ if kind.namespaced && !kinds.get(holder.kind).namespaced => Lookup::OutOfScope,
                true => Lookup::Owner,
                false => Lookup::Elsewhere,
            };
            let preferred = kind.versions.first().map(String::as_str) == Some(ApiVersion::split(api_version).version);
            reference.exact = found && preferred && !api_version.starts_with('/');
        }
        Ok(())
    }

    fn key_with(&self, id: ObjectId, kinds: &Kinds, text: &Symbols) -> ObjectKey {
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

fn initial_flags(object: &Object, kind: &KindInfo) -> u16 {
    let mut flags = if kind.gc_tracked { 0 } else { UNWATCHED };
    if let Some(Deletion { grace_seconds }) = object.deletion {
        flags |= TERMINATING;
        // Only Pods are deleted gracefully [DEL-7].
        if grace_seconds > 0 && matches!(object.facts, Facts::Pod(_)) {
            flags |= GRACEFUL;
        }
    }
    for finalizer in &object.finalizers {
        match finalizer.as_str() {
            finalizers::ORPHAN => flags |= ORPHAN,
            finalizers::FOREGROUND => flags |= FOREGROUND,
            _ => {}
        }
    }
    if let Facts::Namespace(namespace) = &object.facts
        && namespace.spec_finalizers.iter().any(|token| token == finalizers::KUBERNETES)
    {
        flags |= SPEC_KUBERNETES;
    }
    flags
}
