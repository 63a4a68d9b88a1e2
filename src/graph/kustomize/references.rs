//! References to objects that a build renames (kustomize api/filters/nameref,
//! api/internal/konfig/builtinpluginconsts/namereference.go).

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use smol_str::SmolStr;

use super::build::{Build, Built, Outcome};
use super::doc::KustomizationDoc;
use super::namespaced::ChangedMaps;
use super::resource::Resource;
use crate::graph::node::Node;

/// A field that names objects: the kind of the objects, the kind that has the field, and its path. An empty group is any.
type NameField = (
    (&'static str, &'static str),
    (&'static str, &'static str),
    &'static str,
);

/// The kinds with the spec of a Pod, its path, whether kustomize renames its references to
/// ConfigMaps and Secrets, and whether it renames its other references.
const WITH_PODS: [(&str, &str, bool, bool); 9] = [
    ("Pod", "spec/", true, true),
    ("PodTemplate", "template/spec/", true, false),
    ("Deployment", "spec/template/spec/", true, true),
    ("ReplicaSet", "spec/template/spec/", true, false),
    ("DaemonSet", "spec/template/spec/", true, true),
    ("StatefulSet", "spec/template/spec/", true, true),
    ("Job", "spec/template/spec/", true, true),
    (
        "CronJob",
        "spec/jobTemplate/spec/template/spec/",
        true,
        true,
    ),
    ("ReplicationController", "spec/template/spec/", false, true),
];

/// The fields of Pods that name ConfigMaps and Secrets, below the spec.
const POD_DATA: [(&str, &str); 13] = [
    ("ConfigMap", "volumes/configMap/name"),
    ("ConfigMap", "volumes/projected/sources/configMap/name"),
    ("ConfigMap", "containers/env/valueFrom/configMapKeyRef/name"),
    (
        "ConfigMap",
        "initContainers/env/valueFrom/configMapKeyRef/name",
    ),
    ("ConfigMap", "containers/envFrom/configMapRef/name"),
    ("ConfigMap", "initContainers/envFrom/configMapRef/name"),
    ("Secret", "volumes/secret/secretName"),
    ("Secret", "volumes/projected/sources/secret/name"),
    ("Secret", "containers/env/valueFrom/secretKeyRef/name"),
    ("Secret", "initContainers/env/valueFrom/secretKeyRef/name"),
    ("Secret", "containers/envFrom/secretRef/name"),
    ("Secret", "initContainers/envFrom/secretRef/name"),
    ("Secret", "imagePullSecrets/name"),
];

/// The other fields of Pods that name objects, below the spec.
const POD_OTHERS: [(&str, &str); 3] = [
    ("ServiceAccount", "serviceAccountName"),
    (
        "PersistentVolumeClaim",
        "volumes/persistentVolumeClaim/claimName",
    ),
    ("PriorityClass", "priorityClassName"),
];

const RBAC: &str = "rbac.authorization.k8s.io";

