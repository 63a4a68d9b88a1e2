//! Controllers outside of the control plane: when they let go of what is deleted, and when nobody knows whether they do.

use ownerlint::gc::{Cluster, Options, Reconciler, Step, simulate};
use ownerlint::kube::Policy;

use crate::gc_support::{delete, outcomes, recorded_kinds, sketch_key, sketch_objects};

/// A sketch in which `operator` removes every finalizer `x/y`.
fn operated(operator: &str, lines: &[&str]) -> Cluster {
    let mut objects = sketch_objects(lines);
    for object in objects.iter_mut().filter(|object| object.finalizers.iter().any(|name| name == "x/y")) {
        object.reconcilers.push(Reconciler {
            finalizers: vec!["x/y".to_owned()],
            workloads: vec![sketch_key(operator)],
            ..Reconciler::default()
        });
    }
    Cluster::new(recorded_kinds(), objects).expect("the sketch makes a cluster")
}

fn deleted(names: &[&str]) -> Step {
    delete(names, Some(Policy::Background))
}

const NOTHING: [&str; 0] = [];

#[test]
fn an_object_goes_when_its_controller_stays() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["cr"])]), [["operator"]]);
}

#[test]
fn a_controller_that_the_input_does_not_have_lets_go_of_nothing() {
    let cluster = operated("operator", &["cr{x/y}"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["cr"])]), [["cr{T,x/y}"]]);
}

#[test]
fn a_controller_removes_no_finalizer_but_its_own() {
    let cluster = operated("operator", &["cr{x/y,x/z}", "operator"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["cr"])]), [["cr{T,x/z}", "operator"]]);
}

#[test]
fn a_controller_that_goes_in_the_same_step_may_be_quick_enough() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["cr", "operator"])]), [&["cr{T,x/y}"][..], &NOTHING]);
}

#[test]
fn a_controller_that_has_gone_before_lets_go_of_nothing() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["operator"]), deleted(&["cr"])]), [["cr{T,x/y}"]]);
}

#[test]
fn a_race_that_was_lost_stays_lost() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    let lost = outcomes(&cluster, &[deleted(&["cr", "operator"]), Step::Settle]);
    assert_eq!(lost, [&["cr{T,x/y}"][..], &NOTHING], "one outcome for each end of the step before");
}

#[test]
fn a_namespace_hangs_that_takes_a_controller_with_what_it_handles() {
    let cluster = operated("operator", &["Namespace//n", "cr{x/y}", "operator"]);
    let ends = outcomes(&cluster, &[deleted(&["Namespace//n"])]);
    assert_eq!(ends, [&["cr{T,x/y}", "Namespace//n{T}"][..], &NOTHING]);
}

#[test]
fn a_namespace_goes_whose_controllers_live_elsewhere() {
    let cluster = operated("ConfigMap/m/operator", &["Namespace//n", "cr{x/y}", "ConfigMap/m/operator"]);
    assert_eq!(outcomes(&cluster, &[deleted(&["Namespace//n"])]), [["ConfigMap/m/operator"]]);
}

#[test]
fn what_a_controller_handles_is_let_go_of_together_or_not_at_all() {
    let cluster = operated("operator", &["a{x/y}", "b{x/y}", "operator"]);
    let ends = outcomes(&cluster, &[deleted(&["a", "b", "operator"])]);
    assert_eq!(ends, [&["a{T,x/y}", "b{T,x/y}"][..], &NOTHING]);
}

#[test]
fn an_object_may_own_its_controller() {
    let background = operated("operator", &["cr{x/y}", "operator -> cr"]);
    assert_eq!(outcomes(&background, &[deleted(&["cr"])]), [NOTHING]);
    let foreground = operated("operator", &["cr{x/y}", "operator -> !cr"]);
    let ends = outcomes(&foreground, &[delete(&["cr"], Some(Policy::Foreground))]);
    assert_eq!(ends, [&["cr{T,x/y}"][..], &NOTHING], "its controller is deleted before it");
}

#[test]
fn a_plan_names_what_would_have_to_be_quicker() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    let plan = simulate(&cluster, &[deleted(&["cr", "operator"])], &Options::default());
    let [hanging] = &plan.stuck(0)[..] else { panic!("one object hangs") };
    assert_eq!(hanging.unless_quicker, [cluster.find(&sketch_key("operator")).expect("it is there")]);
    let later = simulate(&cluster, &[deleted(&["operator"]), deleted(&["cr"])], &Options::default());
    assert_eq!(later.stuck(1)[0].unless_quicker, [], "it is gone for certain");
}
