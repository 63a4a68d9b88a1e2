//! `plan teardown`, and the requests of tools, compared with recordings of real tools: Helm and kubectl on a real
//! control plane, with a fake operator that adds a finalizer to every Cake and, while it runs and has permission,
//! removes it. The operator was slow in one run and quick in another; if their results differ, both must be among the
//! outcomes.
//!
//! Cases that users can request are run through the binary; those that only `diff` needs, upgrades and replacements,
//! use `delivery/` and the model.

use std::collections::{BTreeMap, BTreeSet};

use ownerlint::cluster::{Analysis, steps_of};
use ownerlint::delivery::helm::{self, HelmVersion};
use ownerlint::delivery::{Leaving, Op, ToolRequest, kubectl};
use ownerlint::engine::TeardownBy;
use ownerlint::gc;
use ownerlint::kube::{ObjectKey, Policy, Wait};
use ownerlint::ownership::Products;
use serde_json::{Value, json};

use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::gc_support::{array, text};
use crate::plan::safe_order::{play, teardown};
use crate::support::{Repository, fixture, inventory_of};

/// Describes the fake operator in a user's configuration.
pub(crate) fn configuration(operator: &Value) -> String {
    format!(
        "version: 1\ncontrollers:\n  - name: stand-in\n    workload: Deployment.apps/{}/{}\n    finalizers: [{}]\n    kinds: [{}]\n    adds: run-time\n",
        text(&operator["namespace"]),
        text(&operator["deployment"]),
        text(&operator["finalizer"]),
        text(&operator["kind"]),
    )
}

fn recording(name: &str) -> Vec<Value> {
    array(&parsed(&fixture(&format!("conformance/{name}.json")))).to_vec()
}

fn scenario(name: &str) -> Value {
    recording("teardown")
        .into_iter()
        .find(|one| one["name"] == name)
        .unwrap_or_else(|| panic!("no scenario {name}"))
}

/// Returns the texts of a list of manifests, or of a chart's templates.
fn manifests(value: &Value) -> Vec<String> {
    match value {
        Value::Object(templates) => templates.values().map(text).collect(),
        Value::Array(list) => list.iter().map(text).collect(),
        _ => Vec::new(),
    }
}

fn keys_of(manifest: &str) -> Vec<String> {
    inventory_of("a.yaml", manifest)
        .members
        .iter()
        .map(|member| member.key.to_string())
        .collect()
}

/// One recorded step: the removed objects, the other objects of the cluster, and the tool.
struct Removed {
    by: &'static str,
    flags: Vec<String>,
    leaves: Vec<String>,
    beside: Vec<String>,
    /// The recorded states after the step, for each run.
    after: Vec<Value>,
}

/// Returns the removals of a scenario that users can request, in order.
fn removals(scenario: &Value) -> Vec<Removed> {
    let runs = array(&scenario["runs"]);
    let steps = array(&runs[0]["steps"]);
    let mut alive: Vec<String> = ["before", "beside", "files"]
        .into_iter()
        .flat_map(|part| manifests(&scenario[part]))
        .collect();
    alive.extend(manifests(&scenario["charts"]["v1"]));
    let mut removals = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let (by, leaves) = match step["op"].as_str() {
            Some("helm-uninstall") => ("helm", manifests(&scenario["charts"]["v1"])),
            Some("kubectl-delete") => ("kubectl", manifests(&step["documents"])),
            _ => break,
        };
        let beside = alive
            .iter()
            .filter(|manifest| !leaves.contains(manifest))
            .cloned()
            .collect();
        let after: Vec<Value> = runs
            .iter()
            .map(|run| run["steps"][at]["expect"].clone())
            .collect();
        let gone = |manifest: &String| keys_of(manifest).iter().all(|key| after[0][key] == "gone");
        alive.retain(|manifest| !gone(manifest));
        let flags = array(&step["flags"]).iter().map(text).collect();
        removals.push(Removed {
            by,
            flags,
            leaves,
            beside,
            after,
        });
    }
    removals
}

