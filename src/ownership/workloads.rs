//! Who runs what: the pods that manifests describe, each with its images and its ServiceAccount.

use crate::inventory::{Inventory, Member, ObjectId};
use crate::manifest::Spanned;
use crate::ownership::pod_specs::{may_run_pods, pod_spec};
use crate::yaml::Value;

/// An object that runs pods, or is one.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) id: ObjectId,
    /// Of all containers, init containers and ephemeral ones included.
    pub(super) images: Vec<Spanned<String>>,
    /// `default` when the pod names none, as the API server fills in.
    pub(super) service_account: String,
}

/// The workloads in an input, in its order; those that end on their own come last, because a controller does not.
pub(super) fn of(inventory: &Inventory) -> Vec<Workload> {
    let mut workloads: Vec<Workload> = inventory.members.iter().filter_map(workload).collect();
    workloads.sort_by_key(|workload| inventory.member(workload.id).object.group() == "batch");
    workloads
}

fn workload(member: &Member) -> Option<Workload> {
    let pod = pod_spec(&member.object).filter(|_| may_run_pods(member.object.group_kind()))?.value;
    let text = |key: &str| pod.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    // `serviceAccount` is the deprecated name of the same field.
    let service_account = text("serviceAccountName").or_else(|| text("serviceAccount")).unwrap_or("default");
    let lists = ["containers", "initContainers", "ephemeralContainers"];
    let containers = lists.into_iter().filter_map(|list| pod.get(list)).flat_map(Value::items);
    let images = containers.filter_map(|container| {
        let image = container.entry("image")?;
        let value = image.value.as_str()?.to_owned();
        Some(Spanned { value, key_span: image.key_span, span: image.value.span() })
    });
    Some(Workload { id: member.id, images: images.collect(), service_account: service_account.to_owned() })
}
