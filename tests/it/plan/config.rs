//! `plan` uses the configuration like `check`; the input of `plan --steps`.

use serde_json::Value;

use crate::formats::schemas::{schema_errors, validator};
use crate::support::Repository;

const OWNER: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";
const OWNED: &str = "\
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  ownerReferences:
    - {apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}
";
const JOB: &str = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: shop, uid: u1, resourceVersion: '1'}\n";

fn plan(repository: &Repository, arguments: &[&str]) -> Value {
    let arguments = [&["plan"], arguments, &["-o", "json"]].concat();
    let (status, output, error) = repository.run(&arguments, "");
    assert_eq!(status, 0, "{error}");
    serde_json::from_str(&output).expect("JSON")
}

fn refusal(repository: &Repository, arguments: &[&str]) -> String {
    let (status, _, error) = repository.run(&[&["plan"], arguments].concat(), "");
    assert_eq!(status, 2, "{error}");
    error
}

fn fate<'p>(plan: &'p Value, key: &str) -> &'p Value {
    let steps = plan["steps"].as_array().expect("steps");
    &steps.last().expect("a step")["outcomes"][0]["objects"][key]
}

fn with_steps(steps: &str) -> Repository {
    let repository = Repository::new();
    repository
        .write("input.yaml", &format!("{OWNER}---\n{JOB}"))
        .write("steps.yaml", steps);
    repository
}

fn stepwise(steps: &str) -> Value {
    plan(&with_steps(steps), &["--steps", "steps.yaml", "input.yaml"])
}

fn mistake(steps: &str) -> String {
    refusal(&with_steps(steps), &["--steps", "steps.yaml", "input.yaml"])
}

#[test]
fn configured_namespace_applies_to_objects_without_one() {
    let repository = Repository::new();
    repository
        .write("ownerlint.yaml", "version: 1\nnamespace: shop\n")
        .write("web.yaml", &format!("{OWNER}{OWNED}"));
    assert_eq!(
        fate(
            &plan(&repository, &["delete", "deploy/web"]),
            "ConfigMap/shop/settings"
        ),
        "gone"
    );
    let without = plan(&repository, &["delete", "deploy/web", "--no-config"]);
    assert!(
        fate(&without, "ConfigMap/shop/settings").is_null(),
        "{without}"
    );
}

#[test]
fn excluded_files_are_not_in_the_plan() {
    let repository = Repository::new();
    repository.write(
        "ownerlint.yaml",
        "version: 1\nnamespace: shop\nexclude: ['old/**']\n",
    );
    repository
        .write("web.yaml", OWNER)
        .write("old/settings.yaml", OWNED);
    assert!(
        fate(
            &plan(&repository, &["delete", "deploy/web"]),
            "ConfigMap/shop/settings"
        )
        .is_null()
    );
}

#[test]
fn configured_scopes_are_known_to_the_plan() {
    let repository = Repository::new();
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\n";
    repository.write("w.yaml", widget);
    repository.write(
        "ownerlint.yaml",
        "version: 1\nscopes: [{group: example.com, kind: Widget, scope: Namespaced}]\n",
    );
    let notes = |arguments: &[&str]| {
        let (status, output, error) =
            repository.run(&[&["plan", "delete", "widget/w"], arguments].concat(), "");
        assert_eq!(status, 0, "{error}");
        output.contains("Widget.example.com") && output.contains("CustomResourceDefinitions")
    };
    assert!(!notes(&[]));
    assert!(notes(&["--no-config"]));
}

#[test]
fn a_bundle_is_chosen_by_name() {
    let repository = two_bundles();
    let chosen = plan(&repository, &["delete", "deploy/web", "--bundle", "prod"]);
    assert_eq!(fate(&chosen, "ConfigMap/shop/settings"), "gone");
    let other = plan(&repository, &["delete", "deploy/web", "--bundle", "dev"]);
    assert!(fate(&other, "ConfigMap/shop/settings").is_null());
}

#[test]
fn only_bundle_with_the_target_is_chosen() {
    let repository = two_bundles();
    assert_eq!(
        fate(
            &plan(&repository, &["delete", "cm/settings"]),
            "ConfigMap/shop/settings"
        ),
        "gone"
    );
    repository.write(
        "steps.yaml",
        "- {op: delete, target: cm/settings -n shop}\n",
    );
    assert_eq!(
        fate(
            &plan(&repository, &["--steps", "steps.yaml"]),
            "ConfigMap/shop/settings"
        ),
        "gone"
    );
}

