//! The objects that names in other objects refer to: owners, used objects, users and dependents.

use super::asked::{AskedBundle, Instance, View};
use crate::changes::Destination;
use crate::kube::{GroupKind, ObjectKey, kinds};
use crate::kustomize::ancestors;
use crate::ownership::{Owner, OwnerEdge, Tie, TieKind, instances_of};

/// The length of the hash that kustomize appends to the names of generated objects.
const HASH: usize = 10;

impl AskedBundle<'_> {
    /// Returns the objects that `key` in `from` refers to: those of its build, else those of its
    /// cluster, else those beyond it. Of several, returns the nearest.
    pub(super) fn targets<'c>(&'c self, from: Instance<'c>, key: &ObjectKey) -> Vec<Instance<'c>> {
        let built = in_build(from, key);
        if !built.is_empty() {
            return built;
        }
        let mut found = from.view.named(key);
        if found.is_empty() {
            let beyond = self.beyond(from.view).into_iter();
            found = beyond.flat_map(|view| view.named(key)).collect();
        }
        keep_if_any(&mut found, |one| one.member.key == *key);
        nearest(from, found)
    }

    /// Returns the objects that an owner reference of `from` refers to: those that the collector
    /// finds, else those of the same name.
    pub(super) fn owners<'c>(&'c self, from: Instance<'c>, edge: &OwnerEdge) -> Vec<Instance<'c>> {
        let inventory = from.view.inventory();
        match edge.owner {
            Owner::ByUid(id) | Owner::ByName(id) => self.targets(from, &inventory.member(id).key),
            Owner::Elsewhere => {
                let reference = edge.reference(inventory);
                let group = reference.group_version().group;
                let named = inventory.with_name(group, reference.kind(), reference.name());
                let named = named.iter().map(|id| from.view.instance(*id));
                nearest(from, named.collect())
            }
            // In a dump, a namesake with another uid is another object.
            Owner::Absent if from.member.from_dump => Vec::new(),
            Owner::Absent => {
                let reference = edge.reference(inventory);
                let key = inventory.owner_key(from.member, reference);
                let key = key.unwrap_or_else(|| {
                    let group = reference.group_version().group;
                    let kind = GroupKind::new(group, reference.kind());
                    ObjectKey::new(kind, from.member.key.namespace.clone(), reference.name())
                });
                self.targets(from, &key)
            }
        }
    }

    /// Returns the objects that use `target` in its cluster.
    pub(super) fn users<'c>(&'c self, target: Instance<'c>) -> Vec<Instance<'c>> {
        self.users_in(target.view, target)
    }

    fn users_in<'c>(&'c self, view: View<'c>, target: Instance<'c>) -> Vec<Instance<'c>> {
        let relations = self.relations(view);
        let ties = relations.ties().all().iter();
        let users = ties.filter(|tie| is_use_of(tie, target)).filter(|tie| {
            let found = self.targets(view.instance(tie.from), &tie.to.key);
            found.iter().any(|one| one.is(target))
        });
        users.map(|tie| view.instance(tie.from)).collect()
    }

    /// Returns the objects that use an object that the input does not contain, in a cluster.
    pub(super) fn users_of_absent<'c>(
        &'c self,
        view: View<'c>,
        key: &ObjectKey,
    ) -> Vec<Instance<'c>> {
        let relations = self.relations(view);
        let users = relations.ties().users_of(key);
        users.map(|tie| view.instance(tie.from)).collect()
    }

    /// Returns the objects for which controllers create the object that `from` calls `key`.
    pub(super) fn makers<'c>(&'c self, from: Instance<'c>, key: &ObjectKey) -> Vec<Instance<'c>> {
        for view in self.with_beyond(from.view) {
            let relations = self.relations(view);
            let ties = relations.ties().all().iter();
            let makers = ties.filter(|tie| {
                tie.kind != TieKind::Uses
                    && is_namesake(&tie.to.key, key)
                    && !tie.to.key.namespace.certainly_differs(&key.namespace)
            });
            let makers: Vec<_> = makers.map(|tie| view.instance(tie.from)).collect();
            if !makers.is_empty() {
                return nearest(from, makers);
            }
        }
        Vec::new()
    }

    /// Returns the objects that name `target` as their owner or use it, in its cluster and beyond.
    pub(super) fn dependents<'c>(&'c self, target: Instance<'c>) -> Vec<Instance<'c>> {
        let views = self.with_beyond(target.view).into_iter();
        let all = views.flat_map(|view| {
            let mut found = self.owned_in(view, target);
            found.extend(self.users_in(view, target));
            found
        });
        all.collect()
    }

    fn owned_in<'c>(&'c self, view: View<'c>, target: Instance<'c>) -> Vec<Instance<'c>> {
        let relations = self.relations(view);
        let key = &target.member.key;
        let owned = relations.owners().iter().filter(|edge| {
            if edge.owner == Owner::Elsewhere {
                return false;
            }
            // A reference that matches by uid may have any kind and name.
            let reference = edge.reference(view.inventory());
            let may_be = matches!(edge.owner, Owner::ByUid(_))
                || (reference.kind() == key.kind() && *reference.name() == *key.name);
            may_be && {
                let owners = self.owners(view.instance(edge.dependent), edge);
                owners.iter().any(|one| one.is(target))
            }
        });
        owned.map(|edge| view.instance(edge.dependent)).collect()
    }

    /// Returns the content of a Namespace, or the objects of the kind that a CRD defines, in its cluster and beyond.
    pub(super) fn content<'c>(&'c self, object: Instance<'c>) -> Vec<Instance<'c>> {
        let (key, definition) = (&object.member.key, object.member.object.definition());
        if !key.is(kinds::NAMESPACE) && definition.is_none() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for view in self.with_beyond(object.view) {
            let inventory = view.inventory();
            if key.is(kinds::NAMESPACE) {
                let contained = inventory.in_namespace(&key.name).iter();
                found.extend(contained.map(|id| view.instance(*id)));
            }
            if let Some(crd) = definition {
                let instances = instances_of(inventory, crd.group_kind());
                found.extend(instances.map(|member| Instance { view, member }));
            }
        }
        found
    }

    /// Returns the cluster in which a Namespace is deleted for an object of `own`: `own` or, if
    /// nothing applies the object, a cluster that has the namespace.
    pub(super) fn view_with_namespace<'c>(
        &'c self,
        own: View<'c>,
        namespace: &ObjectKey,
    ) -> View<'c> {
        if own.cluster.is_applied() {
            return own;
        }
        let mut others = self.beyond(own).into_iter();
        let found = others.find(|view| {
            let inventory = view.inventory();
            !inventory.with_key(namespace).is_empty()
                || !inventory.in_namespace(&namespace.name).is_empty()
        });
        found.unwrap_or(own)
    }
}

