//! The answers of a plan: causes, owner chains, holds, and responses.

use kube_gc::names::ObjectKey;
use kube_gc::{Cause, Hold};

use crate::model::{BACKGROUND, FOREGROUND};
use crate::support::{delete, end, planned, sketch, sketch_key};

fn names(keys: &[ObjectKey]) -> Vec<String> {
    keys.iter().map(|key| key.name.to_string()).collect()
}

#[test]
fn plan_explains_each_deletion_with_its_owner_chain() {
    let cluster = sketch(&[
        "o",
        "p -> o",
        "q -> p",
        "z{x/y} -> q",
        "Widget.example.com/n/w -> o, !q",
    ]);
    let plan = planned(&cluster, &[delete(&["o"], BACKGROUND)]);
    let why = plan.why(0);
    let (q, z) = (&why[&sketch_key("q")], &why[&sketch_key("z")]);
    assert_eq!(names(&q.chain), ["o", "p", "q"]);
    assert_eq!(q.causes, [Cause::OwnerGone]);
    assert_eq!(names(&z.chain), ["o", "p", "q", "z"]);
    assert!(z.causes.contains(&Cause::AwaitsFinalizers));
    let stuck = plan.stuck(0);
    assert_eq!(stuck.len(), 1);
    assert_eq!(cluster.key(stuck[0].object), sketch_key("z"));
    assert_eq!(stuck[0].holds, [Hold::Finalizers(vec!["x/y".to_owned()])]);
    let rounds: Vec<u32> = plan.changes(0).iter().map(|change| change.round).collect();
    assert!(rounds.is_sorted(), "in the order in which it happened");
}

#[test]
fn long_owner_chain_keeps_its_start_and_end() {
    let lines: Vec<String> = (1..100)
        .map(|n| format!("c{n:02} -> c{:02}", n - 1))
        .chain(["c00".to_owned()])
        .collect();
    let cluster = sketch(&lines);
    let plan = planned(&cluster, &[delete(&["c00"], BACKGROUND)]);
    let why = plan.why(0);
    let told = ["c31", "c99"].map(|name| {
        let why = &why[&sketch_key(name)];
        (names(&why.chain), why.omitted)
    });
    let first = (0..32).map(|n| format!("c{n:02}")).collect();
    let last: Vec<String> = (69..100).map(|n| format!("c{n:02}")).collect();
    assert_eq!(
        told,
        [(first, 0), ([vec!["c00".to_owned()], last].concat(), 68)]
    );
}

#[test]
fn stuck_owner_names_its_blocking_dependents() {
    let cluster = sketch(&["o", "c{x/y} -> !o"]);
    let plan = planned(&cluster, &[delete(&["o"], FOREGROUND)]);
    let stuck = plan.stuck(0);
    assert_eq!(cluster.key(stuck[1].object), sketch_key("o"));
    let dependents = vec![cluster.find(&sketch_key("c")).expect("it exists")];
    assert_eq!(
        stuck[1].holds,
        [Hold::BlockingDependents {
            dependents,
            itself: false
        }]
    );
}

#[test]
fn deleting_absent_object_returns_404_and_changes_nothing() {
    let cluster = sketch(&["o", "c -> o"]);
    let plan = planned(&cluster, &[delete(&["x"], BACKGROUND)]);
    assert_eq!(plan.steps[0].responses, [404]);
    assert_eq!(
        end(&cluster, &[delete(&["x"], BACKGROUND)]),
        ["c -> o", "o"]
    );
}
