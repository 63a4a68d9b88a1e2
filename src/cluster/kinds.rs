//! The kinds that a cluster with this input serves: the built-in table of the release, kinds that the user adds, the
//! CustomResourceDefinitions in the input, and kinds of its objects. All others stay unknown `[SIM-5]`.

use std::collections::{BTreeMap, BTreeSet};

use crate::gc::{DefaultPolicy, KindInfo, KindTable};
use crate::inventory::{self, DefaultGcPolicy, ExtraKind, Inventory, Release, RemovedKind};
use crate::kube::{ApiVersion, GroupKind, Namespace, Scope, likeliest_plural, sort_versions};
use crate::manifest::CustomResourceDefinition;

/// Kinds that are served according to objects of the input alone.
#[derive(Debug, Default)]
pub(super) struct ShownKinds {
    /// Some of their objects were read from a cluster.
    pub(super) proven: BTreeSet<GroupKind>,
    /// All objects are rendered: the kind has to be installed before they are applied.
    pub(super) expected: BTreeSet<GroupKind>,
    /// Rendered objects have the kind, and only older releases served it: the cluster of these objects is older.
    pub(super) retired: BTreeSet<GroupKind>,
}

/// Builds the kind table, and returns the kinds that only objects show.
pub(super) fn kinds_of(inventory: &Inventory) -> (KindTable, ShownKinds) {
    let mut kinds = KindTable::new();
    let dumped = versions_in_dumps(inventory);
    let release = inventory.kinds.release();
    let mut rows = BTreeMap::<GroupKind<&str>, KindInfo>::new();
    for row in inventory::table()
        .resources()
        .filter(|row| row.persisted || row.gc_tracked)
    {
        let is_served =
            row.enabled_by_default || dumped.contains(&(row.api_version(), row.kind.as_str()));
        if !is_served || row.introduced_in.is_some_and(|first| first > release) {
            continue;
        }
        let kind = row.group_kind();
        let info = rows.entry(kind).or_insert_with(|| KindInfo {
            namespaced: row.scope == Scope::Namespaced,
            gc_tracked: row.gc_tracked,
            namespace_deletable: row.namespace_deletable,
            default_policy: match row.default_policy {
                DefaultGcPolicy::DeleteDependents => DefaultPolicy::DeleteDependents,
                DefaultGcPolicy::OrphanDependents => DefaultPolicy::OrphanDependents,
                DefaultGcPolicy::Unsupported => DefaultPolicy::Unsupported,
            },
            custom: false,
            ..KindInfo::custom(kind, &row.plural, true, &[])
        });
        // The preferred version comes first, because the collector watches it.
        if row.preferred {
            info.versions.insert(0, row.version.clone());
        } else {
            info.versions.push(row.version.clone());
        }
    }
    add_removed(&mut rows, release);
    let retired = add_retired(&mut rows, inventory);
    let second_groups = take_second_groups(&mut rows, &dumped);
    for info in rows.into_values() {
        kinds.add(info);
    }
    for (stored_group, info) in second_groups {
        if let Some(stored_as) = kinds.find(GroupKind::new(stored_group, &info.kind)) {
            kinds.serve_also_in(stored_as, &info.group, info.versions);
        }
    }
    for extra in inventory.kinds.extra() {
        kinds.add(extra_kind(extra, inventory));
    }
    for member in &inventory.members {
        if let Some(crd) = member.object.definition() {
            add_defined(&mut kinds, crd);
        }
    }
    let shown = add_shown(&mut kinds, inventory);
    (kinds, ShownKinds { retired, ..shown })
}

/// The facts about a kind that its objects show.
#[derive(Debug, Default)]
struct KindSightings<'a> {
    dumped: Instances<'a>,
    rendered: Instances<'a>,
}

/// Objects of one kind.
#[derive(Debug, Default)]
struct Instances<'a> {
    /// Whether a namespace is written, for each object; both values if they disagree.
    namespaced: BTreeSet<bool>,
    versions: BTreeSet<&'a str>,
}

