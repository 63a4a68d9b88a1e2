//! The test vectors of the deletion semantics on owners and dependents (TV-1 to TV-27).
//!
//! Notation: see [`crate::support::sketch`]. An outcome lists the remaining objects.

use kube_gc::names::Policy;
use kube_gc::{Cluster, Object, Step};

use crate::support::{
    cluster, delete, end, key, planned, recorded_kinds, sketch, sketch_object, sketch_objects,
};

pub(crate) const BACKGROUND: Option<Policy> = Some(Policy::Background);
pub(crate) const FOREGROUND: Option<Policy> = Some(Policy::Foreground);
pub(crate) const ORPHAN: Option<Policy> = Some(Policy::Orphan);

/// Returns the only outcome of deleting `target`, as a list of the remaining objects.
pub(crate) fn after(
    objects: &[impl AsRef<str>],
    target: &str,
    policy: Option<Policy>,
) -> Vec<String> {
    end(&sketch(objects), &[Step::Settle, delete(&[target], policy)])
}

pub(crate) const NOTHING: [&str; 0] = [];

#[test]
fn tv1_background_deletion_deletes_the_dependent() {
    assert_eq!(after(&["o", "c -> o"], "o", BACKGROUND), NOTHING);
}

#[test]
fn tv2_orphan_keeps_the_dependent_without_its_reference() {
    assert_eq!(after(&["o", "c -> o"], "o", ORPHAN), ["c"]);
}

#[test]
fn tv3_finalizer_on_blocking_dependent_blocks_foreground_owner() {
    assert_eq!(
        after(&["o", "c{x/y} -> !o"], "o", FOREGROUND),
        ["c{T,x/y} -> !o", "o{T,foregroundDeletion}"]
    );
}

#[test]
fn tv4_finalizer_on_nonblocking_dependent_does_not_block_owner() {
    assert_eq!(
        after(&["o", "c{x/y} -> o"], "o", FOREGROUND),
        ["c{T,x/y} -> o"]
    );
}

#[test]
fn tv5_background_deletion_does_not_wait_for_dependents() {
    assert_eq!(
        after(&["o", "c{x/y} -> !o"], "o", BACKGROUND),
        ["c{T,x/y} -> !o"]
    );
}

#[test]
fn tv6_owner_with_finalizer_keeps_dependents_in_background() {
    assert_eq!(
        after(&["o{x/y}", "c -> o"], "o", BACKGROUND),
        ["c -> o", "o{T,x/y}"]
    );
}

#[test]
fn tv7_foreground_deletes_dependents_despite_owner_finalizer() {
    assert_eq!(after(&["o{x/y}", "c -> !o"], "o", FOREGROUND), ["o{T,x/y}"]);
}

#[test]
fn tv8_second_owner_keeps_the_dependent() {
    assert_eq!(
        after(&["a", "b", "c -> !a, !b"], "a", BACKGROUND),
        ["b", "c -> !b"]
    );
}

#[test]
fn tv9_second_owner_keeps_the_dependent_in_foreground() {
    assert_eq!(
        after(&["a", "b", "c -> !a, !b"], "a", FOREGROUND),
        ["b", "c -> !b"]
    );
}

#[test]
fn tv10_deleting_both_owners_deletes_the_dependent() {
    let cluster = sketch(&["a", "b", "c -> !a, !b"]);
    assert_eq!(end(&cluster, &[delete(&["a", "b"], FOREGROUND)]), NOTHING);
}

#[test]
fn tv11_explicit_background_removes_preset_foreground_finalizer() {
    assert_eq!(
        after(&["o{foregroundDeletion}", "c -> !o"], "o", BACKGROUND),
        NOTHING
    );
    assert_eq!(
        after(&["o{foregroundDeletion}", "c{x/y} -> !o"], "o", BACKGROUND),
        ["c{T,x/y} -> !o"]
    );
}

#[test]
fn tv12_a_delete_without_policy_honours_a_preset_finalizer() {
    assert_eq!(
        after(&["o{foregroundDeletion}", "c{x/y} -> !o"], "o", None),
        ["c{T,x/y} -> !o", "o{T,foregroundDeletion}"]
    );
}

#[test]
fn tv13_collector_honours_preset_orphan_finalizer() {
    assert_eq!(
        after(&["o", "p{orphan} -> o", "c -> p"], "o", BACKGROUND),
        ["c"]
    );
}

#[test]
fn tv14_foreground_owner_overrides_preset_orphan_finalizer() {
    assert_eq!(
        after(&["o", "p{orphan} -> !o", "c -> p"], "o", FOREGROUND),
        NOTHING
    );
}

#[test]
fn tv15_a_job_deleted_without_policy_orphans_its_pods() {
    let objects = ["Job.batch/n/j", "Pod/n/p -> !Job.batch/n/j"];
    assert_eq!(after(&objects, "Job.batch/n/j", None), ["Pod/n/p"]);
    assert_eq!(after(&objects, "Job.batch/n/j", BACKGROUND), NOTHING);
}

