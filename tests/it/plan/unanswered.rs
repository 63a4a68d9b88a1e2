//! `plan` if a Service that the API server calls has no backend: compared with recordings of a real control plane. Also
//! the assumptions about a Service that is not in the input.

use serde_json::{Value, json};

use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::gc_support::{array, text};
use crate::support::{fixture, ownerlint};

/// Returns the plan of `steps` for `manifests`, both written to files.
fn plan(manifests: &str, steps: &[Value]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("the file can be written");
        path
    };
    let paths = [
        write("steps.json", &json!(steps).to_string()),
        write("input.yaml", manifests),
    ];
    let mut command = ownerlint();
    command
        .args(["plan", "--output", "json", "--no-config", "--steps"])
        .args(paths);
    let output = command.output().expect("the program runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let plan = parsed(std::str::from_utf8(&output.stdout).expect("the output is text"));
    assert_eq!(schema_errors(validator("plan"), &plan), [""; 0]);
    plan
}

fn delete(target: &str) -> Value {
    json!({"op": "delete", "target": target})
}

/// Returns the fate of an object in the verdict of a step.
fn fate<'p>(plan: &'p Value, step: usize, key: &str) -> &'p Value {
    &plan["steps"][step]["outcomes"][0]["objects"][key]
}

fn notes(plan: &Value) -> String {
    array(&plan["notes"])
        .iter()
        .map(text)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns a webhook on the deletion of ConfigMaps, a ConfigMap, and other documents.
fn hooked(annotations: &str, more: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: hooks{annotations}}}\n\
         webhooks:\n- name: a.example.net\n  clientConfig: {{service: {{name: hook, namespace: guard}}}}\n  \
         rules: [{{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}}]\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: shop{annotations}}}\n---\n{more}"
    )
}

const LIVE: &str = ", uid: 0b5d5a5c-9b1f-4f9b-8a53-35d0b1e0f0a1, resourceVersion: '1'";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: guard}\nspec: {selector: {app: hook}}\n---\n";
const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: hook, namespace: guard}\n\
                          spec: {template: {metadata: {labels: {app: hook}}}}\n---\n";

/// Returns the HTTP status of deleting the ConfigMap, and the notes.
fn status(manifests: &str) -> (i64, String) {
    let plan = plan(manifests, &[delete("ConfigMap/shop/a")]);
    (
        plan["steps"][0]["http"].as_i64().expect("a status"),
        notes(&plan),
    )
}

#[test]
fn missing_webhook_service_is_assumed_to_answer_with_a_note() {
    let (status, notes) = status(&hooked("", ""));
    assert_eq!(status, 200);
    assert!(notes.contains("assumed to answer elsewhere"), "{notes}");
}

#[test]
fn service_with_its_pods_in_the_input_answers() {
    assert_eq!(status(&hooked("", &[SERVICE, DEPLOYMENT].concat())).0, 200);
}

#[test]
fn service_selecting_no_pods_does_not_answer_and_is_noted() {
    let (status, notes) = status(&hooked("", SERVICE));
    assert_eq!(status, 500);
    assert!(
        notes.contains("Without a backend from the start"),
        "{notes}"
    );
}

#[test]
fn namespace_in_the_input_proves_its_service_is_missing() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: guard}\n";
    assert_eq!(status(&hooked("", namespace)).0, 500);
}

#[test]
fn dump_with_services_proves_the_service_is_missing() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: kubernetes, namespace: default, uid: 1b5d5a5c-9b1f-4f9b-8a53-35d0b1e0f0a1, resourceVersion: '1'}\n";
    let live = |more: &str| hooked(LIVE, more).replacen("0b5d", "2b5d", 1);
    assert_eq!(status(&live(service)).0, 500);
    // The dump may not include Services at all.
    assert_eq!(status(&live("")).0, 200);
}

#[test]
fn a_service_without_a_selector_answers() {
    let service = SERVICE.replace(
        "spec: {selector: {app: hook}}",
        "spec: {type: ExternalName, externalName: x.example.net}",
    );
    assert_eq!(status(&hooked("", &service)).0, 200);
}

