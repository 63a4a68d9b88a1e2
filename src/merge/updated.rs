//! What a tool updates before it deletes anything: the Pods of a changed workload are those that head describes, and no longer use what
//! they used.

use std::collections::BTreeMap;

use super::part::MergePart;
use crate::inventory::Member;
use crate::kube::{ObjectKey, kinds};
use crate::ownership::Implied;
use crate::yaml::Value;

/// What controllers create below the objects of base, once the workloads among them are as head has them. All tools create and update
/// before they delete.
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
        let Some(after) = part.after(workload).filter(|after| replaces_pods(after)) else { return true };
        object.spec = after.object.at(&["spec", "template", "spec"]).or(object.spec);
        after.object.at(&["spec", "replicas"]).and_then(Value::as_int) != Some(0)
    });
    Implied { objects, capped }
}

/// Whether the controller replaces the Pods of a workload that changes.
fn replaces_pods(workload: &Member) -> bool {
    let strategy = workload.object.at(&["spec", "updateStrategy", "type"]).and_then(Value::as_str);
    let kind = workload.object.kind.value.as_str();
    workload.object.group() == "apps"
        && matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet")
        && strategy != Some("OnDelete")
}