#[test]
fn tv16_the_orphan_default_does_not_apply_in_a_cascade() {
    let objects = [
        "CronJob.batch/n/cj",
        "Job.batch/n/j -> !CronJob.batch/n/cj",
        "Pod/n/p -> !Job.batch/n/j",
    ];
    assert_eq!(after(&objects, "CronJob.batch/n/cj", BACKGROUND), NOTHING);
}

#[test]
fn tv17_foreground_cycle_is_unblocked_and_deleted() {
    assert_eq!(after(&["a -> !b", "b -> !a"], "a", FOREGROUND), NOTHING);
}

#[test]
fn tv18_and_19_self_blocking_object_is_stuck_until_background_delete() {
    let cluster = sketch(&["a -> !a"]);
    let foreground = delete(&["a"], FOREGROUND);
    assert_eq!(
        end(&cluster, std::slice::from_ref(&foreground)),
        ["a{T,foregroundDeletion} -> !a"]
    );
    assert_eq!(
        end(&cluster, &[foreground, delete(&["a"], BACKGROUND)]),
        NOTHING
    );
}

#[test]
fn tv20_owner_in_another_namespace_does_not_keep_the_dependent() {
    let cluster = sketch(&["ConfigMap/ns2/o", "ConfigMap/ns1/c -> ConfigMap/ns2/o"]);
    assert_eq!(end(&cluster, &[Step::Settle]), ["ConfigMap/ns2/o"]);
    let plan = planned(&cluster, &[Step::Settle]);
    let events = &plan.steps[0].events;
    assert_eq!(events.len(), 1);
    assert!(events[0].certain);
    assert_eq!(events[0].object, key("ConfigMap/ns1/c"));
    assert_eq!(
        events[0].message,
        "ownerRef [v1/ConfigMap, namespace: ns1, name: o, uid: uid-ConfigMap/ns2/o] does not exist in namespace \"ns1\""
    );
}

#[test]
fn tv21_and_22_cluster_scoped_dependent_outlives_its_namespaced_owner() {
    let role = "ClusterRole.rbac.authorization.k8s.io//c";
    let kept = format!("{role} -> !o");
    let objects = ["o", &kept];
    assert_eq!(
        after(&objects, "o", FOREGROUND),
        ["o{T,foregroundDeletion}", &kept]
    );
    assert_eq!(after(&objects, "o", BACKGROUND), [&kept[..]]);
}

/// Parses `line` and rewrites apiVersion and kind of the reference at `position`.
pub(crate) fn with_reference_rewritten(
    line: &str,
    position: usize,
    api_version: &str,
    kind: &str,
) -> Object {
    let mut object = sketch_object(line);
    object.owner_references[position].api_version = api_version.into();
    object.owner_references[position].kind = kind.into();
    object
}

#[test]
fn tv23_unresolvable_owner_keeps_dependent_and_all_references() {
    let cluster = cluster(vec![
        sketch_object("o"),
        with_reference_rewritten("c -> o, z", 1, "apps/v1beta1", "Deployment"),
    ]);
    assert_eq!(end(&cluster, &[delete(&["o"], BACKGROUND)]), ["c -> o, z"]);
}

#[test]
fn tv24_reference_in_unserved_version_blocks_foreground_owner() {
    let owner = sketch_object("Deployment.apps/n/o");
    let dependent = with_reference_rewritten(
        "c -> !Deployment.apps/n/o",
        0,
        "extensions/v1beta1",
        "Deployment",
    );
    let left = end(
        &cluster(vec![owner, dependent]),
        &[delete(&["Deployment.apps/n/o"], FOREGROUND)],
    );
    assert_eq!(
        left,
        ["c -> !o", "Deployment.apps/n/o{T,foregroundDeletion}"]
    );
}

#[test]
fn tv25_references_with_one_uid_are_removed_together() {
    let mut child = sketch_object("c -> good, good");
    child.owner_references[1].name = "bad".into();
    assert_eq!(
        end(
            &cluster(vec![sketch_object("good"), child]),
            &[Step::Settle]
        ),
        ["c", "good"]
    );
}

#[test]
fn tv26_and_27_background_delete_ends_a_foreground_deletion() {
    let held = sketch(&["o{x/y}", "c{z/w} -> !o"]);
    let steps = [delete(&["o"], FOREGROUND), delete(&["o"], BACKGROUND)];
    assert_eq!(
        end(&held, &steps[..1]),
        ["c{T,z/w} -> !o", "o{T,foregroundDeletion,x/y}"]
    );
    assert_eq!(end(&held, &steps), ["c{T,z/w} -> !o", "o{T,x/y}"]);
    assert_eq!(
        end(&sketch(&["o", "c{z/w} -> !o"]), &steps),
        ["c{T,z/w} -> !o"]
    );
}

#[test]
fn cluster_rejects_duplicate_objects() {
    let twice = Cluster::new(recorded_kinds(), sketch_objects(&["o", "o"]));
    assert!(twice.is_err());
}
