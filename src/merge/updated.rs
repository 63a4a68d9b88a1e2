//! Updates of tools before they delete anything: the Pods of a changed workload are replaced, and no longer use the
//! removed objects.

use std::collections::BTreeMap;

use super::part::MergePart;
use crate::changes::same_value;
use crate::inventory::Member;
use crate::kube::{ObjectKey, kinds};
use crate::ownership::{Implied, pod_template_spec};
use crate::yaml::Value;

/// The objects that controllers create below the objects of base, once the workloads among them are as head has them.
/// All tools create and update before they delete.
///
/// Which claims are held then: every Pod that is on a node holds the claims that it mounts, even after it has finished, and one
/// without a node holds none ([FIN-14], [L-32]; recorded: `pvc-used-by-running-pod`, `pvc-used-by-unscheduled-pod`). A
/// new Pod stays without a node while a claim that it mounts is being deleted, so where the old Pod waits for it, that stays too.
pub fn updated<'a>(part: &MergePart<'a>, implied: Implied<'a>) -> Implied<'a> {
    let owners: BTreeMap<ObjectKey, ObjectKey> = implied
        .objects
        .iter()
        .map(|object| (object.key.clone(), object.owner.clone()))
        .collect();
    let Implied {
        mut objects,
        capped,
        adopted,
    } = implied;
    objects.retain_mut(|object| {
        if !object.key.is(kinds::POD) {
            return true;
        }
        let mut workload = &object.owner;
        while let Some(above) = owners.get(workload) {
            workload = above;
        }
        let before = part
            .base
            .inventory
            .with_key(workload)
            .first()
            .map(|id| part.base.inventory.member(*id));
        let (Some(before), Some(after)) = (before, part.after(workload)) else {
            return true;
        };
        let specs = [before, after].map(|member| pod_template_spec(&member.object));
        let changes = matches!(specs, [Some(old), Some(new)] if !same_value(old, new));
        match after_update(after) {
            Replacement::Never => {}
            Replacement::First if changes => object.spec = None,
            Replacement::First => {}
            Replacement::Afterwards => object.spec = specs[1].or(object.spec),
        }
        after
            .object
            .at(&["spec", "replicas"])
            .and_then(Value::as_int)
            != Some(0)
    });
    Implied {
        objects,
        capped,
        adopted,
    }
}

/// When the Pods of a workload that changes are deleted.
#[derive(Clone, Copy)]
enum Replacement {
    /// Before new ones are created.
    First,
    /// Once new ones run: until then they hold what they mount, and afterwards the new ones hold what these mount.
    Afterwards,
    /// Not by a controller.
    Never,
}

fn after_update(workload: &Member) -> Replacement {
    let text = |path: &[&str]| workload.object.at(path).and_then(Value::as_str);
    let replicas = workload
        .object
        .at(&["spec", "replicas"])
        .and_then(Value::as_int);
    match (workload.object.group(), workload.object.kind()) {
        ("apps", "StatefulSet" | "DaemonSet")
            if text(&["spec", "updateStrategy", "type"]) == Some("OnDelete") =>
        {
            Replacement::Never
        }
        // One at a time: the second waits for the first to run.
        ("apps", "StatefulSet") if replicas.unwrap_or(1) > 1 => Replacement::Afterwards,
        ("apps", "StatefulSet" | "DaemonSet") => Replacement::First,
        ("apps", "Deployment") if text(&["spec", "strategy", "type"]) == Some("Recreate") => {
            Replacement::First
        }
        // A finished run of a CronJob is deleted when later runs have finished.
        ("apps", "Deployment") | ("batch", "CronJob") => Replacement::Afterwards,
        _ => Replacement::Never,
    }
}
