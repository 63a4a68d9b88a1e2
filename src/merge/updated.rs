//! Updates that tools send before they delete anything: the Pods of a changed workload are replaced and no longer use
//! the removed objects.

use std::collections::BTreeMap;

use super::part::{MergePart, with_key};
use crate::changes::same_value;
use crate::inventory::Member;
use crate::kube::{ObjectKey, kinds};
use crate::ownership::{Implied, pod_template_spec};
use crate::yaml::Value;

/// Updates `implied`, the objects that controllers create for those of base, to the workloads of head. All tools create
/// and update before they delete.
///
/// A Pod on a node holds the claims that it mounts, even when finished; one without a node holds
/// none ([FIN-14], [L-32]; recorded: `pvc-used-by-running-pod`, `pvc-used-by-unscheduled-pod`). A
/// new Pod gets no node while a claim of it is being deleted, so the old Pod stays too.
pub fn updated<'a>(part: &MergePart<'a>, mut implied: Implied<'a>) -> Implied<'a> {
    let owners: BTreeMap<ObjectKey, ObjectKey> = implied
        .objects
        .iter()
        .map(|object| (object.key.clone(), object.owner.clone()))
        .collect();
    implied.objects.retain_mut(|object| {
        if !object.key.is(kinds::POD) {
            return true;
        }
        let mut workload = &object.owner;
        while let Some(above) = owners.get(workload) {
            workload = above;
        }
        let before = with_key(&part.base.inventory, workload).next();
        let (Some(before), Some(after)) = (before, part.after(workload)) else {
            return true;
        };
        let specs = [before, after].map(|member| pod_template_spec(&member.object));
        let changes = matches!(specs, [Some(old), Some(new)] if !same_value(old, new));
        match after_update(after) {
            Replacement::First if changes => object.spec = None,
            Replacement::Afterwards => object.spec = specs[1].or(object.spec),
            Replacement::First | Replacement::Never => {}
        }
        replicas(after) != Some(0)
    });
    implied
}

/// Whether Pods that exist after the merge mount a claim. `implied` is the result of [`updated`].
pub(super) fn is_mounted(claim: &Member, implied: &Implied<'_>) -> bool {
    let pods = implied
        .objects
        .iter()
        .filter(|one| one.key.is(kinds::POD) && one.key.namespace == claim.key.namespace);
    let specs = pods.filter_map(|pod| pod.spec);
    let mut volumes = specs.flat_map(|spec| spec.items_at("volumes"));
    claim.object.is(kinds::PERSISTENT_VOLUME_CLAIM)
        && volumes.any(|volume| {
            let name = volume.str_at(&["persistentVolumeClaim", "claimName"]);
            name == Some(&*claim.key.name)
        })
}

/// The time at which the Pods of a changed workload are deleted.
#[derive(Clone, Copy)]
enum Replacement {
    /// Before new ones are created.
    First,
    /// Once new ones run: until then they hold the claims that they mount, and afterwards the new ones hold theirs.
    Afterwards,
    /// Not by a controller.
    Never,
}

fn replicas(workload: &Member) -> Option<i64> {
    let replicas = workload.object.at(&["spec", "replicas"]);
    replicas.and_then(Value::as_int)
}

fn after_update(workload: &Member) -> Replacement {
    let object = workload.object.value();
    match (workload.object.group(), workload.object.kind()) {
        ("apps", "StatefulSet" | "DaemonSet")
            if object.str_at(&["spec", "updateStrategy", "type"]) == Some("OnDelete") =>
        {
            Replacement::Never
        }
        // Pods are replaced one at a time: the second waits for the first to run.
        ("apps", "StatefulSet") if replicas(workload).unwrap_or(1) > 1 => Replacement::Afterwards,
        ("apps", "StatefulSet" | "DaemonSet") => Replacement::First,
        ("apps", "Deployment")
            if object.str_at(&["spec", "strategy", "type"]) == Some("Recreate") =>
        {
            Replacement::First
        }
        // A finished run of a CronJob is deleted when later runs have finished.
        ("apps", "Deployment") | ("batch", "CronJob") => Replacement::Afterwards,
        _ => Replacement::Never,
    }
}
