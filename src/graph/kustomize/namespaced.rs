//! References that name a namespace, too: fields that a change of the namespace sets (kustomize api/filters/namespace),
//! and maps that get the name and the namespace of the object that they mean (api/filters/nameref/nameref.go, setMapping).

use foldhash::{HashMap, HashSet};
use smol_str::SmolStr;

use super::references::{Renamed, change, visit};
use super::resource::Resource;
use crate::graph::node::Node;

const ADMISSION: &str = "admissionregistration.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

/// Maps with the name and the namespace of an object: its kind, the group and the kind with the
/// map, and the path of the map.
const MAPS: [(&str, (&str, &str), &[&str]); 4] = [
    ("ServiceAccount", (RBAC, "RoleBinding"), SUBJECTS),
    ("ServiceAccount", (RBAC, "ClusterRoleBinding"), SUBJECTS),
    (
        "Service",
        (ADMISSION, "ValidatingWebhookConfiguration"),
        WEBHOOKS,
    ),
    (
        "Service",
        (ADMISSION, "MutatingWebhookConfiguration"),
        WEBHOOKS,
    ),
];

const SUBJECTS: &[&str] = &["subjects"];
const WEBHOOKS: &[&str] = &["webhooks", "clientConfig", "service"];

/// Maps that get the `namespace` of the kustomization: the group and the kind with the map, the
/// path of the map, and whether a missing namespace is added.
const SET: [((&str, &str), &[&str], bool); 2] = [
    (
        ("apiregistration.k8s.io", "APIService"),
        &["spec", "service"],
        true,
    ),
    (
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        &["spec", "conversion", "webhook", "clientConfig", "service"],
        false,
    ),
];

/// A name and a namespace in a map; `None` if the map has no namespace.
type NameRef = (SmolStr, Option<SmolStr>);

/// The maps of an object that change.
pub(super) struct ChangedMaps {
    path: &'static [&'static str],
    /// Their new contents by the old ones.
    new: HashMap<NameRef, NameRef>,
}

impl ChangedMaps {
    /// Finds the maps of `from` that name objects with a new name or namespace.
    pub(super) fn of(renamed: &Renamed<'_>, from: &Resource) -> Vec<Self> {
        let id = from.id();
        let maps = MAPS.iter();
        let maps = maps.filter(|(_, (group, kind), _)| id.group == *group && id.kind == *kind);
        let changed = maps.filter_map(|(to, _, path)| {
            let mut found = HashSet::default();
            visit(&from.node, path, &mut |map| found.extend(named(map)));
            let new = found.into_iter().filter_map(|old| {
                let target = renamed
                    .target_of_map(from, to, (&old.0, old.1.as_deref()))?
                    .id();
                let namespace = Some(target.namespace).filter(|one| !one.is_empty());
                let new = (target.name, namespace.or_else(|| old.1.clone()));
                (new != old).then_some((old, new))
            });
            let new: HashMap<NameRef, NameRef> = new.collect();
            (!new.is_empty()).then_some(Self { path, new })
        });
        changed.collect()
    }

    /// Returns the new names and namespaces.
    pub(super) fn texts(&self) -> impl Iterator<Item = &SmolStr> {
        let new = self.new.values();
        new.flat_map(|(name, namespace)| [Some(name), namespace.as_ref()])
            .flatten()
    }

    /// Changes the maps in `resource`.
    pub(super) fn apply(&self, resource: &mut Resource) {
        change(&mut resource.node, self.path, &mut |map| {
            let Some((name, namespace)) = named(map).and_then(|old| self.new.get(&old)) else {
                return;
            };
            map.set("name", Node::text(name.as_str()));
            if let Some(namespace) = namespace {
                map.set("namespace", Node::text(namespace.as_str()));
            }
        });
    }
}

fn named(map: &Node) -> Option<NameRef> {
    let name = SmolStr::from(map.str_at(&["name"])?);
    Some((name, map.str_at(&["namespace"]).map(SmolStr::from)))
}

/// Sets the `namespace` of a kustomization in the maps of an object that [`SET`] lists and in
/// subjects called `default` of bindings, but not in its metadata. Returns whether any was set.
pub(super) fn set_namespaces(
    node: &mut Node,
    (group, kind): (&str, &str),
    namespace: &str,
) -> bool {
    let mut is_set = false;
    if matches!(kind, "RoleBinding" | "ClusterRoleBinding") && has_default_account(node) {
        change(node, SUBJECTS, &mut |subject| {
            if subject.str_at(&["name"]) == Some("default") {
                subject.set("namespace", Node::text(namespace));
                is_set = true;
            }
        });
    }
    for (of, path, is_added) in SET {
        let written = node.at(path).filter(Node::is_map);
        if of == (group, kind)
            && written.is_some_and(|map| is_added || map.get("namespace").is_some())
        {
            change(node, path, &mut |map| {
                map.set("namespace", Node::text(namespace));
            });
            is_set = true;
        }
    }
    is_set
}

fn has_default_account(binding: &Node) -> bool {
    let mut found = false;
    visit(binding, SUBJECTS, &mut |subject| {
        found |= subject.str_at(&["name"]) == Some("default");
    });
    found
}