/// Whether two keys differ at most in their namespaces.
fn is_namesake(one: &ObjectKey, other: &ObjectKey) -> bool {
    one.name == other.name && one.group_kind() == other.group_kind()
}

/// Whether a tie may refer to `target`: by its name, or by the name from which a build made it.
fn is_use_of(tie: &Tie, target: Instance<'_>) -> bool {
    let (key, named) = (&target.member.key, &tie.to.key);
    tie.kind == TieKind::Uses
        && named.group_kind() == key.group_kind()
        && (key.name == named.name
            || target.member.object.name().as_deref() == Some(&*named.name)
            || (target.is_generated() && key.name.contains(&*named.name)))
}

/// Returns the objects of the build of `from` that are written under the name of `key`: kustomize
/// renames them and the references to them.
fn in_build<'c>(from: Instance<'c>, key: &ObjectKey) -> Vec<Instance<'c>> {
    let Some(Destination::Root { .. }) = from.destination() else {
        return Vec::new();
    };
    let inventory = from.view.inventory();
    let of_kind = inventory.of_kind(key.group_kind());
    let of_kind = of_kind.map(|member| Instance {
        view: from.view,
        member,
    });
    let built = built_name(from, &key.name);
    let mut found: Vec<_> = of_kind
        .filter(|one| {
            let name = &one.member.key.name;
            let is_called = if one.is_generated() {
                *name == *built || without_hash(name) == Some(&*built)
            } else {
                one.member.object.name().as_deref() == Some(&*key.name)
            };
            is_called
                && !one.member.key.namespace.certainly_differs(&key.namespace)
                && one.is_built_with(from)
        })
        .collect();
    // A build may contain a base several times, with a prefix each.
    keep_if_any(&mut found, |one| {
        one.is_generated() || *one.member.key.name == *built
    });
    found
}

/// Returns `name` with the prefix and the suffix that the build gives to the name of `from`.
fn built_name(from: Instance<'_>, name: &str) -> String {
    let (built, written) = (&from.member.key.name, from.member.object.name());
    let around = written.and_then(|written| built.split_once(&*written));
    let (prefix, suffix) = around.unwrap_or_default();
    format!("{prefix}{name}{suffix}")
}

/// Returns the name of a generated object without the hash of its content.
fn without_hash(name: &str) -> Option<&str> {
    let (rest, hash) = name.rsplit_once('-')?;
    (hash.len() == HASH).then_some(rest)
}

/// Removes the objects for which `is_preferred` does not hold, if it holds for any.
fn keep_if_any<'c>(found: &mut Vec<Instance<'c>>, is_preferred: impl Fn(&Instance<'c>) -> bool) {
    if found.iter().any(&is_preferred) {
        found.retain(is_preferred);
    }
}

/// Keeps the objects of the build of `from`, if any, and of these the ones with the nearest files.
fn nearest<'c>(from: Instance<'c>, mut found: Vec<Instance<'c>>) -> Vec<Instance<'c>> {
    if found.len() < 2 {
        return found;
    }
    keep_if_any(&mut found, |one| {
        one.view.at == from.view.at && one.destination() == from.destination()
    });
    let most = found
        .iter()
        .map(|one| common_folders(from.path(), one.path()));
    let most = most.max().unwrap_or_default();
    found.retain(|one| common_folders(from.path(), one.path()) == most);
    found
}

/// Returns the path length of the innermost folder that contains both files; a file contains
/// itself.
fn common_folders(one: &str, other: &str) -> usize {
    let mut folders = ancestors(one);
    let shared = folders.find(|folder| {
        let rest = other.strip_prefix(folder);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    shared.map_or(0, str::len)
}
