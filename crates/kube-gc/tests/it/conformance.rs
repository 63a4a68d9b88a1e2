//! The simulator against recordings of a real control plane (kube-apiserver and
//! kube-controller-manager 1.36.2), step by step: HTTP codes, objects gone, Terminating,
//! finalizers, owner references as stored, namespace conditions word by word, and events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kube_gc::{Condition, Event, Fate, Outcome, Plan, Present, SimulationOptions, Step, simulate};
use rayon::prelude::*;
use serde_json::Value;

use crate::support::{array, cluster_of, owner_reference, step, text};

const FAMILIES: [&str; 6] = ["tree", "scope", "stale", "finalizer", "cycle", "namespace"];

/// The recordings were made without kubelets.
fn options() -> SimulationOptions {
    SimulationOptions {
        kubelet: false,
        ..SimulationOptions::default()
    }
}

fn recording(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/conformance")
        .join(name);
    let content = std::fs::read_to_string(&path).expect("the recording is committed");
    serde_json::from_str(&content).expect("a recording is JSON")
}

fn family(name: &str) -> Value {
    recording(&format!("gc/{name}.json"))
}

/// Differences between the predictions and the recording of one scenario.
#[derive(Debug, Default)]
struct Comparison {
    name: String,
    /// Steps whose verdict differs from the recording.
    surprised: Vec<usize>,
    /// Steps whose recording is in no predicted outcome.
    missed: Vec<usize>,
    /// Steps whose recording is only in outcomes that need a late retry.
    late: Vec<usize>,
    several_outcomes: bool,
}

fn compare(scenario: &Value) -> Comparison {
    let cluster = cluster_of(&scenario["state"]);
    let steps: Vec<Step> = array(&scenario["steps"]).iter().map(step).collect();
    let plan = simulate(&cluster, &steps, &options());
    let mut comparison = Comparison {
        name: text(&scenario["name"]),
        ..Comparison::default()
    };
    for (index, recorded) in array(&scenario["steps"]).iter().enumerate() {
        let predicted = &plan.steps[index];
        if let Some(code) = recorded["http"].as_u64() {
            assert_eq!(
                predicted.responses,
                [code as u16],
                "{}: HTTP code of step {index}",
                comparison.name
            );
        }
        assert!(
            predicted.complete,
            "{}: the search of step {index} was cut short",
            comparison.name
        );
        let expected = expected(&recorded["expect"]);
        let matching: Vec<&Outcome> = predicted
            .outcomes
            .iter()
            .filter(|outcome| agrees(&plan, outcome, &expected))
            .collect();
        if matching.is_empty() {
            comparison.missed.push(index);
        } else if matching.iter().all(|outcome| outcome.late) {
            comparison.late.push(index);
        }
        if !agrees(&plan, &predicted.outcomes[0], &expected) {
            comparison.surprised.push(index);
        }
        comparison.several_outcomes |= predicted.outcomes.len() > 1;
    }
    comparison
}

fn agrees(plan: &Plan<'_>, outcome: &Outcome, expected: &BTreeMap<String, Fate>) -> bool {
    let fates = plan
        .fates(outcome)
        .into_iter()
        .map(|(key, fate)| (key.to_string(), fate));
    let fates: BTreeMap<String, Fate> = fates
        .map(|(key, fate)| (key.clone(), comparable(&key, fate)))
        .collect();
    fates == *expected
}

fn expected(recorded: &Value) -> BTreeMap<String, Fate> {
    let fates = recorded.as_object().expect("expectations by key").iter();
    fates
        .map(|(key, fate)| (key.clone(), comparable(key, recorded_fate(fate))))
        .collect()
}

/// Clears the reason and message of a definition's conditions, which depend on the minute they are read.
fn comparable(key: &str, mut fate: Fate) -> Fate {
    if key.starts_with("CustomResourceDefinition.")
        && let Fate::Present(Present {
            conditions: Some(conditions),
            ..
        }) = &mut fate
    {
        for condition in conditions {
            condition.reason.clear();
            condition.message.clear();
        }
    }
    fate
}

fn recorded_fate(fate: &Value) -> Fate {
    if fate == "gone" {
        return Fate::Gone;
    }
    Fate::Present(Present {
        terminating: fate["terminating"] == true,
        finalizers: array(&fate["finalizers"]).iter().map(text).collect(),
        owner_references: array(&fate["ownerReferences"])
            .iter()
            .map(owner_reference)
            .collect(),
        spec_finalizers: fate["spec.finalizers"]
            .as_array()
            .map(|tokens| tokens.iter().map(text).collect()),
        conditions: fate["conditions"]
            .as_array()
            .map(|conditions| conditions.iter().map(condition).collect()),
    })
}

