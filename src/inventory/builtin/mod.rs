//! Kinds that Kubernetes itself serves, with their scopes, by group, version, kind and release.
//!
//! The tables in `rules/tables/` are compiled in. A group is built in only if one of them has a row
//! for it: `gateway.networking.k8s.io` and `snapshot.storage.k8s.io` look official, but are served
//! by CRDs or aggregated servers and unknown here. Look in the CRDs of the input first: a cluster
//! may extend a built-in group.

mod release;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

pub use release::{Release, UnreadableRelease};
use rows::{Cohabitation, Introduction};

use crate::kube::{GroupKind, Scope};
pub use rows::{BuiltinKind, DefaultGcPolicy, FinalizerNameCheck, RemovedKind};

const KINDS: &str = include_str!(concat!(
    env!("OUT_DIR"),
    "/rules/builtin-resources-1.37.json"
));
const REMOVED: &str = include_str!(concat!(env!("OUT_DIR"), "/rules/removed-kinds.json"));
const INTRODUCED: &str = include_str!(concat!(env!("OUT_DIR"), "/rules/introduced.json"));
const COHABITING: &str = include_str!(concat!(env!("OUT_DIR"), "/rules/cohabiting-kinds.json"));

/// The error for a table that does not have the form that `rules/tables/README.md` describes.
#[derive(Debug, thiserror::Error)]
#[error("the table of {table}: {reason}")]
pub struct KindTableError {
    /// The table.
    pub table: &'static str,
    /// Why it cannot be read.
    #[source]
    pub reason: serde_json::Error,
}

