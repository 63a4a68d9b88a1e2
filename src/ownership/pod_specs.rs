//! Where Pods are described: the built-in workloads, and whatever looks like a Pod in a custom resource.

use std::collections::HashSet;

use crate::inventory::table;
use crate::kube::GroupKind;
use crate::manifest::Object;
use crate::yaml::{NodeId, Value};

/// How deep a custom resource is searched: operators' own workloads have their template a few levels down, and a path is
/// kept for each level.
const DEEPEST: usize = 24;

/// The spec of Pods.
#[derive(Clone, Debug)]
pub(super) struct PodSpec<'a> {
    pub(super) value: Value<'a>,
    /// Its field: `spec.template.spec`.
    pub(super) field: String,
}

/// The spec of the Pods that a built-in workload runs.
pub(super) fn pod_spec(object: &Object) -> Option<PodSpec<'_>> {
    let path = path_of(object.group_kind())?;
    Some(PodSpec { value: object.at(path)?, field: path.join(".") })
}

/// The same, for whoever compares two states of a workload.
pub fn pod_template_spec(object: &Object) -> Option<Value<'_>> {
    pod_spec(object).map(|spec| spec.value)
}

fn path_of(kind: GroupKind<&str>) -> Option<&'static [&'static str]> {
    match (kind.group, kind.kind) {
        ("", "Pod") => Some(&["spec"]),
        ("batch", "CronJob") => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        ("apps" | "extensions", "Deployment" | "ReplicaSet" | "DaemonSet")
        | ("apps", "StatefulSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => Some(&["spec", "template", "spec"]),
        ("", "PodTemplate") => Some(&["template", "spec"]),
        _ => None,
    }
}

/// Whether objects of a kind run Pods, or may: what a custom resource does, its operator decides.
pub fn may_run_pods(kind: GroupKind<&str>) -> bool {
    match table().is_builtin_group(kind.group) {
        true => kind.kind != "PodTemplate" && path_of(kind).is_some(),
        false => true,
    }
}

/// Whether operators, and not Kubernetes, decide what the fields of an object mean.
pub(super) fn is_custom(object: &Object) -> bool {
    !table().is_builtin_group(object.group())
}

/// The mappings of a custom resource, each with its path, the outer ones first. What is below the specs of Pods is left to
/// whoever reads Pods.
#[derive(Debug, Default)]
pub(super) struct CustomFields<'a> {
    /// What looks like the spec of Pods: it lists containers, as an Argo Rollout, a Knative Service and a PyTorchJob do.
    pub(super) pods: Vec<PodSpec<'a>>,
    /// All other mappings.
    pub(super) mappings: Vec<PodSpec<'a>>,
}

impl<'a> CustomFields<'a> {
    pub(super) fn of(object: &'a Object) -> Self {
        let mut found = Self::default();
        let mut seen: HashSet<NodeId> = HashSet::new();
        let start = ["spec", "template"].into_iter().filter_map(|key| Some((object.at(&[key])?, key.to_owned(), 0)));
        let mut pending: Vec<(Value<'a>, String, usize)> = start.collect();
        while let Some((value, field, depth)) = pending.pop() {
            if depth > DEEPEST || !seen.insert(value.id()) {
                continue;
            }
            for item in value.items().rev() {
                pending.push((item, format!("{field}[]"), depth + 1));
            }
            if !value.is_map() {
                continue;
            }
            if lists_containers(value) {
                found.pods.push(PodSpec { value, field });
                continue;
            }
            let inner = value.entries().filter(|entry| entry.value.is_map() || entry.value.is_seq());
            for entry in inner.rev() {
                pending.push((entry.value, format!("{field}.{}", entry.key), depth + 1));
            }
            found.mappings.push(PodSpec { value, field });
        }
        found
    }
}

fn lists_containers(value: Value<'_>) -> bool {
    let containers = value.get("containers").into_iter().flat_map(Value::items);
    containers.into_iter().next().is_some_and(|first| first.get("name").is_some() || first.get("image").is_some())
}
