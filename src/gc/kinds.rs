//! Which kinds the cluster serves, and how each one is deleted.
//!
//! Kinds are plain data: who fills the table (the built-in list of a Kubernetes release, the
//! CustomResourceDefinitions of a tree, a config file) is not this room's business. What is not in
//! the table, or not in a served version, cannot be resolved, and an object with such an owner is
//! kept for ever `[GC-16]`.

use std::collections::BTreeMap;

/// What a DELETE without a policy does when the object carries no garbage-collector finalizer
/// (section 2.2 of the deletion semantics).
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
    /// Whether the collector watches it `[GC-1]`; if not, it is never collected `[GC-2]`.
    pub gc_tracked: bool,
    /// Whether deleting a namespace purges it.
    pub namespace_deletable: bool,
    /// What a DELETE without a policy does.
    pub default_policy: DefaultPolicy,
    /// A custom resource: patched by JSON merge patch instead of strategic merge patch `[GC-28]`.
    pub custom: bool,
}

impl KindInfo {
    /// A custom resource as a CustomResourceDefinition declares it; `versions` are the served ones in any order.
    pub fn custom(group: &str, kind: &str, plural: &str, namespaced: bool, versions: &[&str]) -> Self {
        let mut versions: Vec<String> = versions.iter().map(|version| (*version).to_owned()).collect();
        sort_versions(&mut versions);
        KindInfo {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced,
            versions,
            gc_tracked: true,
            namespace_deletable: namespaced,
            default_policy: DefaultPolicy::DeleteDependents,
            custom: true,
        }
    }

    /// A kind of which nothing is known but that an object of it was seen: it does not resolve as
    /// an owner and is never collected as a dependent `[SIM-5]`.
    pub(super) fn unknown(group: &str, kind: &str, namespaced: bool) -> Self {
        KindInfo { gc_tracked: false, ..Self::custom(group, kind, &kind.to_lowercase(), namespaced, &[]) }
    }
}

/// Index of a kind in [`Kinds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub(super) u32);

/// The kinds a cluster serves.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    infos: Vec<KindInfo>,
    groups: BTreeMap<String, BTreeMap<String, KindId>>,
}

impl Kinds {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind, or replaces what was known of it.
    pub fn add(&mut self, info: KindInfo) -> KindId {
        if let Some(known) = self.find(&info.group, &info.kind) {
            self.infos[known.0 as usize] = info;
            return known;
        }
        let id = KindId(self.infos.len() as u32);
        self.groups.entry(info.group.clone()).or_default().insert(info.kind.clone(), id);
        self.infos.push(info);
        id
    }

    /// The kind of that group, whatever versions are served.
    pub fn find(&self, group: &str, kind: &str) -> Option<KindId> {
        self.groups.get(group)?.get(kind).copied()
    }

    /// The kind that `apiVersion` and `kind` resolve to: the exact version must be served `[GC-15]`.
    pub fn resolve(&self, api_version: &str, kind: &str) -> Option<KindId> {
        let (group, version) = split_api_version(api_version)?;
        let id = self.find(group, kind)?;
        self.get(id).versions.iter().any(|served| served == version).then_some(id)
    }

    /// What is known of a kind.
    pub fn get(&self, id: KindId) -> &KindInfo {
        &self.infos[id.0 as usize]
    }
}

/// Splits an `apiVersion` into group and version as Kubernetes does `[VAL-10]`; `None` where it refuses.
pub fn split_api_version(api_version: &str) -> Option<(&str, &str)> {
    match api_version.split_once('/') {
        None if api_version.is_empty() => None,
        None => Some(("", api_version)),
        Some((_, version)) if version.is_empty() || version.contains('/') => None,
        Some((group, version)) => Some((group, version)),
    }
}

/// Sorts versions by Kubernetes' priority: `v2` before `v1` before `v1beta1` before `v1alpha1`,
/// then everything that is no such version, by name.
pub fn sort_versions(versions: &mut [String]) {
    versions.sort_by(|a, b| match (version_priority(a), version_priority(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    });
}

/// (stability, major, minor), greater is preferred.
fn version_priority(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let (major, stability, minor) = if let Some((major, minor)) = rest.split_once("beta") {
        (major, 1, minor)
    } else if let Some((major, minor)) = rest.split_once("alpha") {
        (major, 0, minor)
    } else {
        (rest, 2, "0")
    };
    Some((stability, major.parse().ok()?, minor.parse().ok()?))
}
