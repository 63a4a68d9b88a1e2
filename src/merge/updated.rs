//! What tools update before they delete anything: the Pods of a changed workload are replaced, and no longer use what they used.

use std::collections::BTreeMap;

use super::part::MergePart;
use crate::changes::same_value;
use crate::inventory::Member;
use crate::kube::{ObjectKey, kinds};
use crate::ownership::Implied;
use crate::yaml::Value;

/// What controllers create below the objects of base, once the workloads among them are as head has them. All tools create and update
/// before they delete. A Pod that is replaced keeps no claim that is being deleted, even if the new one mounts it too: the scheduler
/// leaves that one pending (kube-scheduler pkg/scheduler/framework/plugins/volumebinding, "is being deleted"), and only Pods on nodes
/// hold a claim (kube-controller-manager pkg/controller/volume/pvcprotection).
pub fn updated<'a>(part: &MergePart<'a>, implied: Implied<'a>) -> Implied<'a> {
    let owners: BTreeMap<ObjectKey, ObjectKey> =
        implied.objects.iter().map(|object| (object.key.clone(), object.owner.clone())).collect();
    let Implied { mut objects, capped } = implied;
    objects.retain_mut(|object| {
        if !object.key.is(kinds::POD) {
            return true;
        }
        let mut workload = &object.owner;
        while let Some(above) = owners.get(workload) {
            workload = above;
        }
        let before = part.base.inventory.with_key(workload).first().map(|id| part.base.inventory.member(*id));
        let (Some(before), Some(after)) = (before, part.after(workload)) else { return true };
        if is_transient(before) || replaces_pods(before, after) {
            object.spec = None;
        }
        after.object.at(&["spec", "replicas"]).and_then(Value::as_int) != Some(0)
    });
    Implied { objects, capped }
}

/// Whether Pods of the workload run for a while only: one that has finished holds no claim.
fn is_transient(workload: &Member) -> bool {
    workload.object.group() == "batch"
}

/// Whether the controller replaces the Pods of a workload that changes.
fn replaces_pods(before: &Member, after: &Member) -> bool {
    let templates = [before, after].map(|member| member.object.at(&["spec", "template"]));
    let changes = matches!(templates, [Some(old), Some(new)] if !same_value(old, new));
    let strategy = after.object.at(&["spec", "updateStrategy", "type"]).and_then(Value::as_str);
    let kind = after.object.kind.value.as_str();
    let replaces = after.object.group() == "apps" && matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet");
    changes && replaces && strategy != Some("OnDelete")
}