/// The fields of other objects. Annotations are left out; [`ChangedMaps`] has the fields that also name a namespace.
const FIELDS: [NameField; 31] = [
    (("", "Deployment"), ("", "HorizontalPodAutoscaler"), SCALED),
    (
        ("", "ReplicationController"),
        ("", "HorizontalPodAutoscaler"),
        SCALED,
    ),
    (("", "ReplicaSet"), ("", "HorizontalPodAutoscaler"), SCALED),
    (("", "StatefulSet"), ("", "HorizontalPodAutoscaler"), SCALED),
    (("", "ConfigMap"), ("", "Role"), "rules/resourceNames"),
    (
        ("", "ConfigMap"),
        ("", "ClusterRole"),
        "rules/resourceNames",
    ),
    (("", "Secret"), ("", "Role"), "rules/resourceNames"),
    (("", "Secret"), ("", "ClusterRole"), "rules/resourceNames"),
    (("", "Secret"), ("", "Ingress"), "spec/tls/secretName"),
    (
        ("", "Secret"),
        ("", "ServiceAccount"),
        "imagePullSecrets/name",
    ),
    (
        ("", "Secret"),
        ("", "StorageClass"),
        "parameters/secretName",
    ),
    (
        ("", "Secret"),
        ("", "StorageClass"),
        "parameters/adminSecretName",
    ),
    (
        ("", "Secret"),
        ("", "StorageClass"),
        "parameters/userSecretName",
    ),
    (("", "Secret"), ("", "StorageClass"), "parameters/secretRef"),
    (
        ("", "Secret"),
        ("", "PersistentVolume"),
        "spec/azureFile/secretName",
    ),
    (("", "Service"), ("apps", "StatefulSet"), "spec/serviceName"),
    (
        ("", "Service"),
        ("", "Ingress"),
        "spec/rules/http/paths/backend/serviceName",
    ),
    (("", "Service"), ("", "Ingress"), "spec/backend/serviceName"),
    (
        ("", "Service"),
        ("", "Ingress"),
        "spec/rules/http/paths/backend/service/name",
    ),
    (
        ("", "Service"),
        ("", "Ingress"),
        "spec/defaultBackend/service/name",
    ),
    (
        ("", "Service"),
        ("apiregistration.k8s.io", "APIService"),
        "spec/service/name",
    ),
    (
        ("", "Service"),
        ("", "HTTPRoute"),
        "spec/rules/backendRefs/name",
    ),
    (
        ("", "PersistentVolume"),
        ("", "ClusterRole"),
        "rules/resourceNames",
    ),
    ((RBAC, "Role"), (RBAC, "RoleBinding"), ROLE),
    ((RBAC, "ClusterRole"), (RBAC, "RoleBinding"), ROLE),
    ((RBAC, "ClusterRole"), (RBAC, "ClusterRoleBinding"), ROLE),
    (
        ("", "PersistentVolume"),
        ("", "PersistentVolumeClaim"),
        "spec/volumeName",
    ),
    (
        ("storage.k8s.io", "StorageClass"),
        ("", "PersistentVolume"),
        CLASS,
    ),
    (
        ("storage.k8s.io", "StorageClass"),
        ("", "PersistentVolumeClaim"),
        CLASS,
    ),
    (
        ("storage.k8s.io", "StorageClass"),
        ("", "StatefulSet"),
        "spec/volumeClaimTemplates/spec/storageClassName",
    ),
    (
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        (
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicyBinding",
        ),
        "spec/policyName",
    ),
];

const SCALED: &str = "spec/scaleTargetRef/name";
const ROLE: &str = "roleRef/name";
const CLASS: &str = "spec/storageClassName";

/// A field of an object that names others.
struct Field {
    /// The group and the kind of the others.
    to: (&'static str, &'static str),
    path: Vec<&'static str>,
}

/// Returns the fields of an object that may name others.
fn fields_of(resource: &Resource) -> Vec<Field> {
    let id = resource.id();
    let mut found = Vec::new();
    for (kind, spec, has_data, has_others) in WITH_PODS {
        let data = POD_DATA.iter().filter(|_| has_data);
        let others = POD_OTHERS.iter().filter(|_| has_others);
        if id.kind == kind {
            found.extend(data.chain(others).map(|(to, path)| Field {
                to: ("", *to),
                path: spec.split_terminator('/').chain(path.split('/')).collect(),
            }));
        }
    }
    for (to, (group, kind), path) in FIELDS {
        let is_of_role = path != ROLE || resource.node.str_at(&["roleRef", "kind"]) == Some(to.1);
        if id.kind == kind && (group.is_empty() || id.group == group) && is_of_role {
            let path = path.split('/').collect();
            found.push(Field { to, path });
        }
    }
    found
}

/// The new names of referenced objects, by the names in the references.
type NewNames = HashMap<SmolStr, SmolStr>;

/// A kind, an earlier name, and a namespace or `None` for all.
type EarlierName = (SmolStr, SmolStr, Option<SmolStr>);

/// The objects of a build whose names or namespaces changed.
pub(super) struct Renamed<'r> {
    all: HashMap<EarlierName, Vec<&'r Resource>>,
    /// Whether any name changed, and not only namespaces.
    has_new_names: bool,
}