/// Fails if any comparison has `steps` with this fault.
fn assert_none(comparisons: &[Comparison], steps: fn(&Comparison) -> &[usize], fault: &str) {
    let faulty: Vec<&Comparison> = comparisons
        .iter()
        .filter(|comparison| !steps(comparison).is_empty())
        .collect();
    assert!(faulty.is_empty(), "{fault}: {faulty:#?}");
}

fn condition(condition: &Value) -> Condition {
    Condition {
        kind: text(&condition["type"]),
        status: text(&condition["status"]),
        reason: text(&condition["reason"]),
        message: text(&condition["message"]),
    }
}

/// Scenarios with the same result in three recordings.
#[test]
fn stable_recordings_are_predicted() {
    let comparisons: Vec<Comparison> = FAMILIES
        .par_iter()
        .flat_map(|name| {
            array(&family(name)["stable"])
                .par_iter()
                .map(compare)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(comparisons.len(), 643);
    assert_none(
        &comparisons,
        |comparison| &comparison.missed,
        "recorded, but in no predicted outcome",
    );
    assert_none(
        &comparisons,
        |comparison| &comparison.surprised,
        "the verdict differs from the recording",
    );
    let single = comparisons
        .iter()
        .filter(|comparison| !comparison.several_outcomes)
        .count();
    assert_eq!(
        single, 602,
        "scenarios with exactly one predicted outcome; at least 93 % (598) are wanted"
    );
}

/// Scenarios that raced in Kubernetes: every recorded run is one of the outcomes.
#[test]
fn every_run_of_the_unstable_recordings_is_predicted() {
    let comparisons: Vec<Comparison> = FAMILIES
        .par_iter()
        .flat_map(|name| {
            array(&family(name)["unstable"])
                .par_iter()
                .flat_map_iter(array)
                .map(compare)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(comparisons.len(), 3 * 17);
    assert_none(
        &comparisons,
        |comparison| &comparison.missed,
        "recorded, but in no predicted outcome",
    );
}

/// Real workloads under all built-in controllers, but without kubelets and scheduler.
#[test]
fn workload_recordings_match_at_every_step() {
    for name in ["workloads-run1.json", "workloads-run2.json"] {
        let scenarios = recording(name);
        assert_eq!(array(&scenarios).len(), 42);
        let comparisons: Vec<Comparison> = array(&scenarios).par_iter().map(compare).collect();
        assert_none(&comparisons, |comparison| &comparison.surprised, name);
    }
}

fn identity(event: &Value) -> (String, String) {
    (text(&event["object"]), text(&event["message"]))
}

fn identity_of(event: &Event) -> (String, String) {
    (event.object.to_string(), event.message.clone())
}

/// `OwnerRefInvalidNamespace`, in the families without namespace deletion.
#[test]
fn recorded_events_are_predicted_and_certain_events_were_recorded() {
    let (mut predicted, mut certain, mut unseen) = (0, 0, 0);
    for name in FAMILIES.into_iter().filter(|name| *name != "namespace") {
        for scenario in array(&family(name)["stable"]) {
            let cluster = cluster_of(&scenario["state"]);
            let steps: Vec<Step> = array(&scenario["steps"]).iter().map(step).collect();
            let options = SimulationOptions {
                state_cap: 0,
                ..options()
            };
            let plan = simulate(&cluster, &steps, &options);
            let mut ever_recorded = BTreeSet::new();
            for (step, planned) in array(&scenario["steps"]).iter().zip(&plan.steps) {
                let planned: BTreeMap<(String, String), bool> = planned
                    .events
                    .iter()
                    .map(|event| (identity_of(event), event.certain))
                    .collect();
                let always: BTreeSet<_> = array(&step["events"]).iter().map(identity).collect();
                let sometimes: BTreeSet<_> = array(&step["events_sometimes"])
                    .iter()
                    .map(identity)
                    .collect();
                for event in always.union(&sometimes) {
                    assert!(
                        planned.contains_key(event),
                        "{}: recorded, not predicted: {event:?}",
                        scenario["name"]
                    );
                }
                for (event, _) in planned.iter().filter(|(_, certain)| **certain) {
                    assert!(
                        always.contains(event),
                        "{}: certain, not recorded: {event:?}",
                        scenario["name"]
                    );
                }
                ever_recorded.extend(always.into_iter().chain(sometimes));
            }
            let last = &plan.steps.last().expect("a scenario has steps").events;
            predicted += last.len();
            certain += last.iter().filter(|event| event.certain).count();
            unseen += last
                .iter()
                .filter(|event| !ever_recorded.contains(&identity_of(event)))
                .count();
        }
    }
    assert_eq!(
        (predicted, certain, unseen),
        (308, 157, 26),
        "predicted, certain, never recorded"
    );
    assert!(
        unseen * 100 <= predicted * 15,
        "at most 15 % of the predicted events were never recorded"
    );
}