/// Writes manifests as files, in the order of the list, with the operator's configuration.
fn repository(leaves: &[String], beside: &[String], operator: &Value) -> Repository {
    let repository = Repository::new();
    if !operator.is_null() {
        repository.write("ownerlint.yaml", &configuration(operator));
    }
    for (folder, manifests) in [("leaves", leaves), ("beside", beside)] {
        for (number, manifest) in manifests.iter().enumerate() {
            repository.write(&format!("{folder}/{number:02}.yaml"), manifest);
        }
    }
    repository
}

/// Returns the plan of a removal, and checks its schema.
fn plan(
    by: &str,
    flags: &[String],
    leaves: &[String],
    beside: &[String],
    operator: &Value,
) -> Value {
    let repository = repository(leaves, beside, operator);
    let mut arguments = vec!["plan", "teardown", "--by", by, "-o", "json", "leaves"];
    if !beside.is_empty() {
        arguments.extend(["--beside", "beside"]);
    }
    // Waiting at the end does not change the result.
    let asked = flags
        .iter()
        .map(String::as_str)
        .filter(|flag| !["--wait", "--timeout", "20s"].contains(flag));
    arguments.extend(asked);
    let (status, out, error) = repository.run(&arguments, "");
    assert_eq!(status, 0, "{error}");
    let plan = parsed(&out);
    assert_eq!(schema_errors(validator("plan"), &plan), [""; 0]);
    plan
}

impl Removed {
    fn plan(&self, operator: &Value) -> Value {
        plan(self.by, &self.flags, &self.leaves, &self.beside, operator)
    }

    /// Returns the keys of the manifests.
    fn keys(&self) -> BTreeSet<String> {
        self.leaves
            .iter()
            .chain(&self.beside)
            .flat_map(|manifest| keys_of(manifest))
            .collect()
    }
}

fn outcomes(plan: &Value) -> Vec<Value> {
    let last = array(&plan["steps"]).last().expect("a step");
    array(&last["outcomes"])
        .iter()
        .map(|outcome| outcome["objects"].clone())
        .collect()
}

/// Returns the states of some objects, without the conditions of definitions, which depend on the time.
fn states<'k>(
    objects: &Value,
    keys: impl IntoIterator<Item = &'k String>,
) -> BTreeMap<String, Value> {
    let state = |key: &String| {
        let mut state = objects[key].clone();
        if key.starts_with("CustomResourceDefinition.") {
            for condition in state
                .get_mut("conditions")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                condition["reason"] = Value::Null;
                condition["message"] = Value::Null;
            }
        }
        (key.clone(), state)
    };
    keys.into_iter().map(state).collect()
}

/// Returns the differences from a recorded removal: runs that no outcome predicts, and a verdict that no run had.
fn disagreements(removed: &Removed, plan: &Value) -> Vec<String> {
    let keys = removed.keys();
    let predicted: Vec<_> = outcomes(plan)
        .iter()
        .map(|objects| states(objects, &keys))
        .collect();
    let recorded: Vec<_> = removed
        .after
        .iter()
        .map(|objects| states(objects, &keys))
        .collect();
    let mut wrong: Vec<String> = recorded
        .iter()
        .filter(|run| !predicted.contains(run))
        .map(|run| format!("not predicted: {}", difference(run, &predicted[0])))
        .collect();
    if !recorded.contains(&predicted[0]) {
        wrong.push(format!(
            "the verdict never happened: {}",
            difference(&recorded[0], &predicted[0])
        ));
    }
    wrong
}

fn difference(recorded: &BTreeMap<String, Value>, predicted: &BTreeMap<String, Value>) -> String {
    let differing = recorded
        .iter()
        .filter(|(key, state)| predicted.get(*key) != Some(state));
    let lines = differing.map(|(key, state)| format!("{key} is {state}, not {}", predicted[key]));
    lines.collect::<Vec<_>>().join("; ")
}

