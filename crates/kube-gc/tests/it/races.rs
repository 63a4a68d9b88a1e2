//! Races (TV-39 to TV-42), and searches with many possible states.

use kube_gc::names::Policy;
use kube_gc::{Difference, Fate, Step};

use crate::model::{BACKGROUND, FOREGROUND, NOTHING, ORPHAN, after, with_reference_rewritten};
use crate::support::{cluster, delete, outcomes, planned, sketch, sketch_object};

/// Returns all outcomes of deleting `o`, the verdict first.
fn races(objects: &[&str], policy: Option<Policy>) -> Vec<Vec<String>> {
    outcomes(&sketch(objects), &[Step::Settle, delete(&["o"], policy)])
}

#[test]
fn tv39_nonblocking_dependent_of_foreground_owner_may_survive() {
    assert_eq!(
        races(&["o{x/y}", "c -> o"], FOREGROUND),
        [vec!["o{T,x/y}"], vec!["c -> o", "o{T,x/y}"]]
    );
}

#[test]
fn tv40_diamond_dependent_may_survive_below_a_stuck_sibling() {
    let outcomes = races(&["o", "p{x/y} -> !o", "c -> !o, p"], FOREGROUND);
    let [owner, sibling] = ["o{T,foregroundDeletion}", "p{T,x/y} -> !o"];
    assert_eq!(
        outcomes,
        [vec![owner, sibling], vec!["c -> p", owner, sibling]]
    );
}

#[test]
fn tv41_grandchild_may_be_deleted_in_foreground_or_background() {
    let outcomes = races(&["o", "p -> o", "q -> p", "r{x/y} -> !q"], FOREGROUND);
    assert_eq!(
        outcomes,
        [
            vec!["q{T,foregroundDeletion} -> p", "r{T,x/y} -> !q"],
            vec!["r{T,x/y} -> !q"]
        ]
    );
}

#[test]
fn tv42_outcomes_differ_only_in_owner_references() {
    let cluster = sketch(&["o", "p -> o", "c{x/y} -> p, !o"]);
    let steps = [delete(&["o"], BACKGROUND)];
    assert_eq!(
        outcomes(&cluster, &steps),
        [vec!["c{T,x/y} -> p"], vec!["c{T,x/y} -> p, !o"]]
    );
    let plan = planned(&cluster, &steps);
    let differs: Vec<Option<Difference>> = plan.steps[0]
        .outcomes
        .iter()
        .map(|outcome| outcome.differs)
        .collect();
    assert_eq!(differs, [None, Some(Difference::References)]);
}

/// Without reduction, the search visits more than 200,000 states.
#[test]
fn a_fan_out_of_24_dependents_is_searched_completely() {
    let mut lines = vec!["o".to_owned()];
    lines.extend((0..24).map(|n| format!("c{n:02} -> {}o", if n % 2 == 0 { "!" } else { "" })));
    assert_eq!(after(&lines, "o", FOREGROUND), NOTHING);
}

#[test]
fn deployment_with_many_pods_has_one_outcome() {
    let mut lines = vec!["Deployment.apps/n/web".to_owned()];
    for set in 0..4 {
        lines.push(format!(
            "ReplicaSet.apps/n/web-{set} -> !Deployment.apps/n/web"
        ));
        lines.extend(
            (0..25).map(|pod| format!("Pod/n/web-{set}-{pod} -> !ReplicaSet.apps/n/web-{set}")),
        );
    }
    for policy in [BACKGROUND, FOREGROUND] {
        assert_eq!(after(&lines, "Deployment.apps/n/web", policy), NOTHING);
    }
}

/// Two outcomes for each of 20 independent parts, in a cluster with many objects per outcome.
#[test]
fn listed_outcomes_are_limited_and_marked_incomplete() {
    let races = (0..20).flat_map(|n| {
        [
            format!("o{n:02}{{x/y}} -> p{n:02}"),
            format!("p{n:02}"),
            format!("c{n:02} -> o{n:02}, !p{n:02}"),
        ]
    });
    let others = (0..5_000).map(|n| format!("z{n:04}"));
    let cluster = sketch(&races.chain(others).collect::<Vec<_>>());
    let owners: Vec<String> = (0..20)
        .flat_map(|n| [format!("o{n:02}"), format!("p{n:02}")])
        .collect();
    let steps = [delete(&owners, FOREGROUND), Step::Settle];
    let plan = planned(&cluster, &steps);
    let listed: usize = plan.steps.iter().map(|step| step.outcomes.len() - 1).sum();
    assert!(
        listed > 0 && listed * cluster.len() <= 300_000,
        "{listed} outcomes"
    );
    assert!(plan.steps.iter().all(|step| !step.complete));
}

#[test]
fn failing_dependent_may_be_retried_late() {
    // Orphaning by uid removes the unresolvable reference too [GC-38]; its retry may be far off [GC-16].
    let child = with_reference_rewritten("c -> o, gone", 0, "v9", "ConfigMap");
    let cluster = cluster(vec![sketch_object("o"), child]);
    let plan = planned(&cluster, &[Step::Settle, delete(&["o"], ORPHAN)]);
    let outcomes = plan.steps[1].outcomes.iter();
    let late = outcomes.map(|outcome| {
        let fates = plan.fates(outcome).into_iter();
        let gone = fates.filter(|(_, fate)| *fate == Fate::Gone);
        (outcome.late, gone.count())
    });
    let late: Vec<(bool, usize)> = late.collect();
    assert_eq!(
        late,
        [(false, 2), (true, 1)],
        "collected at the next tick, or not yet"
    );
}
