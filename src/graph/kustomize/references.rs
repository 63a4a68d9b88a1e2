//! References to objects that a build renames (kustomize api/filters/nameref,
//! api/internal/konfig/builtinpluginconsts/namereference.go).

use foldhash::HashMap;
use smol_str::SmolStr;

use super::build::{Build, Built, Outcome};
use super::doc::KustomizationDoc;
use super::resource::Resource;
use crate::graph::node::Node;
use crate::inventory::RenamedReference;

/// A field that names objects: the kind of the objects, the kind that has the field, and its path. An empty group is any.
type NameField = (
    (&'static str, &'static str),
    (&'static str, &'static str),
    &'static str,
);

/// The kinds with the spec of a Pod, and its path. Kustomize renames the Pods' references to ConfigMaps and Secrets in
/// those that the second value marks, and their other references in those that the third value marks.
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

/// The fields of other objects. Those that also name a namespace, and annotations, are left out.
const FIELDS: [NameField; 29] = [
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

/// The objects of a build whose names or namespaces changed, by kind and earlier name.
struct Renamed<'r>(HashMap<(SmolStr, SmolStr), Vec<&'r Resource>>);

impl<'r> Renamed<'r> {
    /// Finds the objects; none if no name changed.
    fn of(resources: &'r [Resource]) -> Self {
        let mut all: HashMap<_, Vec<&Resource>> = HashMap::default();
        let mut is_any_renamed = false;
        for resource in resources.iter().filter(|one| !one.previous.is_empty()) {
            let name = resource.id().name;
            for id in resource.previous.iter() {
                is_any_renamed |= id.name != name;
                let named = all.entry((id.kind.clone(), id.name.clone())).or_default();
                if named
                    .last()
                    .is_none_or(|last| !std::ptr::eq(*last, resource))
                {
                    named.push(resource);
                }
            }
        }
        if !is_any_renamed {
            all.clear();
        }
        Self(all)
    }

    /// Returns the references of an object that change, each with the path of its field.
    fn references_of(&self, resource: &Resource) -> Vec<(Vec<&'static str>, RenamedReference)> {
        let mut found = Vec::new();
        for Field { to, path } in fields_of(resource) {
            let mut names = Vec::new();
            texts(&resource.node, &path, &mut names);
            for name in names {
                let target = self.target(resource, to, &name);
                let new = target.map(|target| target.id().name);
                let Some(new) = new.filter(|new| *new != name) else {
                    continue;
                };
                let reference = RenamedReference {
                    group: to.0,
                    kind: to.1,
                    written: name,
                    built: new,
                };
                found.push((path.clone(), reference));
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
        let named = self.0.get(&(to.1.into(), name.clone()))?;
        let here = from.id();
        let mut found: Vec<&Resource> = named.clone();
        found.retain(|one| {
            let id = one.id();
            let [here, there] = [&here, &id].map(|id| id.effective_namespace());
            let is_near = [here, there].contains(&"_non_namespaceable_")
                || id.kind == "ServiceAccount"
                || here == there;
            is_near && (to.0.is_empty() || id.group == to.0)
        });
        if found.len() > 1 {
            let own = Affixes::of(from);
            found.retain(|one| own.fit(&Affixes::of(one), true));
            if found.len() > 1 {
                found.retain(|one| own.fit(&Affixes::of(one), false));
            }
        }
        let first = *found.first()?;
        let name = first.id().name;
        let are_same = found.iter().all(|one| one.id().name == name);
        are_same.then_some(first)
    }
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

    /// Whether two names may be of one level of kustomizations: the outer prefixes and suffixes are equal. With
    /// `allows_none`, a name without any fits to all.
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
    /// Renames references to objects whose names the build changed.
    pub(super) fn references(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        let renamed = Renamed::of(&built.resources);
        if renamed.0.is_empty() {
            return Ok(());
        }
        let all = built.resources.iter().enumerate();
        let changed: Vec<_> = all
            .map(|(at, resource)| (at, renamed.references_of(resource)))
            .filter(|(_, references)| !references.is_empty())
            .collect();
        for (at, references) in changed {
            let bytes = references.iter().map(|(_, one)| one.built.len()).sum();
            self.take_text(doc, None, bytes, 1)?;
            let resource = &mut built.resources_mut()[at];
            for (path, reference) in &references {
                rename(&mut resource.node, path, reference);
            }
            let references = references.into_iter().map(|(_, reference)| reference);
            resource.references = references.collect();
        }
        Ok(())
    }
}

/// Collects the texts at a path below a value; a list on the way, or at its end, counts for each of its items.
fn texts(node: &Node, path: &[&str], found: &mut Vec<SmolStr>) {
    if node.is_seq() {
        for item in node.items() {
            texts(&item, path, found);
        }
    } else if let Some((first, rest)) = path.split_first() {
        if let Some(value) = node.get(first) {
            texts(&value, rest, found);
        }
    } else if let Some(text) = node.as_str().map(SmolStr::from)
        && !found.contains(&text)
    {
        found.push(text);
    }
}

/// Replaces the name in a reference at a path below a value.
fn rename(node: &mut Node, path: &[&str], reference: &RenamedReference) {
    let mut found = Vec::new();
    texts(node, path, &mut found);
    if !found.contains(&reference.written) {
        return;
    }
    if node.is_seq() {
        for item in node.seq_mut() {
            rename(item, path, reference);
        }
    } else if let Some((first, rest)) = path.split_first() {
        rename(node.entry_mut(first), rest, reference);
    } else {
        *node = Node::text(reference.built.as_str());
    }
}
