//! Clients that send one request after another, and wait or not: which requests they still send.

use kube_gc::Step;
use kube_gc::names::{Policy, Wait};

use crate::reconcilers::{ACCOUNT, BINDING, NOTHING, bound, deleted, operated, sent};
use crate::support::{outcomes, planned, sketch_key};

fn waiting(names: &[&str], wait: Wait) -> Step {
    Step::Delete {
        targets: names.iter().map(|name| sketch_key(name)).collect(),
        policy: Some(Policy::Background),
        wait,
        client: 0,
    }
}

/// One request that names objects, and a wait until these are gone, as of `kubectl delete --wait`.
fn named(names: &[&str]) -> Step {
    waiting(names, Wait::Named)
}

#[test]
fn kubectl_waits_for_named_objects_but_not_dependents() {
    let lines = ["owner{x/y}", "dependent{x/y} -> owner", "operator"];
    let cluster = operated("operator", &lines);
    let alone = outcomes(&cluster, &[named(&["owner"]), deleted(&["operator"])]);
    assert_eq!(alone, [&["dependent{T,x/y} -> owner"][..], &NOTHING]);
    assert_eq!(
        outcomes(&cluster, &[awaited("owner"), deleted(&["operator"])]),
        [NOTHING],
        "a tool that looks again after seconds"
    );
    assert_eq!(
        outcomes(
            &cluster,
            &[named(&["owner", "dependent"]), deleted(&["operator"])]
        ),
        [NOTHING]
    );
    assert_eq!(
        outcomes(
            &cluster,
            &[
                named(&["owner"]),
                named(&["dependent"]),
                deleted(&["operator"])
            ]
        ),
        [NOTHING]
    );
}

#[test]
fn kubectl_waiting_forever_sends_no_further_requests() {
    let cluster = operated("operator", &["a{x/z}", "operator -> a"]);
    assert_eq!(
        outcomes(&cluster, &[named(&["a"]), deleted(&["operator"])]),
        [["a{T,x/z}", "operator -> a"]]
    );
}

/// Deletes one object, and waits until the targets of all requests so far are gone.
fn awaited(name: &str) -> Step {
    waiting(&[name], Wait::Gone)
}

#[test]
fn client_waiting_for_stuck_object_sends_no_further_requests() {
    let cluster = operated("operator", &["a{x/z}", "b", "operator"]);
    let steps = [awaited("a"), deleted(&["b"])];
    assert_eq!(outcomes(&cluster, &steps), [["a{T,x/z}", "b", "operator"]]);
    let plan = planned(&cluster, &steps);
    assert_eq!(
        (&plan.steps[0].responses[..], &plan.steps[1].responses[..]),
        (&[200][..], &[][..])
    );
}

#[test]
fn client_continues_only_where_its_objects_are_deleted() {
    let cluster = bound(&["cr{x/y}", "b"]);
    let steps = [awaited("cr"), deleted(&["operator", ACCOUNT])];
    assert_eq!(
        outcomes(&cluster, &steps),
        [["b", BINDING]],
        "the operator is there until the object is gone"
    );
    let mut racing = sent(&["operator", "cr"], Policy::Background);
    racing.extend([awaited(ACCOUNT), deleted(&["b"])]);
    let ends = outcomes(&cluster, &racing);
    assert_eq!(ends, [&["b", "cr{T,x/y}", BINDING][..], &[BINDING]]);
}

/// Assigns a step to a client.
fn by(number: usize, mut step: Step) -> Step {
    if let Step::Delete { client, .. } = &mut step {
        *client = number;
    }
    step
}

#[test]
fn waiting_client_does_not_delay_other_clients() {
    let cluster = operated("operator", &["a{x/z}", "b", "c", "d", "operator"]);
    let steps = [
        by(0, awaited("a")),
        by(1, awaited("c")),
        by(0, awaited("b")),
        by(1, awaited("d")),
    ];
    assert_eq!(outcomes(&cluster, &steps), [["a{T,x/z}", "b", "operator"]]);
    let plan = planned(&cluster, &steps);
    let answers: Vec<&[u16]> = plan.steps.iter().map(|step| &step.responses[..]).collect();
    assert_eq!(answers, [&[200][..], &[200], &[], &[200]]);
    // Each client waits only for its own objects.
    let crossed = [
        by(0, awaited("a")),
        by(1, awaited("c")),
        by(1, awaited("d")),
    ];
    assert_eq!(
        outcomes(&cluster, &crossed),
        [["a{T,x/z}", "b", "operator"]]
    );
}

#[test]
fn requests_of_two_clients_may_interleave() {
    let cluster = bound(&["cr{x/y}", "b"]);
    let one = sent(&[BINDING, "cr"], Policy::Background);
    assert_eq!(
        outcomes(&cluster, &one).len(),
        1,
        "one client sends its requests in order"
    );
    let two = [by(0, one[0].clone()), by(1, one[1].clone())];
    let ends = outcomes(&cluster, &two);
    assert!(
        ends.len() == 2 && ends[0].iter().any(|object| object.starts_with("cr{T")),
        "{ends:?}"
    );
}

#[test]
fn only_the_client_with_stuck_objects_halts() {
    let cluster = bound(&["cr{x/y}", "b", "c", "d"]);
    let mut steps = sent(&["operator", "cr"], Policy::Background);
    steps[1] = awaited("cr");
    steps.extend([
        by(1, awaited("c")),
        by(0, awaited("b")),
        by(1, deleted(&["d"])),
    ]);
    let ends = outcomes(&cluster, &steps);
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert!(
        ends.iter()
            .all(|end| !end.iter().any(|object| object == "c" || object == "d")),
        "{ends:?}"
    );
    for end in &ends {
        assert_eq!(
            end.iter().any(|o| o == "b"),
            end.iter().any(|o| o.starts_with("cr{T")),
            "b stays where cr is stuck: {ends:?}"
        );
    }
}

#[test]
fn one_stuck_object_stops_all_later_requests_of_its_client() {
    let cluster = operated("operator", &["a{x/y}", "operator", "b", "c -> b"]);
    let mut steps = sent(&["operator", "a"], Policy::Background);
    steps.push(awaited("b"));
    steps[1] = awaited("a");
    let ends = outcomes(&cluster, &steps);
    assert_eq!(ends, [&["a{T,x/y}", "b", "c -> b"][..], &NOTHING]);
}

#[test]
fn controller_deleted_and_awaited_may_still_release_objects() {
    let cluster = operated("operator", &["cr{x/y}", "operator"]);
    let ends = outcomes(&cluster, &[awaited("operator"), deleted(&["cr"])]);
    assert_eq!(
        ends,
        [&["cr{T,x/y}"][..], &NOTHING],
        "its process may live on for some seconds"
    );
}
