//! Published schemas agree with real output.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use ownerlint::report::{Format, SCHEMAS, render, schema};
use serde_json::{Value, json};

use super::sample;

/// The validator of a published schema. A schema takes longer to compile than a document to check.
pub(crate) fn validator(name: &str) -> &'static Validator {
    static VALIDATORS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
        let compiled =
            |text| jsonschema::validator_for(&parsed(text)).expect("the schema is a schema");
        SCHEMAS
            .iter()
            .map(|(name, text)| (*name, compiled(text)))
            .collect()
    });
    VALIDATORS.get(name).expect("the schema exists")
}

pub(crate) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("the text is JSON")
}

/// What `validator` has against `document`.
pub(crate) fn complaints(validator: &Validator, document: &Value) -> Vec<String> {
    validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn every_schema_is_a_schema_and_names_its_document() {
    for (name, text) in SCHEMAS {
        let schema = parsed(text);
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["title"], json!(format!("ownerlint.{name}/1")));
        // Configuration and steps are written by people.
        if !["config", "steps"].contains(&name) {
            assert_eq!(schema["properties"]["schema"]["const"], schema["title"]);
        }
    }
    assert_eq!(schema("nothing"), None);
}

#[test]
fn the_json_format_keeps_its_contract() {
    let document = parsed(&render(Format::Json, &sample::report(), &sample::options()));
    assert_eq!(complaints(validator("report"), &document), [""; 0]);
}

#[test]
fn the_report_contract_is_closed() {
    let document = parsed(&render(Format::Json, &sample::report(), &sample::options()));
    for broken in [
        json!({"extra": 1}),
        json!({"findings": [{"rule": "x"}]}),
        json!({"schema": "ownerlint.report/2"}),
        json!({"tool": {"name": "ownerlint"}}),
    ] {
        let mut document = document.clone();
        for (key, value) in broken.as_object().expect("an object") {
            document[key] = value.clone();
        }
        assert!(!validator("report").is_valid(&document), "{broken}");
    }
}

#[test]
fn a_finding_of_a_change_is_described_like_every_other() {
    let [report, diff] = ["report", "diff"].map(|name| parsed(schema(name).expect("it exists")));
    for part in ["key", "finding", "fix", "location"] {
        assert_eq!(report["$defs"][part], diff["$defs"][part], "{part}");
    }
}

#[test]
fn jsonl_is_the_findings_of_json() {
    let report = sample::report();
    let document = parsed(&render(Format::Json, &report, &sample::options()));
    let lines: Vec<Value> = render(Format::Jsonl, &report, &sample::options())
        .lines()
        .map(parsed)
        .collect();
    assert_eq!(Value::Array(lines), document["findings"]);
}

#[test]
fn the_list_contract_takes_its_example_and_nothing_else() {
    let example = json!({
        "schema": "ownerlint.list/1",
        "objects": [{
            "key": "ReplicaSet.apps/shop/web-1", "apiVersion": "apps/v1", "kind": "ReplicaSet", "namespace": "shop",
            "name": "web-1", "uid": null, "scope": "Namespaced", "scopeSource": "built-in", "scopeFrom": null,
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": null, "controller": true}],
            "finalizers": ["foregroundDeletion"], "file": "a.yaml", "document": 0, "line": 2, "column": 1
        }, {
            "key": "Widget.example.com/?/w", "apiVersion": "example.com/v1", "kind": "Widget", "namespace": null,
            "name": "w", "uid": "u", "scope": "Namespaced", "scopeSource": "crd", "scopeFrom": {"file": "crd.yaml", "line": 9},
            "ownerReferences": [], "finalizers": [], "file": "-", "document": 1, "line": 14, "column": 1
        }],
        "skipped": [{"file": "a.yaml", "document": 2, "line": 20, "reason": "template", "detail": "render the chart first"}]
    });
    let list = validator("list");
    assert_eq!(complaints(list, &example), [""; 0]);
    for (pointer, value) in [
        ("/objects/0/scope", json!("Global")),
        ("/objects/0/ownerReferences/0/controller", json!(null)),
        ("/objects/0/finalizers", json!(null)),
        ("/objects/1/scopeFrom", json!({"file": "crd.yaml"})),
        ("/skipped/0/reason", json!("other")),
    ] {
        let mut broken = example.clone();
        *broken.pointer_mut(pointer).expect("the example has it") = value;
        assert!(!list.is_valid(&broken), "{pointer}");
    }
}

#[test]
fn the_plan_contract_takes_its_example_and_nothing_else() {
    let example = json!({
        "schema": "ownerlint.plan/1",
        "steps": [
            {"op": "settle", "target": null, "policy": null, "http": null, "complete": true,
             "outcomes": [{"differs": null, "objects": {"ConfigMap/a/x": "gone"}}], "events": [], "why": {}},
            {"op": "delete", "target": "Namespace//a", "policy": "Background", "http": 200, "complete": false,
             "outcomes": [
                {"differs": null, "objects": {"Namespace//a": {
                    "terminating": true, "finalizers": [], "ownerReferences": [], "spec.finalizers": ["kubernetes"],
                    "conditions": [{"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain", "message": "m"}]}}},
                {"differs": "existence", "objects": {"Namespace//a": "gone"}}
             ],
             "events": [{"object": "ConfigMap/a/x", "reason": "OwnerRefInvalidNamespace", "message": "m", "certain": true}],
             "why": {"Namespace//a": {"rules": ["GC-22"], "chain": ["Namespace//a"]}}}
        ],
        "implied": []
    });
    let plan = validator("plan");
    assert_eq!(complaints(plan, &example), [""; 0]);
    for (pointer, value) in [
        ("/steps/0/op", json!("wait")),
        ("/steps/0/outcomes", json!([])),
        (
            "/steps/0/outcomes/0/objects/ConfigMap~1a~1x",
            json!("present"),
        ),
        ("/steps/1/policy", json!("null")),
        ("/steps/1/outcomes/1/differs", json!("order")),
        ("/implied", json!(null)),
    ] {
        let mut broken = example.clone();
        *broken.pointer_mut(pointer).expect("the example has it") = value;
        assert!(!plan.is_valid(&broken), "{pointer}");
    }
}