/// The answer of a release to a request for a group, version and kind.
#[derive(Clone, Debug)]
pub enum Served<'t> {
    /// Served.
    Yes(&'t BuiltinKind),
    /// Served by that release and removed by a later one. Without
    /// [`RemovedKind::enabled_by_default`], it has to be turned on.
    YesUntil(&'t RemovedKind),
    /// In the release but not served unless it is turned on: an alpha or beta version.
    OffByDefault(&'t BuiltinKind),
    /// An earlier release served it, this one does not.
    Removed(&'t RemovedKind),
    /// A later release serves it first.
    NotYet {
        /// The first release that serves it.
        introduced_in: Release,
    },
    /// The group is Kubernetes' own and no release serves the kind in this version.
    Never {
        /// The versions in which the release serves a kind of that name by default, those of the
        /// same group first. Also empty for a typo, a list (`List`, `PodList`), a subresource's
        /// body (`Scale`), or a CustomResourceDefinition in that group.
        served_as: Vec<String>,
    },
    /// Not Kubernetes' own group: a custom resource or an aggregated API.
    UnknownGroup,
}

/// All kinds that releases of Kubernetes serve.
#[derive(Debug)]
pub struct BuiltinTable {
    /// In the order of discovery: by the priority of the group, then in the order of the table.
    kinds: Vec<BuiltinKind>,
    removed: Vec<RemovedKind>,
    groups: BTreeSet<String>,
    by_kind: BTreeMap<String, KindRows>,
    cohabiting: Vec<Cohabitation>,
}

/// The indices of the rows with one kind's name.
#[derive(Debug, Default)]
struct KindRows {
    kinds: Vec<usize>,
    removed: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KindsFile {
    /// The keys are in the order in which discovery lists groups; the values are not used.
    group_version_priority: serde_json::Map<String, serde_json::Value>,
    resources: Vec<BuiltinKind>,
}

/// Returns the table that is compiled in.
pub fn table() -> &'static BuiltinTable {
    // The tests parse the compiled-in text, so the branch is unreachable in a build that passes them.
    static TABLE: LazyLock<BuiltinTable> =
        LazyLock::new(
            || match BuiltinTable::parse(KINDS, REMOVED, INTRODUCED, COHABITING) {
                Ok(table) => table,
                Err(error) => unreachable!("rules/tables: {error}"),
            },
        );
    &TABLE
}

impl BuiltinTable {
    /// Reads the four tables.
    ///
    /// # Errors
    /// One of them does not have the form that `rules/tables/README.md` describes.
    pub fn parse(
        kinds: &str,
        removed: &str,
        introduced: &str,
        cohabiting: &str,
    ) -> Result<Self, KindTableError> {
        let file: KindsFile = read("built-in kinds", kinds)?;
        let removed: Vec<RemovedKind> = read("removed kinds", removed)?;
        let introduced: Vec<Introduction> = read("introduced kinds", introduced)?;
        let cohabiting = read("cohabiting kinds", cohabiting)?;
        let priority: Vec<&String> = file.group_version_priority.keys().collect();
        let mut kinds = file.resources;
        kinds.sort_by_cached_key(|kind| priority.iter().position(|group| **group == kind.group));
        for kind in &mut kinds {
            kind.introduced_in = introduced
                .iter()
                .filter(|row| row.is_of(kind))
                // A row about the kind itself takes precedence over one about all kinds of the version.
                .max_by_key(|row| row.kind != "*")
                .map(|row| row.introduced_in);
        }
        let mut by_kind: BTreeMap<String, KindRows> = BTreeMap::new();
        let mut groups = BTreeSet::new();
        for (at, kind) in kinds.iter().enumerate() {
            by_kind.entry(kind.kind.clone()).or_default().kinds.push(at);
            groups.insert(kind.group.clone());
        }
        for (at, kind) in removed.iter().enumerate() {
            let rows = by_kind.entry(kind.kind.clone()).or_default();
            rows.removed.push(at);
            groups.insert(kind.group.clone());
        }
        Ok(Self {
            kinds,
            removed,
            groups,
            by_kind,
            cohabiting,
        })
    }

    /// Returns the answer of `release` to a request for `kind` in `group`/`version`; `group` is empty for the core
    /// group.
    pub fn served(&self, group: &str, version: &str, kind: &str, release: Release) -> Served<'_> {
        if let Some(row) = self.find(group, version, kind) {
            return match row.introduced_in {
                Some(introduced_in) if introduced_in > release => Served::NotYet { introduced_in },
                _ if row.enabled_by_default => Served::Yes(row),
                _ => Served::OffByDefault(row),
            };
        }
        let gone = self
            .removed_named(kind)
            .find(|row| row.group == group && row.version == version);
        if let Some(row) = gone {
            return match row.introduced_in {
                _ if row.removed_in <= release => Served::Removed(row),
                Some(introduced_in) if introduced_in > release => Served::NotYet { introduced_in },
                _ => Served::YesUntil(row),
            };
        }
        if !self.is_builtin_group(group) {
            return Served::UnknownGroup;
        }
        let served_as = self.served_as(group, kind, release);
        Served::Never { served_as }
    }

    /// Returns the scope of a kind of a built-in group. It is the same in every version and release [SCOPE-5].
    pub fn scope_of(&self, group: &str, kind: &str) -> Option<Scope> {
        let today = self
            .versions_of(GroupKind::new(group, kind))
            .next()
            .map(|row| row.scope);
        today.or_else(|| {
            self.removed_named(kind)
                .find(|row| row.group == group)
                .map(|row| row.scope)
        })
    }

    /// Returns the plural of a kind of a built-in group. It is the same in every version and release.
    pub fn plural_of(&self, kind: GroupKind<&str>) -> Option<&str> {
        let today = self.versions_of(kind).next().map(|row| row.plural.as_str());
        today.or_else(|| {
            self.removed_named(kind.kind)
                .find(|row| row.group == kind.group)
                .map(|row| row.plural.as_str())
        })
    }

    /// Returns the versions in which `release` serves kinds of that name by default, those of `group` first.
    pub fn served_as(&self, group: &str, kind: &str, release: Release) -> Vec<String> {
        let today = self
            .named(kind)
            .filter(|row| {
                row.enabled_by_default && row.introduced_in.is_none_or(|first| first <= release)
            })
            .map(|row| (row.group != group, row.api_version()));
        let then = self
            .removed_named(kind)
            .filter(|row| row.enabled_by_default && row.removed_in > release)
            .filter(|row| row.introduced_in.is_none_or(|first| first <= release))
            .map(|row| (row.group != group, row.api_version()));
        let mut all: Vec<_> = today.chain(then).collect();
        all.sort_by_key(|(elsewhere, _)| *elsewhere);
        all.into_iter()
            .map(|(_, api_version)| api_version)
            .collect()
    }

    /// Returns the group under which the API server stores a kind that it serves in several groups: a ReplicaSet of
    /// `extensions` is one of `apps`, with the same uid. For every other kind, that is its own group.
    pub fn identity<'g>(&'g self, group: &'g str, kind: &str) -> &'g str {
        let mut rows = self.cohabiting.iter();
        let row = rows.find(|row| row.group == group && row.kind == kind);
        row.map_or(group, |row| &row.same_as)
    }

    /// Returns the kinds that are stored in another group than their own, each with that group.
    pub fn cohabiting(&self) -> impl Iterator<Item = (GroupKind<&str>, &str)> {
        self.cohabiting
            .iter()
            .map(|row| (GroupKind::new(&row.group, &row.kind), row.same_as.as_str()))
    }

    /// Whether a group is Kubernetes' own, in any release; the core group is the empty string.
    pub fn is_builtin_group(&self, group: &str) -> bool {
        self.groups.contains(group)
    }

    /// Returns the row of a group, version and kind of the newest release.
    pub fn find(&self, group: &str, version: &str, kind: &str) -> Option<&BuiltinKind> {
        self.versions_of(GroupKind::new(group, kind))
            .find(|row| row.version == version)
    }

    /// Returns the rows of a kind of the newest release, one for each version.
    pub fn versions_of(&self, kind: GroupKind<&str>) -> impl Iterator<Item = &BuiltinKind> {
        self.named(kind.kind)
            .filter(move |row| row.group == kind.group)
    }

    /// Returns every kind of the newest release, in every version, in the order of discovery.
    pub fn resources(&self) -> impl Iterator<Item = &BuiltinKind> {
        self.kinds.iter()
    }

    /// Returns every kind that only earlier releases served.
    pub fn removed(&self) -> impl Iterator<Item = &RemovedKind> {
        self.removed.iter()
    }

    /// Finds resource arguments as kubectl does, in the order in which it prefers groups: plural, singular, kind or
    /// short name in any case, alone (`deploy`), with a group (`deployments.apps`) or with a version and a group
    /// (`deployments.v1.apps`). Without a version, only the preferred one is returned.
    pub fn by_plural_or_short_name(&self, name: &str) -> Vec<&BuiltinKind> {
        let name = name.to_ascii_lowercase();
        let (resource, qualifier) = match name.split_once('.') {
            Some((resource, qualifier)) => (resource, Some(qualifier)),
            None => (name.as_str(), None),
        };
        self.kinds
            .iter()
            .filter(|row| row.answers_to(resource) && row.is_qualified_by(qualifier))
            .collect()
    }

    fn named(&self, kind: &str) -> impl Iterator<Item = &BuiltinKind> {
        self.by_kind
            .get(kind)
            .into_iter()
            .flat_map(|named| &named.kinds)
            .filter_map(|at| self.kinds.get(*at))
    }

    fn removed_named(&self, kind: &str) -> impl Iterator<Item = &RemovedKind> {
        self.by_kind
            .get(kind)
            .into_iter()
            .flat_map(|named| &named.removed)
            .filter_map(|at| self.removed.get(*at))
    }

    /// Returns the scope of the first kind of that name, in any group and release.
    pub fn scope_of_name(&self, kind: &str) -> Option<Scope> {
        let today = self.named(kind).next().map(|row| row.scope);
        today.or_else(|| self.removed_named(kind).next().map(|row| row.scope))
    }
}

impl Introduction {
    fn is_of(&self, kind: &BuiltinKind) -> bool {
        self.group == kind.group
            && self.version == kind.version
            && (self.kind == "*" || self.kind == kind.kind)
    }
}

impl BuiltinKind {
    fn answers_to(&self, resource: &str) -> bool {
        self.plural == resource
            || self.singular == resource
            || self.kind.eq_ignore_ascii_case(resource)
            || self.short_names.iter().any(|short| short == resource)
    }

    fn is_qualified_by(&self, qualifier: Option<&str>) -> bool {
        match qualifier {
            None => self.preferred,
            Some(group) if group == self.group => self.preferred,
            Some(qualifier) => {
                qualifier.split_once('.') == Some((self.version.as_str(), self.group.as_str()))
            }
        }
    }
}

fn read<'t, T: Deserialize<'t>>(table: &'static str, text: &'t str) -> Result<T, KindTableError> {
    serde_json::from_str(text).map_err(|reason| KindTableError { table, reason })
}