impl<'r> Renamed<'r> {
    fn of(resources: &'r [Resource]) -> Self {
        let mut all: HashMap<EarlierName, Vec<&Resource>> = HashMap::default();
        let mut has_new_names = false;
        for resource in resources.iter().filter(|one| !one.previous.is_empty()) {
            let now = resource.id();
            let namespace = SmolStr::new(now.effective_namespace());
            for id in resource.previous.iter() {
                has_new_names |= id.name != now.name;
                for namespace in [None, Some(namespace.clone())] {
                    let key = (id.kind.clone(), id.name.clone(), namespace);
                    let named = all.entry(key).or_default();
                    let last = named.last();
                    if last.is_none_or(|last| !std::ptr::eq(*last, resource)) {
                        named.push(resource);
                    }
                }
            }
        }
        Self { all, has_new_names }
    }

    /// Returns the fields of an object with references that change, each with the new names by the old ones.
    fn references_of(&self, resource: &Resource) -> Vec<(Vec<&'static str>, NewNames)> {
        let mut found = Vec::new();
        let fields = if self.has_new_names {
            fields_of(resource)
        } else {
            Vec::new()
        };
        for Field { to, path } in fields {
            let mut names = HashSet::default();
            texts(&resource.node, &path, &mut names);
            let names = names.into_iter().filter_map(|name| {
                let new = self.target(resource, to, &name)?.id().name;
                (new != name).then_some((name, new))
            });
            let names: NewNames = names.collect();
            if !names.is_empty() {
                found.push((path, names));
            }
        }
        found
    }

    /// Returns the object that `from` means by the name of an object of the kind `to` (nameref.go, selectReferral).
    fn target(
        &self,
        from: &Resource,
        to: (&'static str, &'static str),
        name: &SmolStr,
    ) -> Option<&'r Resource> {
        const NO_NAMESPACE: &str = "_non_namespaceable_";
        let here = from.id();
        let here = here.effective_namespace();
        let namespaces = if here == NO_NAMESPACE || to.1 == "ServiceAccount" {
            vec![None]
        } else {
            vec![Some(here), Some(NO_NAMESPACE)]
        };
        let keys = namespaces
            .into_iter()
            .map(|namespace| (to.1.into(), name.clone(), namespace.map(SmolStr::from)));
        let named = keys.filter_map(|key| self.all.get(&key)).flatten().copied();
        let found = named.filter(|one| to.0.is_empty() || one.id().group == to.0);
        let found = fitting(from, found.collect());
        let first = *found.first()?;
        let name = first.id().name;
        let are_same = found.iter().all(|one| one.id().name == name);
        are_same.then_some(first)
    }

    /// Returns the object of the kind `to` that `from` means by a map with a name and a namespace (nameref.go,
    /// filterMapCandidatesByNamespace). Original namespaces are compared first, then current ones.
    pub(super) fn target_of_map(
        &self,
        from: &Resource,
        to: &str,
        (name, namespace): (&SmolStr, Option<&str>),
    ) -> Option<&'r Resource> {
        let mut found = self.all.get(&(to.into(), name.clone(), None))?.clone();
        if let Some(namespace) = namespace {
            let (original, others): (Vec<_>, Vec<_>) = found
                .into_iter()
                .partition(|one| one.original().effective_namespace() == namespace);
            found = if original.is_empty() {
                others
            } else {
                original
            };
            found.retain(|one| {
                [one.original(), one.id()]
                    .iter()
                    .any(|id| id.effective_namespace() == namespace)
            });
        }
        let found = fitting(from, found);
        let first = *found.first()?;
        let are_same = found.iter().all(|one| one.id().key() == first.id().key());
        are_same.then_some(first)
    }
}

/// Filters `found` for the objects whose prefixes and suffixes fit those of `from` best.
fn fitting<'r>(from: &Resource, mut found: Vec<&'r Resource>) -> Vec<&'r Resource> {
    if found.len() > 1 {
        let own = Affixes::of(from);
        found.retain(|one| own.fit(&Affixes::of(one), true));
        if found.len() > 1 {
            found.retain(|one| own.fit(&Affixes::of(one), false));
        }
    }
    found
}

/// The prefixes and suffixes that a build adds to a name.
#[derive(Default)]
struct Affixes {
    prefix: String,
    suffix: String,
}

