//! Builds a cluster from objects: numbers them, interns strings, and resolves each reference once.

use std::sync::Arc;

use foldhash::HashMap;
use typed_index_collections::TiVec;

use crate::behaviour::Behaviour;
use crate::cluster::{Cluster, Node};
use crate::flags::{FOREGROUND, GRACEFUL, ORPHAN, SPEC_KUBERNETES, TERMINATING, UNWATCHED};
use crate::ids::{NONE, ObjectId};
use crate::kinds::{KindInfo, KindTable};
use crate::links::Links;
use crate::names::{ApiVersion, GroupKind, Namespace, ObjectKey, finalizers};
use crate::object::{Deletion, Facts, Object};
use crate::references::{Dependents, Lookup, Ref, Written};
use crate::symbols::{Interner, Symbol, Symbols};

/// Reasons why a list of objects is rejected as a cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// Two objects with one key.
    #[error("two objects have the key {0}")]
    DuplicateKey(Box<ObjectKey>),
    /// Two objects with one uid.
    #[error("{0} and {1} have the same uid")]
    DuplicateUid(Box<ObjectKey>, Box<ObjectKey>),
    /// More objects, references or finalizers than 32 bits can count.
    #[error("the cluster is too large")]
    TooLarge,
}

impl Cluster {
    /// Builds a cluster of the newest release. Kinds that its CustomResourceDefinitions declare are added to `kinds`.
    ///
    /// # Errors
    /// Fails if two objects have the same key or uid (the caller decides which one is right), or if there are too many.
    pub fn new(kinds: KindTable, objects: Vec<Object>) -> Result<Cluster, ClusterError> {
        Self::behaving(Behaviour::NEWEST, kinds, objects)
    }

    /// Builds a cluster of a release that behaves like `behaviour`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn behaving(
        behaviour: Behaviour,
        mut kinds: KindTable,
        mut objects: Vec<Object>,
    ) -> Result<Cluster, ClusterError> {
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
        cluster.behaviour = behaviour;
        cluster.resolve(&kinds, &interner.symbols)?;
        cluster.kinds = Arc::new(kinds);
        cluster.text = Arc::new(interner.symbols);
        cluster.links = Links::derive(&cluster, &objects);
        cluster.dependents = Dependents::new(cluster.len(), &cluster.refs);
        Ok(cluster)
    }

    /// Copies the objects into the flat form, references still unresolved.
    fn flatten(
        kinds: &mut KindTable,
        objects: &[Object],
        text: &mut Interner,
    ) -> Result<Cluster, ClusterError> {
        let references = objects
            .iter()
            .map(|object| object.owner_references.len())
            .sum();
        let finalizers = objects
            .iter()
            .map(|object| object.finalizers.len() + 1)
            .sum();
        // One number is reserved for `NONE`.
        if objects.len().max(references).max(finalizers) >= u32::MAX as usize {
            return Err(ClusterError::TooLarge);
        }
        let mut cluster = Cluster::empty(Arc::default(), Arc::default());
        cluster.nodes.reserve(objects.len());
        cluster.refs.reserve(references);
        cluster.written.reserve(references);
        for object in objects {
            let id = cluster.nodes.next_key();
            let namespace = &object.key.namespace;
            let kind = kinds.find(object.key.group_kind()).unwrap_or_else(|| {
                let namespaced = *namespace != Namespace::None;
                kinds.add(KindInfo::unknown(object.key.group_kind(), namespaced))
            });
            if object.assumed {
                cluster.assumed.push(id);
            }
            let node = Node {
                kind,
                namespace: text.intern_namespace(namespace),
                name: text.intern(&object.key.name),
                uid: text.intern(&object.uid),
                flags: initial_flags(object, kinds.get(kind)),
            };
            cluster.nodes.push(node);
            for reference in &object.owner_references {
                if let Some(uid) = &reference.written_uid {
                    cluster
                        .written_uids
                        .insert(cluster.refs.next_key(), uid.clone());
                }
                cluster.written.push(Written::new(reference, text));
                cluster.refs.push(Ref {
                    holder: id,
                    by_uid: NONE,
                    lookup: Lookup::Unresolvable,
                    exact: false,
                });
            }
            let mut names = object.finalizers.iter();
            let foreign = names
                .clone()
                .filter(|name| !finalizers::is_collectors(name));
            cluster
                .finalizers
                .extend(foreign.map(|name| text.intern(name)));
            // A slot for the finalizer that a deletion would add [CRD-2].
            let cleanup = finalizers::CUSTOM_RESOURCE_CLEANUP;
            if matches!(object.facts, Facts::Definition(_)) && names.all(|name| name != cleanup) {
                let slot = cluster.finalizers.push_and_get_key(text.intern(cleanup));
                cluster.absent_finalizers.push(slot);
            }
            cluster.end_object();
        }
        Ok(cluster)
    }

    /// Resolves every reference, by uid and by coordinates.
    fn resolve(&mut self, kinds: &KindTable, text: &Symbols) -> Result<(), ClusterError> {
        let mut by_uid: TiVec<Symbol, ObjectId> = vec![NONE; text.len()].into();
        // Objects are in the order of their keys, so duplicates are adjacent.
        let mut before = None;
        for (id, node) in self.nodes.iter_enumerated() {
            if node.uid != Symbol::EMPTY {
                let other = std::mem::replace(&mut by_uid[node.uid], id);
                if other != NONE {
                    let [other, key] =
                        [other, id].map(|id| Box::new(self.key_with(id, kinds, text)));
                    return Err(ClusterError::DuplicateUid(other, key));
                }
            }
            if before.replace(node.coordinates()) == Some(node.coordinates()) {
                let key = self.key_with(id, kinds, text);
                return Err(ClusterError::DuplicateKey(Box::new(key)));
            }
        }
        if self.refs.is_empty() {
            return Ok(());
        }
        let nodes = self.nodes.iter_enumerated();
        let by_name: HashMap<_, _> = nodes.map(|(id, node)| (node.coordinates(), id)).collect();
        for (reference, written) in self.refs.iter_mut().zip(&mut self.written) {
            let holder = self.nodes[reference.holder];
            if written.uid != Symbol::EMPTY {
                reference.by_uid = by_uid[written.uid];
            }
            let api_version = text.get(written.api_version);
            written.kind = kinds.resolve(api_version, text.get(written.kind_name));
            let Some(id) = written.kind else { continue };
            let kind = kinds.get(id);
            let namespace = if kind.namespaced {
                holder.namespace
            } else {
                Symbol::EMPTY
            };
            written.named = by_name
                .get(&(id, namespace, written.name))
                .copied()
                .unwrap_or(NONE);
            let found = reference.by_uid != NONE && reference.by_uid == written.named;
            let out_of_scope = kind.namespaced && !kinds.get(holder.kind).namespaced;
            reference.lookup = if out_of_scope && !self.behaviour.absence_by_uid {
                Lookup::OutOfScope
            } else if found {
                Lookup::Owner
            } else {
                Lookup::Elsewhere
            };
            let ApiVersion { group, version } = ApiVersion::split(api_version);
            let preferred = kind.group == group
                && kind
                    .versions
                    .first()
                    .is_some_and(|watched| watched == version);
            reference.exact = found && preferred && !api_version.starts_with('/');
        }
        Ok(())
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
        && namespace
            .spec_finalizers
            .iter()
            .any(|token| token == finalizers::KUBERNETES)
    {
        flags |= SPEC_KUBERNETES;
    }
    flags
}