fn is_terminating(state: &Value) -> bool {
    state["terminating"] == true
}

/// Returns the objects that stay Terminating in any outcome, or that stay although their deletion was requested.
fn leftovers(plan: &Value) -> BTreeSet<String> {
    let asked: BTreeSet<String> = array(&plan["steps"])
        .iter()
        .map(|step| text(&step["target"]))
        .collect();
    let left = |objects: &Value| {
        let objects = objects.as_object().expect("objects").clone();
        objects.into_iter().filter(|(key, state)| {
            is_terminating(state) || (asked.contains(key) && *state != "gone")
        })
    };
    outcomes(plan)
        .iter()
        .flat_map(|objects| left(objects).map(|(key, _)| key).collect::<Vec<_>>())
        .collect()
}

#[test]
fn teardown_plans_agree_with_recorded_removals() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for scenario in recording("teardown") {
        for (number, removed) in removals(&scenario).iter().enumerate() {
            compared += 1;
            let plan = removed.plan(&scenario["operator"]);
            let disagree = disagreements(removed, &plan);
            wrong.extend(
                disagree
                    .into_iter()
                    .map(|text| format!("{}, step {number}: {text}", scenario["name"])),
            );
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(compared > 20, "{compared}");
}

#[test]
fn teardown_plans_agree_with_recorded_removals_without_operator() {
    let mut wrong = Vec::new();
    for scenario in recording("helm-more") {
        let runs = json!([{"steps": scenario["steps"]}]);
        let mut scenario = scenario;
        scenario["runs"] = runs;
        for removed in removals(&scenario) {
            // Not compared: its namespace, which existed before, and its child, whose owner's uid is made up.
            let mut plan = removed.plan(&Value::Null);
            let known: BTreeSet<String> = removed
                .keys()
                .into_iter()
                .filter(|key| !removed.after[0][key].is_null())
                .collect();
            let last = array(&plan["steps"]).len() - 1;
            let objects = plan["steps"][last]["outcomes"][0]["objects"].take();
            let (predicted, recorded) =
                (states(&objects, &known), states(&removed.after[0], &known));
            if predicted != recorded {
                wrong.push(format!(
                    "{}: {}",
                    scenario["name"],
                    difference(&recorded, &predicted)
                ));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

// --- a safe order ---

#[test]
fn safe_order_commands_succeed_and_exist_only_for_stuck_removals() {
    let mut solved = 0;
    for scenario in recording("teardown") {
        let operator = &scenario["operator"];
        for removed in removals(&scenario) {
            let repository = repository(&removed.leaves, &removed.beside, operator);
            let at = |folder: &str| {
                vec![
                    repository
                        .path()
                        .join(folder)
                        .to_string_lossy()
                        .into_owned(),
                ]
            };
            let beside = if removed.beside.is_empty() {
                Vec::new()
            } else {
                at("beside")
            };
            let by = if removed.by == "helm" {
                TeardownBy::Helm
            } else {
                TeardownBy::Kubectl
            };
            let teardown = teardown(by, None, &at("leaves"), &beside).expect("a removal");
            let played = play(by, &teardown).expect("an order");
            assert_eq!(
                played.failures, [""; 0],
                "{}: {:?}",
                scenario["name"], played.commands
            );
            let stuck = !leftovers(&removed.plan(operator)).is_empty();
            assert_eq!(
                stuck,
                !played.commands.is_empty(),
                "{}: {:?}",
                scenario["name"],
                played.commands
            );
            solved += usize::from(stuck);
        }
    }
    assert!(solved > 8, "{solved}");
}

// --- requests of a change ---

/// Returns the fates of the objects of `old` and `beside` when a tool sends the requests that `send` returns.
fn simulated(
    old: &[String],
    beside: &[String],
    send: impl Fn(&Leaving<'_>) -> Vec<ToolRequest>,
) -> BTreeMap<String, Value> {
    let texts: Vec<String> = [old, beside].concat();
    let inventory = inventory_of("a.yaml", &texts.join("\n---\n"));
    let leaving: Vec<String> = old.iter().flat_map(|manifest| keys_of(manifest)).collect();
    let analysis = Analysis::of(&inventory);
    let members = inventory
        .members
        .iter()
        .filter(|member| leaving.contains(&member.key.to_string()))
        .collect();
    let requests = send(&Leaving {
        inventory: &inventory,
        deliveries: analysis.deliveries(),
        members,
    });
    let implied = analysis.implied(Products::Used);
    let built = analysis
        .with_implied(&implied, &BTreeSet::new(), true)
        .expect("a small cluster");
    let plan = gc::simulate(
        &built.cluster,
        &steps_of(&requests),
        &gc::SimulationOptions::default(),
    );
    let Some(last) = plan.steps.last() else {
        return BTreeMap::new();
    };
    let state = |fate: &gc::Fate| match fate {
        gc::Fate::Gone => json!("gone"),
        gc::Fate::Present(present) => json!(present.terminating),
    };
    plan.fates(&last.outcomes[0])
        .iter()
        .map(|(key, fate)| (key.to_string(), state(fate)))
        .collect()
}

/// Returns the part of a recorded state with which the model's fate is compared.
fn fate(state: &Value) -> Value {
    if state == "gone" {
        state.clone()
    } else {
        state["terminating"].clone()
    }
}

#[test]
fn helm_upgrade_requests_reproduce_recorded_fates() {
    let mut compared = 0;
    for scenario in recording("teardown")
        .into_iter()
        .chain(recording("helm-more"))
    {
        let run = scenario["runs"].get(0).unwrap_or(&scenario);
        let step = &run["steps"][0];
        if step["op"] != "helm-upgrade" {
            continue;
        }
        compared += 1;
        let [old, new] = ["v1", "v2"].map(|version| manifests(&scenario["charts"][version]));
        let fails = step["exit"] != 0;
        let new = inventory_of("new.yaml", &new.join("\n---\n"));
        let analysis = Analysis::of(&new);
        let members = new.members.iter().collect();
        let new = Leaving {
            inventory: &new,
            deliveries: analysis.deliveries(),
            members,
        };
        let beside = [
            manifests(&scenario["before"]),
            manifests(&scenario["beside"]),
        ]
        .concat();
        // The API server rejects a changed selector: in the recording, the update of the Deployment fails.
        let rejects = |key: &ObjectKey| fails && key.kind() == "Deployment";
        let predicted = simulated(&old, &beside, |old| {
            helm::upgrade(old, &new, HelmVersion::V3, rejects).requests
        });
        let named = [&old[..], &beside].concat();
        for key in named.iter().flat_map(|manifest| keys_of(manifest)) {
            assert_eq!(
                predicted[&key],
                fate(&step["expect"][&key]),
                "{}: {key}",
                scenario["name"]
            );
        }
    }
    assert!(compared > 11, "{compared}");
}

#[test]
fn kubectl_replace_force_of_stateful_set_keeps_claims() {
    let scenario = scenario("kubectl-replace-force-set");
    let set = manifests(&scenario["files"]);
    // kubectl pkg/cmd/replace, forceReplace: deletes everything, waits until it is gone, and creates it again.
    let predicted = simulated(&set, &[], |all| {
        let deleted = kubectl::delete(all, Policy::Background).requests;
        let created = deleted.iter().map(|request| ToolRequest {
            op: Op::Create,
            policy: None,
            wait: Wait::None,
            ..request.clone()
        });
        deleted.iter().cloned().chain(created).collect()
    });
    let recorded = &scenario["runs"][0]["steps"][0]["expect"];
    for key in [
        "StatefulSet.apps/shop/db",
        "Pod/shop/db-0",
        "Pod/shop/db-1",
        "PersistentVolumeClaim/shop/data-db-0",
    ] {
        assert_eq!(predicted[key], fate(&recorded[key]), "{key}");
    }
}