impl Affixes {
    fn of(resource: &Resource) -> Self {
        let last = resource.previous.last().filter(|_| resource.needs_hash);
        let name = last.map_or_else(|| resource.id().name, |id| id.name.clone());
        let original = resource.original().name;
        let around = name.split_once(original.as_str());
        let (prefix, suffix) = around.unwrap_or_default();
        Self {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
        }
    }

    /// Whether two names may come from one level of kustomizations: their outer prefixes and
    /// suffixes are equal. With `allows_none`, names without any fit all others.
    fn fit(&self, other: &Self, allows_none: bool) -> bool {
        let none = |one: &str, other: &str| match (one.is_empty(), other.is_empty()) {
            (false, false) => None,
            (true, true) => Some(true),
            _ => Some(allows_none),
        };
        let (one, two) = (&self.prefix, &other.prefix);
        let prefix = one.starts_with(two.as_str()) || two.starts_with(one.as_str());
        let prefix = none(one, two).unwrap_or(prefix);
        let (one, two) = (&self.suffix, &other.suffix);
        let suffix = one.ends_with(two.as_str()) || two.ends_with(one.as_str());
        prefix && none(one, two).unwrap_or(suffix)
    }
}

impl Build<'_> {
    /// Renames references to objects whose names or namespaces the build changed.
    pub(super) fn references(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        let renamed = Renamed::of(&built.resources);
        if renamed.all.is_empty() {
            return Ok(());
        }
        let all = built.resources.iter().enumerate();
        let changed: Vec<_> = all
            .map(|(at, resource)| {
                let maps = ChangedMaps::of(&renamed, resource);
                (at, renamed.references_of(resource), maps)
            })
            .filter(|(_, references, maps)| !references.is_empty() || !maps.is_empty())
            .collect();
        for (at, references, maps) in changed {
            let names = references.iter().flat_map(|(_, names)| names.values());
            let new = names.chain(maps.iter().flat_map(ChangedMaps::texts));
            let new: Vec<&SmolStr> = new.collect();
            self.take_text(doc, None, new.iter().map(|text| text.len()).sum(), 1)?;
            let resource = &mut built.resources_mut()[at];
            let known = resource.references.iter().chain(new).cloned();
            resource.references = Arc::new(known.collect::<BTreeSet<SmolStr>>());
            for (path, names) in &references {
                rename(&mut resource.node, path, names);
            }
            for map in &maps {
                map.apply(resource);
            }
        }
        Ok(())
    }
}

/// Collects the texts at a path below a value.
fn texts(node: &Node, path: &[&str], found: &mut HashSet<SmolStr>) {
    visit(node, path, &mut |value| {
        found.extend(value.as_str().map(SmolStr::from));
    });
}

/// Replaces names in the references at a path below a value.
fn rename(node: &mut Node, path: &[&str], names: &NewNames) {
    let mut found = HashSet::default();
    texts(node, path, &mut found);
    if !found.iter().any(|name| names.contains_key(name)) {
        return;
    }
    change(node, path, &mut |value| {
        if let Some(new) = value.as_str().and_then(|name| names.get(name)) {
            *value = Node::text(new.as_str());
        }
    });
}

/// Calls `look` with each value at a path, in each item of the lists on the path or at its end.
pub(super) fn visit(node: &Node, path: &[&str], look: &mut impl FnMut(&Node)) {
    if node.is_seq() {
        for item in node.items() {
            visit(&item, path, look);
        }
    } else if let Some((first, rest)) = path.split_first() {
        if let Some(value) = node.get(first) {
            visit(&value, rest, look);
        }
    } else {
        look(node);
    }
}

/// Calls `edit` with each value that [`visit`] finds.
pub(super) fn change(node: &mut Node, path: &[&str], edit: &mut impl FnMut(&mut Node)) {
    if node.is_seq() {
        for item in node.seq_mut() {
            change(item, path, edit);
        }
    } else if let Some((first, rest)) = path.split_first() {
        if node.get(first).is_some() {
            change(node.entry_mut(first), rest, edit);
        }
    } else {
        edit(node);
    }
}
