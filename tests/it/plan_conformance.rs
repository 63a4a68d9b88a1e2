//! `plan --steps` against recordings of a real control plane, through the binary and its JSON; `gc_conformance` replays
//! all of them through the library. And what is implied below a rendering against what controllers really created.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::formats::schemas::{complaints, parsed, validator};
use crate::gc_support::{array, text};
use crate::support::{fixture, ownerlint};

const FAMILIES: [&str; 6] = ["tree", "scope", "stale", "finalizer", "cycle", "namespace"];
/// Every so many scenarios of a family go through the binary.
const STRIDE: usize = 8;

fn recording(name: &str) -> Value {
    parsed(&fixture(&format!("conformance/{name}")))
}

/// The plan of `steps` on `manifests`, both written to files as a user has them.
fn plan(manifests: &[Value], steps: &Value, kubelet: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, content.to_string()).expect("the file can be written");
        path
    };
    let steps = write("steps.json", steps);
    let input = write(
        "state.json",
        &json!({"apiVersion": "v1", "kind": "List", "items": manifests}),
    );
    let mut command = ownerlint();
    command
        .args(["plan", "--output", "json", "--kubelet", kubelet, "--steps"])
        .args([steps, input]);
    let output = command.output().expect("the program runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    parsed(std::str::from_utf8(&output.stdout).expect("the output is text"))
}

/// The definitions of the recordings' custom kinds, which their states leave out.
fn definition(kind: &str, scope: &str) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let version = |name: &str| json!({"name": name, "served": true, "storage": name == "v1"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": scope, "names": {"kind": kind, "plural": plural}, "versions": [version("v1beta1"), version("v1")]}
    })
}

/// Replays one scenario and compares every verdict; the name is returned when something differs.
fn replay(scenario: &Value, definitions: &[Value]) -> Vec<String> {
    let manifests = [array(&scenario["state"]), definitions].concat();
    let planned = plan(&manifests, &scenario["steps"], "no");
    let mut wrong = complaints(validator("plan"), &planned);
    for (number, (recorded, predicted)) in array(&scenario["steps"])
        .iter()
        .zip(array(&planned["steps"]))
        .enumerate()
    {
        for field in ["op", "target", "policy", "http"] {
            // Recordings leave out what does not apply.
            if !recorded[field].is_null() && recorded[field] != predicted[field] {
                wrong.push(format!(
                    "step {number}: {field} is {}, not {}",
                    predicted[field], recorded[field]
                ));
            }
        }
        if predicted["complete"] != true {
            wrong.push(format!("step {number} is incomplete"));
        }
        let mut objects = comparable(&predicted["outcomes"][0]["objects"]);
        for crd in definitions {
            _ = objects.remove(&format!(
                "CustomResourceDefinition.apiextensions.k8s.io//{}",
                text(&crd["metadata"]["name"])
            ));
        }
        let expected = comparable(&recorded["expect"]);
        if objects != expected {
            wrong.push(format!("step {number}: {objects:#?} is not {expected:#?}"));
        }
    }
    assert_eq!(
        array(&planned["steps"]).len(),
        array(&scenario["steps"]).len()
    );
    wrong
        .iter()
        .map(|wrong| format!("{}: {wrong}", scenario["name"]))
        .collect()
}

/// States by key; what a definition's condition says depends on the minute it is looked at.
fn comparable(objects: &Value) -> BTreeMap<String, Value> {
    let states = objects
        .as_object()
        .expect("states by key")
        .iter()
        .map(|(key, state)| {
            let mut state = state.clone();
            if key.starts_with("CustomResourceDefinition.") {
                // `gone` has none.
                let conditions = state.get_mut("conditions").and_then(Value::as_array_mut);
                for condition in conditions.into_iter().flatten() {
                    condition["reason"] = Value::Null;
                    condition["message"] = Value::Null;
                }
            }
            (key.clone(), state)
        });
    states.collect()
}

