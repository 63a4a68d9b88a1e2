//! The permissions and workloads of a controller: their loss decides whether it can still release objects.

use kube_gc::names::Policy;

use crate::reconcilers::{
    ACCOUNT, BINDING, NOTHING, allowed, authorized, bound, deleted, operated, sent, unless_quicker,
};
use crate::support::{delete, outcomes};

#[test]
fn permissions_deleted_before_the_object_leave_it_stuck() {
    let cluster = bound(&["cr{x/y}"]);
    let steps = sent(&["operator", BINDING, ACCOUNT, "cr"], Policy::Background);
    assert_eq!(outcomes(&cluster, &steps), [["cr{T,x/y}"]], "Helm's order");
    assert_eq!(unless_quicker(&cluster, &steps), NOTHING);
}

#[test]
fn permissions_deleted_after_the_object_are_a_race() {
    let cluster = bound(&["cr{x/y}"]);
    let steps = sent(&["cr", "operator", BINDING, ACCOUNT], Policy::Background);
    assert_eq!(outcomes(&cluster, &steps), [&["cr{T,x/y}"][..], &NOTHING]);
    assert_eq!(
        unless_quicker(&cluster, &steps),
        ["ConfigMap/n/operator", ACCOUNT, BINDING]
    );
}

#[test]
fn target_order_within_one_step_decides_the_race() {
    let cluster = bound(&["cr{x/y}"]);
    assert_eq!(
        outcomes(&cluster, &[deleted(&[ACCOUNT, "cr"])]),
        [["cr{T,x/y}", "operator", BINDING]]
    );
    let race = [
        &["cr{T,x/y}", "operator", BINDING][..],
        &["operator", BINDING],
    ];
    assert_eq!(outcomes(&cluster, &[deleted(&["cr", ACCOUNT])]), race);
}

#[test]
fn workload_deleted_before_the_object_is_a_race() {
    let cluster = bound(&["cr{x/y}"]);
    let steps = sent(&["operator", "cr"], Policy::Background);
    assert_eq!(
        outcomes(&cluster, &steps),
        [&["cr{T,x/y}", ACCOUNT, BINDING][..], &[ACCOUNT, BINDING]]
    );
}

#[test]
fn foreground_deleted_permissions_count_until_collected() {
    let cluster = bound(&["cr{x/y}"]);
    let steps = sent(&[BINDING, ACCOUNT, "operator", "cr"], Policy::Foreground);
    assert_eq!(outcomes(&cluster, &steps), [&["cr{T,x/y}"][..], &NOTHING]);
}

#[test]
fn namespace_deletion_with_service_account_is_a_race() {
    let cluster = bound(&["Namespace//n", "cr{x/y}"]);
    let steps = [deleted(&["Namespace//n"])];
    assert_eq!(
        outcomes(&cluster, &steps),
        [&["cr{T,x/y}", "Namespace//n{T}", BINDING][..], &[BINDING]]
    );
    assert_eq!(
        unless_quicker(&cluster, &steps),
        ["ConfigMap/n/operator", ACCOUNT]
    );
}

#[test]
fn service_account_with_the_same_owner_is_a_race() {
    let cluster = authorized(
        "operator",
        &[ACCOUNT],
        &[
            "app",
            "operator",
            "ServiceAccount/n/op -> app",
            "cr{x/y} -> app",
        ],
    );
    assert_eq!(
        outcomes(&cluster, &[deleted(&["app"])]),
        [&["cr{T,x/y} -> app", "operator"][..], &["operator"]]
    );
}

#[test]
fn orphaned_pod_keeps_running_its_controller() {
    let cluster = operated("operator", &["cr{x/y}", "operator", "Pod/n/p -> operator"]);
    let orphaned = delete(&["operator"], Some(Policy::Orphan));
    assert_eq!(
        outcomes(&cluster, &[orphaned, deleted(&["cr"])]),
        [["Pod/n/p"]]
    );
    assert_eq!(
        outcomes(&cluster, &[deleted(&["operator"]), deleted(&["cr"])]),
        [["cr{T,x/y}"]]
    );
}

#[test]
fn terminating_service_account_grants_nothing_after_settling() {
    let held = "ServiceAccount/n/op{x/z}";
    let cluster = authorized("operator", &[ACCOUNT], &["cr{x/y}", "operator", held]);
    let steps = [deleted(&[ACCOUNT]), deleted(&["cr"])];
    assert_eq!(
        outcomes(&cluster, &steps),
        [["cr{T,x/y}", "operator", "ServiceAccount/n/op{T,x/z}"]]
    );
}

#[test]
fn one_of_several_permissions_is_enough() {
    let cluster = allowed(
        "operator",
        &[&["a", "b"], &["c"]],
        &["cr{x/y}", "operator", "a", "b", "c"],
    );
    assert_eq!(
        outcomes(&cluster, &[deleted(&["b"]), deleted(&["cr"])]),
        [["a", "c", "operator"]]
    );
    let none = outcomes(&cluster, &[deleted(&["b", "c"]), deleted(&["cr"])]);
    assert_eq!(none, [["a", "cr{T,x/y}", "operator"]]);
}

#[test]
fn absent_permission_grants_nothing() {
    let lines = ["cr{x/y}", "operator", "a"];
    let other = allowed("operator", &[&["a"], &["b"]], &lines);
    assert_eq!(outcomes(&other, &[deleted(&["cr"])]), [["a", "operator"]]);
    let only = allowed("operator", &[&["b"]], &lines);
    assert_eq!(
        outcomes(&only, &[deleted(&["cr"])]),
        [["a", "cr{T,x/y}", "operator"]]
    );
}

#[test]
fn losing_one_of_two_permissions_is_no_race() {
    let cluster = allowed(
        "operator",
        &[&["a"], &["b"]],
        &["cr{x/y}", "operator", "a", "b"],
    );
    assert_eq!(
        outcomes(&cluster, &[deleted(&["cr", "a"])]),
        [["b", "operator"]]
    );
    let both = outcomes(&cluster, &[deleted(&["cr", "a", "b"])]);
    assert_eq!(both, [&["cr{T,x/y}", "operator"][..], &["operator"]]);
}