/// Adds kinds that only objects show. An object that was read from a cluster has a kind that this cluster serves, and
/// shows its scope: a live object has its namespace written. Objects that disagree on that prove nothing.
///
/// A rendered object has a kind that will be served when it is applied, unless its group is one of Kubernetes' own: no
/// definition can add a kind there that the table does not serve `[CRD-3]`.
fn add_shown(kinds: &mut KindTable, inventory: &Inventory) -> ShownKinds {
    let mut seen = BTreeMap::<GroupKind<&str>, KindSightings<'_>>::new();
    for member in inventory.members.iter().filter(|member| member.decodes()) {
        let kind = member.key.group_kind();
        let can_be_served = member.from_dump || !inventory::table().is_builtin_group(kind.group);
        if can_be_served && kinds.find(kind).is_none() {
            let sightings = seen.entry(kind).or_default();
            let instances = if member.from_dump {
                &mut sightings.dumped
            } else {
                &mut sightings.rendered
            };
            instances
                .namespaced
                .insert(member.key.namespace.name().is_some());
            instances
                .versions
                .insert(member.object.group_version().version.as_str());
        }
    }
    let scope_matters = owners_of_settled_scope(inventory, &seen);
    let mut shown = ShownKinds::default();
    for (kind, KindSightings { dumped, rendered }) in seen {
        if dumped.namespaced.len() == 1 {
            let namespaced = dumped.namespaced.contains(&true);
            let plural = likeliest_plural(kind.kind);
            kinds.add(seen_in(kind, &plural, namespaced, &dumped));
            shown.proven.insert(kind.to_owned());
        } else if dumped.versions.is_empty()
            && (rendered.namespaced.contains(&true) || !scope_matters.contains(&kind.to_owned()))
        {
            // `kubectl` accepts the singular; a plural would be a guess.
            kinds.add(seen_in(kind, &kind.kind.to_lowercase(), true, &rendered));
            shown.expected.insert(kind.to_owned());
        }
    }
    shown
}

/// Creates a kind without a definition in the input.
fn seen_in(
    kind: GroupKind<&str>,
    plural: &str,
    namespaced: bool,
    instances: &Instances<'_>,
) -> KindInfo {
    let versions: Vec<&str> = instances.versions.iter().copied().collect();
    KindInfo {
        open_versions: true,
        ..KindInfo::custom(kind, plural, namespaced, &versions)
    }
}

/// Returns kinds that an object with known namespace names as its owner. Where such an owner lives depends on the scope
/// of its kind, and a rendering without a written namespace does not show the scope.
fn owners_of_settled_scope(
    inventory: &Inventory,
    seen: &BTreeMap<GroupKind<&str>, KindSightings<'_>>,
) -> BTreeSet<GroupKind> {
    let mut owners = BTreeSet::new();
    let members = inventory.members.iter();
    for member in members.filter(|member| member.key.namespace != Namespace::Unwritten) {
        for reference in &member.object.metadata().owner_references().entries {
            let group = reference.group_version().group;
            let kind = GroupKind::new(group, reference.kind());
            if seen.contains_key(&kind) {
                owners.insert(kind.to_owned());
            }
        }
    }
    owners
}

/// Adds kinds that were removed in a release later than this one.
fn add_removed(rows: &mut BTreeMap<GroupKind<&str>, KindInfo>, release: Release) {
    let removed = inventory::table()
        .removed()
        .filter(|row| row.enabled_by_default && row.removed_in > release);
    for row in removed.filter(|row| row.introduced_in.is_none_or(|first| first <= release)) {
        add_version(rows, row);
    }
}

/// Adds kinds that only older releases serve, if rendered objects have them, and returns them.
fn add_retired<'t>(
    rows: &mut BTreeMap<GroupKind<&'t str>, KindInfo>,
    inventory: &Inventory,
) -> BTreeSet<GroupKind> {
    let table = inventory::table();
    let rendered = inventory.members.iter().filter(|member| !member.from_dump);
    let rendered: BTreeSet<GroupKind<&str>> =
        rendered.map(|member| member.key.group_kind()).collect();
    let retired = table.removed().filter(|row| {
        let kind = GroupKind::new(&row.group, &row.kind);
        rendered.contains(&kind)
            && !rows.contains_key(&kind)
            && table.cohabiting().all(|(second, _)| second != kind)
    });
    let retired: Vec<&'t RemovedKind> = retired.collect();
    let mut kinds = BTreeSet::new();
    for row in retired {
        add_version(rows, row);
        kinds.insert(GroupKind::new(&row.group, &row.kind).to_owned());
    }
    kinds
}