#[test]
fn recorded_clusters_fare_as_planned() {
    let definitions = [
        definition("Widget", "Namespaced"),
        definition("Gadget", "Cluster"),
    ];
    let wrong: Vec<String> = FAMILIES
        .par_iter()
        .flat_map(|family| {
            let recording = recording(&format!("gc/{family}.json"));
            let some: Vec<Value> = array(&recording["stable"])
                .iter()
                .step_by(STRIDE)
                .cloned()
                .collect();
            some.par_iter()
                .flat_map_iter(|scenario| replay(scenario, &definitions))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_workloads_fare_as_planned() {
    for run in ["workloads-run1.json", "workloads-run2.json"] {
        let scenarios = recording(run);
        let wrong: Vec<String> = array(&scenarios)
            .par_iter()
            .flat_map_iter(|scenario| replay(scenario, &[]))
            .collect();
        assert!(wrong.is_empty(), "{run}: {}", wrong.join("\n"));
    }
}

/// The compared parts of an object that a controller created: kind, finalizers, and the flags of its references.
fn shape(kind: &str, state: &Value) -> String {
    let flag = |value: &Value| {
        value
            .as_bool()
            .map_or("absent".to_owned(), |flag| flag.to_string())
    };
    let references = array(&state["ownerReferences"]).iter().map(|reference| {
        let (controller, block) = (
            flag(&reference["controller"]),
            flag(&reference["blockOwnerDeletion"]),
        );
        format!(
            "{} {} controller {controller} blocking {block}",
            text(&reference["apiVersion"]),
            text(&reference["kind"])
        )
    });
    let references: Vec<String> = references.collect();
    let mut finalizers: Vec<String> = array(&state["finalizers"]).iter().map(text).collect();
    finalizers.sort();
    format!("{kind} {finalizers:?} {references:?}")
}

fn key_of(object: &Value) -> String {
    let (api_version, metadata) = (text(&object["apiVersion"]), &object["metadata"]);
    let group = api_version
        .split_once('/')
        .map_or(String::new(), |(group, _)| format!(".{group}"));
    format!(
        "{}{group}/{}/{}",
        text(&object["kind"]),
        text(&metadata["namespace"]),
        text(&metadata["name"])
    )
}

/// Whether a shape is compared: the namespace and what belongs to every namespace was there before, and a node to run
/// the Pods of a DaemonSet was not.
fn counts(shape: &str) -> bool {
    let kind = shape.split(' ').next().unwrap_or_default();
    let of_namespace = matches!(kind, "Namespace" | "ServiceAccount" | "ConfigMap");
    let of_node = kind == "Pod" && shape.contains("DaemonSet");
    !of_namespace && !of_node
}

fn sorted(shapes: impl Iterator<Item = String>) -> Vec<String> {
    let mut shapes: Vec<String> = shapes.filter(|shape| counts(shape)).collect();
    shapes.sort();
    shapes
}

/// The manifests alone imply what the controllers of a real control plane made of them: as many objects of each shape,
/// and under the same names where a controller does not make them up.
#[test]
fn what_is_implied_is_what_controllers_made() {
    for run in ["workloads-run1.json", "workloads-run2.json"] {
        for scenario in array(&recording(run)) {
            let written: Vec<String> = array(&scenario["manifests"]).iter().map(key_of).collect();
            let made = || {
                array(&scenario["state"])
                    .iter()
                    .filter(|object| !written.contains(&key_of(object)))
            };
            let keys: Vec<String> = made().map(key_of).collect();
            let planned = plan(
                array(&scenario["manifests"]),
                &json!([{"op": "settle"}]),
                "no",
            );
            let implied = array(&planned["implied"]).iter().map(|object| {
                let key = text(&object["key"]);
                let shape = shape(
                    key.split(['.', '/']).next().unwrap_or_default(),
                    &object["outcomes"][0],
                );
                assert!(
                    key.contains('<') || !counts(&shape) || keys.contains(&key),
                    "{}: no {key} in {keys:?}",
                    scenario["name"]
                );
                shape
            });
            let made = made().map(|object| shape(&text(&object["kind"]), &object["metadata"]));
            assert_eq!(sorted(implied), sorted(made), "{run}: {}", scenario["name"]);
        }
    }
}