#[test]
fn path_inside_a_bundle_chooses_it() {
    let repository = two_bundles();
    let chosen = plan(&repository, &["delete", "deploy/web", "-f", "prod"]);
    assert_eq!(fate(&chosen, "ConfigMap/shop/settings"), "gone");
}

#[test]
fn ambiguous_or_unknown_bundle_error_lists_bundles() {
    let error = refusal(&two_bundles(), &["delete", "deploy/web"]);
    assert!(
        error.contains("a plan is about one bundle, and the target is in 2"),
        "{error}"
    );
    assert!(error.contains("`--bundle NAME`: `dev`, `prod`"), "{error}");
    let error = refusal(&two_bundles(), &["delete", "deploy/web", "--bundle", "prd"]);
    assert!(
        error.contains("there is no bundle `prd`") && error.contains("did you mean `prod`?"),
        "{error}"
    );
}

fn two_bundles() -> Repository {
    let repository = Repository::new();
    repository.write(
        "ownerlint.yaml",
        "version: 1\nnamespace: shop\nbundles: {dev: {paths: [dev]}, prod: {paths: [prod]}}\n",
    );
    repository
        .write("dev/web.yaml", OWNER)
        .write("prod/web.yaml", &format!("{OWNER}{OWNED}"));
    repository
}

#[test]
fn file_given_as_target_suggests_option_f() {
    let repository = Repository::new();
    repository.write("manifests/x.yaml", OWNER);
    for word in ["x.yaml", "manifests/x.yaml", "manifests"] {
        let error = refusal(&repository, &["delete", word, "-f", "manifests"]);
        assert!(
            error.contains(&format!("`{word}` does not say which object")),
            "{error}"
        );
        assert!(error.contains("read files with `-f`"), "{error}");
    }
}

#[test]
fn step_targets_accept_kubectl_notation() {
    for target in [
        "deployment/web -n shop",
        "deploy web --namespace=shop",
        "-n shop deploy/web",
        "Deployment.apps/shop/web",
    ] {
        let plan = stepwise(&format!("- {{op: delete, target: '{target}'}}\n"));
        assert_eq!(
            plan["steps"][0]["target"], "Deployment.apps/shop/web",
            "{target}"
        );
        assert_eq!(fate(&plan, "Deployment.apps/shop/web"), "gone", "{target}");
    }
}

#[test]
fn deleting_a_missing_key_returns_404() {
    let plan = stepwise("- {op: delete, target: ConfigMap/shop/missing}\n");
    assert_eq!(plan["steps"][0]["http"], 404);
}

#[test]
fn step_policy_defaults_to_background_and_null_sends_none() {
    let policy = |steps: &str| stepwise(steps)["steps"][0]["policy"].clone();
    assert_eq!(
        policy("- {op: delete, target: job/once -n shop}\n"),
        "Background"
    );
    assert_eq!(
        policy("- {op: delete, target: job/once -n shop, policy: foreground}\n"),
        "Foreground"
    );
    for none in ["null", "none"] {
        assert_eq!(
            policy(&format!(
                "- {{op: delete, target: job/once -n shop, policy: {none}}}\n"
            )),
            Value::Null,
            "{none}"
        );
    }
}

#[test]
fn step_file_errors_show_their_location() {
    let mistakes = [
        "",
        "op: settle\n",
        "- settle\n",
        "- op: settle\n- target: cm/a\n",
        "- op: settle\n- op: delte\n",
        "- op: delete\n",
        "- op: settle\n- op: delete\n  target: deploy/wbe -n shop\n",
        "- {op: delete, target: deploy/web -n shop, policy: Gentle}\n",
        "- {op: remove-finalizer, target: deploy/web -n shop}\n",
        "- op: settle\n  op: delete\n",
        "- {op: settle\n",
    ];
    let shown: Vec<_> = mistakes.into_iter().map(mistake).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn steps_schema_accepts_valid_and_rejects_invalid_steps() {
    let schema = validator("steps");
    let good = serde_json::json!([
        {"op": "settle"},
        {"op": "delete", "target": "deployment/web -n shop", "policy": null, "expect": {}},
        {"op": "remove-finalizer", "target": "ConfigMap/a/b", "finalizer": "example.com/x"},
    ]);
    assert_eq!(schema_errors(schema, &good), [""; 0]);
    for bad in [
        "[{}]",
        "{}",
        r#"[{"op": "delete"}]"#,
        r#"[{"op": "delete", "target": "a/b", "policy": "Gentle"}]"#,
    ] {
        let bad: Value = serde_json::from_str(bad).expect("JSON");
        assert_ne!(schema_errors(schema, &bad), [""; 0], "{bad}");
    }
}
