//! Published schemas agree with real output.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use ownerlint::report::{Format, SCHEMAS, render, schema};
use serde_json::{Value, json};

use super::sample;
use crate::support::{Repository, fixture, ownerlint, root};

/// Returns the validator of a published schema, compiled once.
pub(crate) fn validator(name: &str) -> &'static Validator {
    static VALIDATORS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
        let compiled =
            |name| jsonschema::validator_for(&published(name)).expect("the schema is a schema");
        SCHEMAS.iter().map(|name| (*name, compiled(name))).collect()
    });
    VALIDATORS.get(name).expect("the schema exists")
}

fn published(name: &str) -> Value {
    parsed(&schema(name).expect("the schema exists"))
}

pub(crate) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("the text is JSON")
}

/// Returns the violations of the schema in `document`.
pub(crate) fn schema_errors(validator: &Validator, document: &Value) -> Vec<String> {
    validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn schemas_are_valid_and_name_their_document() {
    for name in SCHEMAS {
        let schema = published(name);
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["title"], json!(format!("ownerlint.{name}/1")));
        // Users write these documents.
        if !["config", "operator", "steps"].contains(&name) {
            assert_eq!(schema["properties"]["schema"]["const"], schema["title"]);
        }
    }
    assert_eq!(schema("nothing"), None);
}

#[test]
fn sample_json_report_matches_schema() {
    let document = parsed(&render(Format::Json, &sample::report(), &sample::options()));
    assert_eq!(schema_errors(validator("report"), &document), [""; 0]);
}

#[test]
fn report_schema_rejects_malformed_reports() {
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

/// Returns the output of each command for inputs that cover most members.
fn outputs() -> Vec<(&'static str, Value)> {
    let (dump, rook) = ("fixtures/plan/dump.yaml", "fixtures/bundles/rook");
    let (removal, teardown) = (
        "fixtures/rules/controller-removed/bad",
        "fixtures/plan/safe-order",
    );
    let cases = std::fs::read_dir(root().join(removal)).expect("a folder");
    let case = cases.flatten().next().expect("a case").path();
    let side = |side: &str| case.join(side).to_string_lossy().into_owned();
    let (base, head) = (side("base"), side("head"));
    let commands: [(&str, Vec<&str>); 6] = [
        ("report", vec!["check", rook]),
        ("list", vec!["list", rook]),
        (
            "deliveries",
            vec!["list", "--deliveries", "fixtures/examples/flux"],
        ),
        ("plan", vec!["plan", "delete", "ns/shop", "-f", dump]),
        ("plan", vec!["plan", "teardown", "--by", "helm", teardown]),
        ("diff", vec!["diff", "--base", &base, "--head", &head]),
    ];
    let run = |(name, arguments): (&'static str, Vec<&str>)| {
        let mut command = ownerlint();
        command.current_dir(root()).args(&arguments);
        command.args(["--no-config", "--output", "json"]);
        let output = command.output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = String::from_utf8(output.stdout).expect("it is UTF-8");
        assert!(!text.is_empty(), "{arguments:?}: {error}");
        (name, parsed(&text))
    };
    let repository = Repository::new();
    repository.write("a.yaml", &fixture("bundles/rook/csi.yaml"));
    repository.run(&["baseline", "write"], "");
    let baseline = parsed(&repository.read("ownerlint-baseline.json"));
    let documents = commands.into_iter().map(run);
    documents.chain([("baseline", baseline)]).collect()
}

#[test]
fn schemas_accept_outputs_and_reject_unknown_or_missing_members() {
    // Optional members, and mappings whose keys come from the input.
    const OPTIONAL: [&str; 17] = [
        "prune",
        "suspend",
        "deletionPolicy",
        "dependsOn",
        "tables",
        "before",
        "wait",
        "requests",
        "rejections",
        "failingApis",
        "safeOrder",
        "kept",
        "omitted",
        "controller",
        "blockOwnerDeletion",
        "spec.finalizers",
        "conditions",
    ];
    const FREE: [&str; 2] = ["objects", "why"];
    for (name, document) in outputs() {
        let validator = validator(name);
        assert_eq!(schema_errors(validator, &document), [""; 0], "{name}");
        for pointer in objects_of(&document) {
            let broken = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
                let mut document = document.clone();
                let object = document
                    .pointer_mut(&pointer)
                    .and_then(Value::as_object_mut);
                change(object.expect("it is an object"));
                !validator.is_valid(&document)
            };
            let last = pointer.rsplit('/').next().unwrap_or_default();
            if !FREE.contains(&last) {
                let unknown =
                    broken(&|object| drop(object.insert("no-such-member".to_owned(), json!(1))));
                assert!(unknown, "{name}: an unknown member of `{pointer}`");
                let object = document.pointer(&pointer).and_then(Value::as_object);
                for key in object.expect("it is an object").keys() {
                    let missing = broken(&|object| drop(object.shift_remove(key)));
                    assert!(
                        missing || OPTIONAL.contains(&key.as_str()),
                        "{name}: `{pointer}` without `{key}`"
                    );
                }
            }
        }
    }
}

/// Returns a pointer to the first object of each shape; the first element represents a list.
fn objects_of(document: &Value) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![(String::new(), document)]);
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                for (key, value) in members.iter().take(20) {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    open.push((format!("{pointer}/{key}"), value));
                }
                found.push(pointer);
            }
            Value::Array(items) => {
                open.extend(items.first().map(|first| (format!("{pointer}/0"), first)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn report_and_diff_schemas_define_findings_equally() {
    let [report, diff] = ["report", "diff"].map(published);
    for part in ["key", "finding", "fix", "location"] {
        assert_eq!(report["$defs"][part], diff["$defs"][part], "{part}");
    }
}

#[test]
fn jsonl_lines_equal_findings_of_json() {
    let report = sample::report();
    let document = parsed(&render(Format::Json, &report, &sample::options()));
    let lines: Vec<Value> = render(Format::Jsonl, &report, &sample::options())
        .lines()
        .map(parsed)
        .collect();
    assert_eq!(Value::Array(lines), document["findings"]);
}

#[test]
fn list_schema_accepts_example_and_rejects_invalid_values() {
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
    assert_eq!(schema_errors(list, &example), [""; 0]);
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
fn plan_schema_accepts_example_and_rejects_invalid_values() {
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
        "implied": [],
        "notes": []
    });
    let plan = validator("plan");
    assert_eq!(schema_errors(plan, &example), [""; 0]);
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
