//! `plan --steps` through the binary and its JSON, compared with recordings of a real control plane
//! (`crates/kube-gc` replays all). Also compares implied objects with those of controllers.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::gc_support::{array, text};
use crate::support::{fixture, ownerlint};

const FAMILIES: [&str; 6] = ["tree", "scope", "stale", "finalizer", "cycle", "namespace"];
/// One scenario in this many of each family is run through the binary.
const STRIDE: usize = 8;

fn recording(name: &str) -> Value {
    parsed(&fixture(&format!("conformance/{name}")))
}

/// Returns the plan of `steps` for `manifests`, both written to files.
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

/// Returns a definition of a custom kind: the recorded states contain none.
fn definition(kind: &str, scope: &str) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let version = |name: &str| json!({"name": name, "served": true, "storage": name == "v1"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": scope, "names": {"kind": kind, "plural": plural}, "versions": [version("v1beta1"), version("v1")]}
    })
}

/// Replays one scenario and compares every verdict. Returns the differences.
fn replay(scenario: &Value, definitions: &[Value]) -> Vec<String> {
    let manifests = [array(&scenario["state"]), definitions].concat();
    let planned = plan(&manifests, &scenario["steps"], "no");
    let mut wrong = schema_errors(validator("plan"), &planned);
    for (number, (recorded, predicted)) in array(&scenario["steps"])
        .iter()
        .zip(array(&planned["steps"]))
        .enumerate()
    {
        for field in ["op", "target", "policy", "http"] {
            // Recordings omit fields that do not apply.
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

/// Returns the states by key, without the reasons and messages in a definition's conditions, which depend on the time.
fn comparable(objects: &Value) -> BTreeMap<String, Value> {
    let states = objects
        .as_object()
        .expect("states by key")
        .iter()
        .map(|(key, state)| {
            let mut state = state.clone();
            if key.starts_with("CustomResourceDefinition.") {
                // A state `gone` has no conditions.
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
fn planned_steps_agree_with_recorded_clusters() {
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
fn planned_steps_agree_with_recorded_workloads() {
    for run in ["workloads-run1.json", "workloads-run2.json"] {
        let scenarios = recording(run);
        let wrong: Vec<String> = array(&scenarios)
            .par_iter()
            .flat_map_iter(|scenario| replay(scenario, &[]))
            .collect();
        assert!(wrong.is_empty(), "{run}: {}", wrong.join("\n"));
    }
}

/// Describes what is compared of an object from a controller: kind, finalizers, and flags of its references.
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

/// Whether a shape is compared. The namespace and its default objects existed before, and the Pods of a DaemonSet need
/// a node, which was missing.
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

/// Manifests imply the objects that controllers of a real control plane created for them: as many of each shape, and
/// with equal names, unless a controller generates the names.
#[test]
fn implied_objects_equal_those_created_by_controllers() {
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
