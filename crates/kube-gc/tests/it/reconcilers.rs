//! Controllers outside of the control plane: when they release a deleted object, and when that is unknown.

use kube_gc::names::{Policy, Wait};
use kube_gc::{Cluster, Fate, Reconciler, Step};

pub(crate) use crate::model::NOTHING;
use crate::special_kinds::{DEFINITION, definition};
use crate::support::{
    cluster, delete, outcomes, planned, sketch_key, sketch_object, sketch_objects,
};

/// A sketch in which `operator` removes every finalizer `x/y`.
pub(crate) fn operated(operator: &str, lines: &[&str]) -> Cluster {
    authorized(operator, &[], lines)
}

/// A sketch in which `operator` removes every finalizer `x/y` while it has all of its `authority`.
pub(crate) fn authorized(operator: &str, authority: &[&str], lines: &[&str]) -> Cluster {
    let authorities = if authority.is_empty() {
        &[][..]
    } else {
        &[authority][..]
    };
    allowed(operator, authorities, lines)
}

/// A controller that removes every finalizer `x/y` while it has one of `authorities`.
fn reconciler(workload: &str, authorities: &[&[&str]]) -> Reconciler {
    let keys = |names: &[&str]| names.iter().map(|name| sketch_key(name)).collect();
    Reconciler {
        finalizers: vec!["x/y".to_owned()],
        workloads: keys(&[workload]),
        authority: authorities.iter().map(|names| keys(names)).collect(),
    }
}

/// A sketch in which `operator` removes every finalizer `x/y` while it has one of `authorities`.
pub(crate) fn allowed(operator: &str, authorities: &[&[&str]], lines: &[&str]) -> Cluster {
    let mut objects = sketch_objects(lines);
    for object in objects
        .iter_mut()
        .filter(|object| object.finalizers.iter().any(|name| name == "x/y"))
    {
        object.reconcilers.push(reconciler(operator, authorities));
    }
    cluster(objects)
}

pub(crate) fn deleted(names: &[&str]) -> Step {
    delete(names, Some(Policy::Background))
}

/// One request after another, without a wait between them.
pub(crate) fn sent(names: &[&str], policy: Policy) -> Vec<Step> {
    let steps = names.iter().map(|name| Step::Delete {
        targets: vec![sketch_key(name)],
        policy: Some(policy),
        wait: Wait::None,
        client: 0,
    });
    steps.collect()
}

/// Returns the objects whose loss a controller has to outrun so that nothing is stuck in the last step's verdict.
pub(crate) fn unless_quicker(cluster: &Cluster, steps: &[Step]) -> Vec<String> {
    let plan = planned(cluster, steps);
    let stuck = plan.stuck(steps.len() - 1);
    assert!(!stuck.is_empty(), "an object is stuck");
    stuck
        .iter()
        .flat_map(|held| &held.unless_quicker)
        .map(|id| cluster.key(*id).to_string())
        .collect()
}

#[test]
fn remaining_controller_removes_its_finalizer() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["cr"])]), [["operator"]]);
}

#[test]
fn missing_controller_removes_no_finalizer() {
    let cluster = operated("operator", &["cr{x/y}"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["cr"])]), [["cr{T,x/y}"]]);
}

#[test]
fn controller_removes_only_its_own_finalizer() {
    let cluster = operated("operator", &["cr{x/y,x/z}", "operator"]);
    assert_eq!(
        outcomes(&cluster, &[deleted(&["cr"])]),
        [["cr{T,x/z}", "operator"]]
    );
}

#[test]
fn controller_deleted_in_same_step_may_remove_its_finalizer() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    assert_eq!(
        outcomes(&cluster, &[deleted(&["cr", "operator"])]),
        [&["cr{T,x/y}"][..], &NOTHING]
    );
}

#[test]
fn controller_deleted_earlier_removes_no_finalizer() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    assert_eq!(
        outcomes(&cluster, &[deleted(&["operator"]), deleted(&["cr"])]),
        [["cr{T,x/y}"]]
    );
}

#[test]
fn settling_does_not_change_a_lost_race() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    let lost = outcomes(&cluster, &[deleted(&["cr", "operator"]), Step::Settle]);
    assert_eq!(
        lost,
        [&["cr{T,x/y}"][..], &NOTHING],
        "one outcome for each end of the step before"
    );
}

#[test]
fn namespace_with_controller_and_its_object_may_get_stuck() {
    let cluster = operated("operator", &["Namespace//n", "cr{x/y}", "operator"]);
    let ends = outcomes(&cluster, &[deleted(&["Namespace//n"])]);
    assert_eq!(ends, [&["cr{T,x/y}", "Namespace//n{T}"][..], &NOTHING]);
}

#[test]
fn namespace_is_deleted_if_its_controller_lives_elsewhere() {
    let cluster = operated(
        "ConfigMap/m/operator",
        &["Namespace//n", "cr{x/y}", "ConfigMap/m/operator"],
    );
    assert_eq!(
        outcomes(&cluster, &[deleted(&["Namespace//n"])]),
        [["ConfigMap/m/operator"]]
    );
}

#[test]
fn controller_may_release_any_subset_of_its_objects() {
    let cluster = operated("operator", &["a{x/y}", "b{x/y}", "operator"]);
    let mut ends = outcomes(&cluster, &[deleted(&["a", "b", "operator"])]);
    assert_eq!(ends[0], ["a{T,x/y}", "b{T,x/y}"], "the verdict is the harm");
    ends.sort();
    assert_eq!(
        ends,
        [
            &NOTHING[..],
            &["a{T,x/y}"],
            &["a{T,x/y}", "b{T,x/y}"],
            &["b{T,x/y}"]
        ]
    );
}

