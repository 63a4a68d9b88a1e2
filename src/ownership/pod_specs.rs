//! Specs of Pods: in the built-in workloads, and in custom resources where a mapping looks like one.

use std::collections::BTreeMap;

use crate::inventory::table;
use crate::kube::GroupKind;
use crate::manifest::Object;
use crate::yaml::{Value, Visited};

/// Maximum depth of the search in a custom resource: the Pod templates of operators' workloads are a few levels down,
/// and each level adds to the path.
const DEEPEST: usize = 24;

#[derive(Clone, Debug)]
pub(super) struct PodSpec<'a> {
    pub(super) value: Value<'a>,
    /// Its field, such as `spec.template.spec`.
    pub(super) field: String,
}

/// Returns the spec of the Pods that a built-in workload runs.
pub(super) fn pod_spec(object: &Object) -> Option<PodSpec<'_>> {
    let path = path_of(object.group_kind())?;
    Some(PodSpec {
        value: object.at(path)?,
        field: path.join("."),
    })
}

/// Returns the spec of the Pod template, for comparing two states of a workload.
pub fn pod_template_spec(object: &Object) -> Option<Value<'_>> {
    pod_spec(object).map(|spec| spec.value)
}

/// Returns the images of an object's containers, by the name of the container: of a built-in workload, or of mappings
/// in a custom resource that look like the spec of Pods.
pub fn container_images(object: &Object) -> BTreeMap<&str, &str> {
    let specs = match pod_spec(object) {
        Some(spec) => vec![spec.value],
        None if is_custom(object) => {
            let pods = CustomFields::of(object).pods.into_iter();
            pods.map(|field| field.value).collect()
        }
        None => Vec::new(),
    };
    let containers = specs.into_iter().flat_map(containers_of);
    let named = containers.filter_map(|container| {
        let name = container.str_at(&["name"])?;
        Some((name, container.str_at(&["image"])?))
    });
    named.collect()
}

/// Returns the containers in the spec of Pods, init containers and ephemeral ones included.
pub(super) fn containers_of(spec: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let lists = ["containers", "initContainers", "ephemeralContainers"];
    let lists = lists.into_iter().filter_map(move |list| spec.get(list));
    lists.flat_map(Value::items)
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

/// Whether objects of a kind run Pods, or may: for a custom resource, its operator decides.
pub fn may_run_pods(kind: GroupKind<&str>) -> bool {
    if table().is_builtin_group(kind.group) {
        kind.kind != "PodTemplate" && path_of(kind).is_some()
    } else {
        true
    }
}

/// Whether an operator, and not Kubernetes, decides the meaning of an object's fields.
pub(super) fn is_custom(object: &Object) -> bool {
    !table().is_builtin_group(object.group())
}

/// The mappings of a custom resource, the outer ones first, without those below the specs of Pods.
#[derive(Debug, Default)]
pub(super) struct CustomFields<'a> {
    /// Mappings that list containers, like the spec of Pods, as in Argo Rollouts, Knative Services and PyTorchJobs.
    pub(super) pods: Vec<CustomField<'a>>,
    /// All other mappings.
    pub(super) mappings: Vec<CustomField<'a>>,
    /// The step to each value: the index of the step before, and the key.
    steps: Vec<(Option<usize>, FieldStep<'a>)>,
}

/// A mapping in a custom resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct CustomField<'a> {
    pub(super) value: Value<'a>,
    step: usize,
}

#[derive(Clone, Copy, Debug)]
enum FieldStep<'a> {
    Key(&'a str),
    Item,
}

impl<'a> CustomFields<'a> {
    pub(super) fn of(object: &'a Object) -> Self {
        let mut found = Self::default();
        let mut visited = Visited::default();
        let start = ["spec", "template"]
            .into_iter()
            .filter_map(|key| Some((object.at(&[key])?, None, FieldStep::Key(key), 0)));
        let mut pending: Vec<(Value<'a>, Option<usize>, FieldStep<'a>, usize)> = start.collect();
        while let Some((value, from, by, depth)) = pending.pop() {
            if depth > DEEPEST || !visited.is_new(value) {
                continue;
            }
            let step = found.steps.len();
            found.steps.push((from, by));
            let items = value.items().rev();
            pending.extend(items.map(|item| (item, Some(step), FieldStep::Item, depth + 1)));
            if !value.is_map() {
                continue;
            }
            if lists_containers(value) {
                found.pods.push(CustomField { value, step });
                continue;
            }
            let inner = value
                .entries()
                .filter(|entry| entry.value.is_map() || entry.value.is_seq());
            pending.extend(inner.rev().map(|entry| {
                let by = FieldStep::Key(entry.key);
                (entry.value, Some(step), by, depth + 1)
            }));
            found.mappings.push(CustomField { value, step });
        }
        found
    }

    /// Returns the path of a mapping, such as `spec.groups[].template`.
    pub(super) fn path(&self, field: CustomField<'a>) -> String {
        let mut steps: Vec<_> = std::iter::successors(self.steps.get(field.step), |(from, _)| {
            self.steps.get((*from)?)
        })
        .map(|(_, step)| step)
        .collect();
        steps.reverse();
        let mut path = String::new();
        for step in steps {
            match step {
                FieldStep::Item => path.push_str("[]"),
                FieldStep::Key(key) if path.is_empty() => path.push_str(key),
                FieldStep::Key(key) => path.extend([".", key]),
            }
        }
        path
    }
}

fn lists_containers(value: Value<'_>) -> bool {
    value
        .items_at("containers")
        .next()
        .is_some_and(|first| first.get("name").is_some() || first.get("image").is_some())
}