fn add_version<'t>(rows: &mut BTreeMap<GroupKind<&'t str>, KindInfo>, row: &'t RemovedKind) {
    let kind = GroupKind::new(row.group.as_str(), row.kind.as_str());
    let info = rows.entry(kind).or_insert_with(|| KindInfo {
        custom: false,
        ..KindInfo::custom(kind, &row.plural, row.scope == Scope::Namespaced, &[])
    });
    if !info.versions.contains(&row.version) {
        info.versions.push(row.version.clone());
    }
}

/// Removes and returns the kinds that are stored under another group, each with that group and all served versions.
fn take_second_groups<'t>(
    rows: &mut BTreeMap<GroupKind<&'t str>, KindInfo>,
    dumped: &BTreeSet<(String, &str)>,
) -> Vec<(&'t str, KindInfo)> {
    let second = inventory::table().cohabiting().map(|(kind, stored_group)| {
        let mut info = rows
            .remove(&kind)
            .unwrap_or_else(|| KindInfo::custom(kind, &likeliest_plural(kind.kind), true, &[]));
        let written = dumped
            .iter()
            .filter(|(_, dumped_kind)| *dumped_kind == kind.kind);
        let versions = written
            .map(|(api_version, _)| ApiVersion::split(api_version))
            .filter(|version| version.group == kind.group);
        info.versions
            .extend(versions.map(|version| version.version.to_owned()));
        (stored_group, info)
    });
    second.collect()
}

/// Returns the (apiVersion, kind) pairs that objects of a dump prove to be served, by default or not.
fn versions_in_dumps(inventory: &Inventory) -> BTreeSet<(String, &str)> {
    let dumped = inventory.members.iter().filter(|member| member.from_dump);
    dumped
        .map(|member| (member.object.api_version().to_owned(), member.object.kind()))
        .collect()
}

/// Creates a kind that the user adds. If no versions are given, all versions in the input are served.
fn extra_kind(extra: &ExtraKind, inventory: &Inventory) -> KindInfo {
    let kind = GroupKind::new(&extra.group, &extra.kind);
    let mut versions: BTreeSet<String> = extra.versions.iter().cloned().collect();
    let members = inventory.members.iter();
    for member in members.filter(|_| extra.versions.is_empty()) {
        if member.object.is(kind) {
            versions.insert(member.object.group_version().version.to_string());
        }
        for reference in &member.object.metadata().owner_references().entries {
            let named = reference.group_version();
            if reference.kind() == extra.kind && named.group == extra.group {
                versions.insert(named.version.to_owned());
            }
        }
    }
    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
    KindInfo::custom(
        kind,
        &likeliest_plural(kind.kind),
        extra.scope == Scope::Namespaced,
        &versions,
    )
}

/// Adds the kind of a definition with the versions of other copies; a built-in kind is not replaced `[CRD-3]`.
fn add_defined(kinds: &mut KindTable, crd: &CustomResourceDefinition) {
    let facts = super::facts::definition(crd, None);
    let kind = GroupKind::new(&facts.group, &facts.kind);
    let known = kinds.find(kind).map(|id| kinds.get(id).clone());
    if known.as_ref().is_some_and(|known| !known.custom) {
        return;
    }
    let served: Vec<&str> = facts.served.iter().map(String::as_str).collect();
    let mut info = KindInfo::custom(kind, &facts.plural, facts.namespaced, &served);
    for version in known.into_iter().flat_map(|known| known.versions) {
        if !info.versions.contains(&version) {
            info.versions.push(version);
        }
    }
    sort_versions(&mut info.versions);
    kinds.add(info);
}