#[test]
fn any_of_several_candidates_may_be_the_controller() {
    let mut objects = sketch_objects(&["cr{x/y}", "one", "other"]);
    for workload in ["one", "other"] {
        objects[0].reconcilers.push(reconciler(workload, &[]));
    }
    let cluster = cluster(objects);
    assert_eq!(outcomes(&cluster, &[deleted(&["cr"])]), [["one", "other"]]);
    let ends = outcomes(&cluster, &[deleted(&["one"]), deleted(&["cr"])]);
    assert_eq!(ends, [&["cr{T,x/y}", "other"][..], &["other"]]);
    let plan = planned(&cluster, &[deleted(&["one"]), deleted(&["cr"])]);
    let left = &plan.stuck(1)[0].unless_run_by;
    assert_eq!(
        left.iter().map(|id| cluster.key(*id)).collect::<Vec<_>>(),
        [sketch_key("other")]
    );
    assert_eq!(
        outcomes(&cluster, &[deleted(&["one", "other"]), deleted(&["cr"])]),
        [["cr{T,x/y}"]]
    );
}

#[test]
fn object_owning_its_controller_may_get_stuck_in_foreground() {
    let background = operated("operator", &["cr{x/y}", "operator -> cr"]);
    assert_eq!(outcomes(&background, &[deleted(&["cr"])]), [NOTHING]);
    let foreground = operated("operator", &["cr{x/y}", "operator -> !cr"]);
    let ends = outcomes(&foreground, &[delete(&["cr"], Some(Policy::Foreground))]);
    assert_eq!(
        ends,
        [&["cr{T,x/y}"][..], &NOTHING],
        "its controller is deleted before it"
    );
}

#[test]
fn plan_names_the_controller_that_must_win_the_race() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    let plan = planned(&cluster, &[deleted(&["cr", "operator"])]);
    let [hanging] = &plan.stuck(0)[..] else {
        panic!("one object hangs")
    };
    assert_eq!(
        hanging.unless_quicker,
        [cluster.find(&sketch_key("operator")).expect("it is there")]
    );
    let later = planned(&cluster, &[deleted(&["operator"]), deleted(&["cr"])]);
    assert_eq!(
        later.stuck(1)[0].unless_quicker,
        [],
        "it is gone for certain"
    );
}

pub(crate) const ACCOUNT: &str = "ServiceAccount/n/op";
pub(crate) const BINDING: &str = "ClusterRoleBinding.rbac.authorization.k8s.io//op";
const CAKE: &str = "Cake.shop.example/n/one{x/y}";

/// A sketch with an operator that is authorized by a ServiceAccount and a binding.
pub(crate) fn bound(lines: &[&str]) -> Cluster {
    authorized(
        "operator",
        &[ACCOUNT, BINDING],
        &[&["operator", ACCOUNT, BINDING], lines].concat(),
    )
}

/// A cluster with a definition of Cake, and an operator that removes the finalizer of the Cake.
fn defined() -> Cluster {
    let mut objects = sketch_objects(&[CAKE, "operator", ACCOUNT]);
    objects[0]
        .reconcilers
        .push(reconciler("operator", &[&[ACCOUNT]]));
    objects.push(definition());
    cluster(objects)
}

#[test]
fn crd_is_deleted_while_controller_of_instances_stays() {
    assert_eq!(
        outcomes(&defined(), &[deleted(&[DEFINITION])]),
        [["operator", ACCOUNT]]
    );
}

#[test]
fn crd_may_mark_instances_before_or_after_next_request() {
    let steps = sent(
        &[DEFINITION, ACCOUNT, "Cake.shop.example/n/one"],
        Policy::Background,
    );
    let cluster = defined();
    let ends = outcomes(&cluster, &steps);
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert_eq!(
        ends[1],
        ["operator"],
        "the account was there when the instance was marked"
    );
    assert_eq!(unless_quicker(&cluster, &steps), [ACCOUNT]);
    let later = sent(&[ACCOUNT, DEFINITION], Policy::Background);
    assert_eq!(outcomes(&cluster, &later).len(), 1);
    assert_eq!(unless_quicker(&cluster, &later), NOTHING);
}

/// Each race is won or lost: 65,536 combinations in one namespace.
#[test]
fn sixteen_races_list_only_the_extreme_outcomes() {
    let mut objects = sketch_objects(&["Namespace//n"]);
    for number in 0..16 {
        let workload = format!("Deployment.apps/n/d{number:02}");
        let mut released = sketch_object(&format!("cr{number:02}{{x/y}}"));
        released.reconcilers.push(reconciler(&workload, &[]));
        objects.extend([released, sketch_object(&workload)]);
    }
    let cluster = cluster(objects);
    let plan = planned(&cluster, &[deleted(&["Namespace//n"])]);
    let held = plan.steps[0].outcomes.iter().map(|outcome| {
        let fates = plan.fates(outcome).into_iter();
        fates
            .filter(|(key, fate)| key.kind() == "ConfigMap" && *fate != Fate::Gone)
            .count()
    });
    let mut held: Vec<usize> = held.collect();
    held.sort_unstable();
    assert_eq!(
        held,
        [vec![0], vec![1; 16], vec![15; 16], vec![16]].concat()
    );
    assert!(!plan.steps[0].complete, "there are more");
}
