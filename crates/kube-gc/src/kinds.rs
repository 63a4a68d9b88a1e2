//! The kinds that the cluster serves, and how each one is deleted.
//!
//! Kinds are plain data: the source of the table (the built-in list of a Kubernetes release, the
//! CustomResourceDefinitions of a tree, a config file) does not matter here. A kind that is not in
//! the table, or not in a served version, cannot be resolved, and an object with such an owner is
//! kept forever `[GC-16]`.

use std::collections::BTreeMap;

use crate::names::{ApiVersion, GroupKind, KindMap, sort_versions};

/// Policy of a DELETE that names none, for an object without a garbage-collector finalizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultPolicy {
    /// Dependents are deleted in the background: every kind but three.
    #[default]
    DeleteDependents,
    /// Dependents are orphaned: `Job` and `ReplicationController`.
    OrphanDependents,
    /// The finalizers of the collector are never set: `Event`.
    Unsupported,
}

/// One kind of a group, as discovery would describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindInfo {
    /// API group, empty for core.
    pub group: String,
    /// Kind, as in manifests.
    pub kind: String,
    /// Resource name, used in the messages of namespace conditions `[NS-15]`.
    pub plural: String,
    /// Whether objects of this kind live in a namespace.
    pub namespaced: bool,
    /// Served versions, the preferred one first. The collector watches only that one `[GC-1]`.
    pub versions: Vec<String>,
    /// Whether `versions` has only those seen in objects: the cluster may serve others, too.
    pub open_versions: bool,
    /// Whether the collector watches it `[GC-1]`; if not, it is never collected `[GC-2]`.
    pub gc_tracked: bool,
    /// Whether deleting a namespace deletes its objects of this kind.
    pub namespace_deletable: bool,
    /// Policy of a DELETE that names none.
    pub default_policy: DefaultPolicy,
    /// Whether it is a custom resource, patched by JSON merge patch instead of strategic merge patch `[GC-28]`.
    pub custom: bool,
}

impl KindInfo {
    /// Creates a custom resource kind as its definition declares it. `versions` are the served ones, in any order.
    pub fn custom(
        kind: GroupKind<&str>,
        plural: &str,
        namespaced: bool,
        versions: &[&str],
    ) -> Self {
        let GroupKind { group, kind } = kind.to_owned();
        let mut versions: Vec<String> = versions
            .iter()
            .map(|version| (*version).to_owned())
            .collect();
        sort_versions(&mut versions);
        KindInfo {
            group,
            kind,
            plural: plural.to_owned(),
            namespaced,
            versions,
            open_versions: false,
            gc_tracked: true,
            namespace_deletable: namespaced,
            default_policy: DefaultPolicy::DeleteDependents,
            custom: true,
        }
    }

    /// Creates a kind that is known only from an object: it does not resolve as an owner and is never collected as a
    /// dependent `[SIM-5]`. Instead of a guessed plural it has the singular, which `kubectl` accepts.
    pub(super) fn unknown(kind: GroupKind<&str>, namespaced: bool) -> Self {
        KindInfo {
            gc_tracked: false,
            ..Self::custom(kind, &kind.kind.to_lowercase(), namespaced, &[])
        }
    }

    /// Returns the kind with its group.
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind::new(&self.group, &self.kind)
    }
}

/// Index of a kind in [`KindTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub(super) u32);

/// The kinds a cluster serves.
#[derive(Debug, Clone, Default)]
pub struct KindTable {
    infos: Vec<KindInfo>,
    ids: KindMap<KindId>,
    cohabiting: BTreeMap<GroupKind, Cohabiting>,
}

/// A kind that is also served in another group, with the versions served there.
#[derive(Debug, Clone)]
struct Cohabiting {
    stored_as: KindId,
    versions: Vec<String>,
}

impl KindTable {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind, or replaces the entry of a known one.
    pub fn add(&mut self, info: KindInfo) -> KindId {
        if let Some(known) = self.find(info.group_kind()) {
            self.infos[known.0 as usize] = info;
            return known;
        }
        let id = KindId(self.infos.len() as u32);
        self.ids.insert(info.group_kind(), id);
        self.infos.push(info);
        id
    }

    /// Serves a kind in a second group too. References may name that group; objects keep the group they are stored in.
    pub fn serve_also_in(&mut self, stored_as: KindId, group: &str, versions: Vec<String>) {
        let kind = GroupKind {
            group: group.to_owned(),
            kind: self.get(stored_as).kind.clone(),
        };
        self.cohabiting.insert(
            kind,
            Cohabiting {
                stored_as,
                versions,
            },
        );
    }

    /// Finds a kind, whichever versions are served.
    pub fn find(&self, kind: GroupKind<&str>) -> Option<KindId> {
        self.ids.get(kind).copied()
    }

    /// Resolves `apiVersion` and `kind` to a kind; `None` unless exactly that version is served `[GC-15]`.
    pub fn resolve(&self, api_version: &str, kind: &str) -> Option<KindId> {
        let ApiVersion { group, version } = ApiVersion::split(api_version);
        let kind = GroupKind::new(group, kind);
        let (id, versions) = match self.cohabiting.get(&kind.to_owned()) {
            Some(cohabiting) => (cohabiting.stored_as, &cohabiting.versions),
            None => self.find(kind).map(|id| (id, &self.get(id).versions))?,
        };
        let served = !version.is_empty() && versions.iter().any(|served| served == version);
        served.then_some(id)
    }

    /// Returns the facts about a kind.
    pub fn get(&self, id: KindId) -> &KindInfo {
        &self.infos[id.0 as usize]
    }
}