/// Returns a sort key for Helm's order of these charts: Services early, unknown kinds last and sorted by kind.
fn helm_order(document: &str) -> (u8, String) {
    let kind = document
        .split("kind: ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .expect("a kind")
        .to_owned();
    match kind.as_str() {
        "Service" => (0, kind),
        "Cake" | "ValidatingWebhookConfiguration" => (2, kind),
        _ => (1, kind),
    }
}

#[test]
fn helm_uninstall_rejections_match_the_recording() {
    let recording: Value = parsed(&fixture("conformance/teardown.json"));
    let webhooks = array(&recording)
        .iter()
        .filter(|scenario| text(&scenario["name"]).contains("webhook"));
    let mut compared = 0;
    for scenario in webhooks {
        let mut chart: Vec<String> = scenario["charts"]["v1"]
            .as_object()
            .expect("a chart")
            .values()
            .map(text)
            .collect();
        chart.sort_by_key(|document| helm_order(document));
        let before: Vec<String> = array(&scenario["before"]).iter().map(text).collect();
        let stable = scenario["stable"].as_object().expect("keys");
        let key_of = |document: &String| {
            let name = document
                .split("name: ")
                .nth(1)
                .expect("a name")
                .split(['}', ','])
                .next()
                .expect("a name")
                .to_owned();
            let kind = helm_order(document).1;
            stable.keys().find(|key| {
                key.split(['.', '/']).next() == Some(&kind) && key.ends_with(&format!("/{name}"))
            })
        };
        let steps: Vec<Value> = chart
            .iter()
            .filter_map(key_of)
            .map(|key| delete(key))
            .collect();
        let plan = plan(&[before, chart].concat().join("---\n"), &steps);
        for (key, recorded) in stable {
            let planned = fate(&plan, steps.len() - 1, key);
            let planned = if planned == "gone" { "gone" } else { "kept" };
            assert_eq!(planned, text(recorded), "{}: {key}", scenario["name"]);
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared} objects were compared");
}

#[test]
fn failing_api_service_conditions_match_the_recording() {
    let recording: Value = parsed(&fixture("conformance/apiservice.json"));
    let namespaces = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ax1}\n---\napiVersion: v1\nkind: Namespace\n\
                      metadata: {name: ax2}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ax1}\n";
    let manifests = format!("{}\n{namespaces}", recording["manifest"]);
    let api_service = "APIService.apiregistration.k8s.io//v1.broken.example.com";
    let plan = plan(&manifests, &[delete("Namespace//ax1"), delete(api_service)]);
    for (step, recorded) in array(&recording["steps"]).iter().enumerate() {
        let planned = fate(&plan, step, "Namespace//ax1");
        match &recorded["namespaces"]["ax1"] {
            Value::String(gone) => assert_eq!(planned, gone),
            namespace => {
                assert_eq!(planned["conditions"], namespace["conditions"]);
                assert_eq!(planned["spec.finalizers"], namespace["spec.finalizers"]);
            }
        }
        assert_eq!(fate(&plan, step, "Namespace//ax2")["terminating"], false);
        assert_eq!(fate(&plan, step, "ConfigMap/ax1/a"), "gone");
    }
    assert_eq!(
        plan["steps"][0]["failingApis"][0]["apiService"],
        api_service
    );
    assert_eq!(plan["steps"][1]["failingApis"], Value::Null);
}

/// An excerpt of KEDA's rendering: the APIService needs a Service in the namespace that is deleted.
const ADAPTER: &str = "fixtures/plan/metrics-adapter.yaml";

#[test]
fn a_plan_says_that_every_other_namespace_gets_stuck_too() {
    let output = ownerlint()
        .args(["plan", "--no-config", "delete", "ns/metrics", "-f", ADAPTER])
        .output()
        .expect("it runs");
    insta::assert_snapshot!(String::from_utf8(output.stdout).expect("text"));
}

#[test]
fn a_plan_says_which_webhook_rejects_what_and_what_to_delete_first() {
    let input = "fixtures/plan/webhook.yaml";
    let output = ownerlint()
        .args(["plan", "--no-config", "delete", "ns/shop", "-f", input])
        .output()
        .expect("it runs");
    insta::assert_snapshot!(String::from_utf8(output.stdout).expect("text"));
}

/// Whether `plan` predicts that deleting the namespace of these fixtures gets stuck.
fn gets_stuck(fixture: &str) -> bool {
    let output = ownerlint()
        .args(["plan", "--no-config", "delete", "ns/guard", "-f", fixture])
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{fixture}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.contains("Stuck in Terminating")
}

#[test]
fn plan_agrees_with_rule_fixtures_on_blocking_webhooks() {
    let rule = "fixtures/rules/webhook-blocks-deletion";
    for bad in ["every-operation", "what-every-namespace-has"] {
        assert!(gets_stuck(&format!("{rule}/bad/{bad}.yaml")), "{bad}");
    }
    let good = [
        "namespace-selector-by-name",
        "namespace-selector-by-label",
        "object-selector",
        "match-conditions",
        "url",
        "failure-policy-ignore",
        "create-only",
        "other-namespace",
        "subresource",
    ];
    for good in good {
        assert!(!gets_stuck(&format!("{rule}/good/{good}.yaml")), "{good}");
    }
}
