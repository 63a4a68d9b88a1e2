//! `controllers:` in the configuration: rules and plans treat these operators like those of the table.

use serde_json::{Value, json};

use crate::support::{Repository, fixture};

const FINALIZER: &str = "example.com/cleanup";
const WIDGET: &str = "Widget.example.com/shop/one";
const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";

fn workload(namespace: &str, image: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: operator, namespace: {namespace}}}\nspec:\n  selector: {{matchLabels: \
         {{app: o}}}}\n  template:\n    metadata: {{labels: {{app: o}}}}\n    spec: {{containers: [{{name: o, image: '{image}'}}]}}\n"
    )
}

fn widget(finalizers: &str) -> String {
    format!(
        "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: one, namespace: shop{finalizers}}}\n"
    )
}

/// Creates a repository with these manifests and controllers.
fn repository(manifests: &str, controllers: &Value) -> Repository {
    let repository = Repository::new();
    let configuration = json!({"version": 1, "controllers": controllers});
    repository
        .write("ownerlint.yaml", &configuration.to_string())
        .write("input.yaml", manifests);
    repository
}

fn controller(place: (&str, &str), adds: &str) -> Value {
    json!([{
        "name": "widget-operator", place.0: place.1, "finalizers": [FINALIZER], "kinds": ["Widget.example.com"], "adds": adds
    }])
}

/// Returns the outcomes of a deletion, the verdict first.
fn outcomes(repository: &Repository, target: &str) -> Vec<Value> {
    let (status, out, error) = repository.run(
        &["plan", "delete", target, "-f", "input.yaml", "-o", "json"],
        "",
    );
    assert_eq!(status, 0, "{error}");
    let plan: Value = serde_json::from_str(&out).expect("JSON");
    let steps = plan["steps"].as_array().expect("steps");
    let outcomes = steps.last().expect("a step")["outcomes"]
        .as_array()
        .expect("a list");
    outcomes
        .iter()
        .map(|outcome| outcome["objects"].clone())
        .collect()
}

/// Returns the rules with findings.
fn found(repository: &Repository) -> Vec<String> {
    let (_, out, error) = repository.run(&["check", "-o", "json", "input.yaml"], "");
    let report: Value =
        serde_json::from_str(&out).unwrap_or_else(|failure| panic!("{failure}: {error}"));
    let findings = report["findings"].as_array().expect("findings");
    findings
        .iter()
        .map(|finding| finding["rule"].as_str().expect("a rule").to_owned())
        .collect()
}

#[test]
fn configured_workload_removes_its_finalizers() {
    let manifests = [
        &widget(", finalizers: [example.com/cleanup]"),
        &*workload("system", "o"),
    ]
    .concat();
    let written = controller(("workload", "Deployment.apps/system/operator"), "written");
    let repository = repository(&manifests, &written);
    assert_eq!(outcomes(&repository, "widget/one")[0][WIDGET], "gone");
    assert!(!found(&repository).contains(&"finalizer-unknown".to_owned()));
    let elsewhere = controller(("workload", "Deployment.apps/other/operator"), "written");
    let repository = self::repository(&manifests, &elsewhere);
    assert_eq!(
        outcomes(&repository, "widget/one")[0][WIDGET]["finalizers"],
        json!([FINALIZER])
    );
}

#[test]
fn controller_image_matches_any_tag() {
    let manifests = [
        &widget(", finalizers: [example.com/cleanup]"),
        &*workload("system", "example.com/team/widgets:v2"),
    ];
    for image in ["team/widgets", "example.com/team/widgets:v1", "widget*"] {
        let repository = repository(
            &manifests.concat(),
            &controller(("images", image), "written"),
        );
        assert_eq!(
            outcomes(&repository, "widget/one")[0][WIDGET],
            "gone",
            "{image}"
        );
    }
    let repository = repository(
        &manifests.concat(),
        &controller(("images", "widgets/team"), "written"),
    );
    assert_eq!(
        outcomes(&repository, "widget/one")[0][WIDGET]["terminating"],
        true
    );
}

#[test]
fn run_time_finalizer_is_assumed_on_all_objects_of_its_kind() {
    let manifests = [NAMESPACE, &widget(""), &workload("shop", "o")].concat();
    let at_run_time = controller(("workload", "Deployment.apps/shop/operator"), "run-time");
    let outcomes = outcomes(&repository(&manifests, &at_run_time), "ns/shop");
    assert_eq!(outcomes[0][WIDGET]["finalizers"], json!([FINALIZER]));
    assert_eq!(outcomes[0]["Namespace//shop"]["terminating"], true);
    assert_eq!(
        (&outcomes[1][WIDGET], &outcomes[1]["Namespace//shop"]),
        (&json!("gone"), &json!("gone"))
    );
    let written = controller(("workload", "Deployment.apps/shop/operator"), "written");
    assert_eq!(
        self::outcomes(&repository(&manifests, &written), "ns/shop")[0]["Namespace//shop"],
        "gone"
    );
}

#[test]
fn run_time_finalizer_may_be_on_built_in_kind() {
    let manifests = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: shop}\n"
        .to_owned()
        + &workload("system", "o")
        + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n";
    let mut controllers = controller(("workload", "Deployment.apps/system/operator"), "run-time");
    controllers[0]["kinds"] = json!("ConfigMap");
    let repository = repository(&manifests, &controllers);
    assert_eq!(
        outcomes(&repository, "configmap/one")[0]["ConfigMap/shop/one"],
        "gone"
    );
    let notes = repository
        .run(
            &[
                "plan",
                "delete",
                "configmap/one",
                "-f",
                "input.yaml",
                "-o",
                "json",
            ],
            "",
        )
        .1;
    assert!(
        notes.contains("example.com/cleanup on ConfigMap"),
        "{notes}"
    );
}

#[test]
fn configured_controller_overrides_built_in_table_only_for_its_kinds() {
    let manifests =
        "apiVersion: ceph.rook.io/v1\nkind: CephCluster\nmetadata: {name: one, namespace: shop, finalizers: \
                     [cephcluster.ceph.rook.io]}\n"
            .to_owned()
            + &workload("system", "example.com/own-ceph");
    let mut controllers = controller(("images", "own-ceph"), "written");
    controllers[0]["finalizers"] = json!(["cephcluster.ceph.rook.io"]);
    controllers[0]["kinds"] = json!(["CephCluster.ceph.rook.io"]);
    let key = "CephCluster.ceph.rook.io/shop/one";
    assert_eq!(
        outcomes(&repository(&manifests, &controllers), "cephcluster/one")[0][key],
        "gone"
    );
    controllers[0]["kinds"] = json!(["Widget.example.com"]);
    let table = repository(
        &manifests.replace("example.com/own-ceph", "rook/ceph"),
        &controllers,
    );
    assert_eq!(outcomes(&table, "cephcluster/one")[0][key], "gone");
}

/// Returns the state of an object in terms of a recording: gone, terminating, kept.
fn state(object: &Value) -> &'static str {
    match object["terminating"].as_bool() {
        None => "gone",
        Some(true) => "terminating",
        Some(false) => "kept",
    }
}

/// Every recorded run that deletes one object is among the outcomes, and the first outcome has the stable states.
#[test]
fn recorded_deletions_with_operator_are_among_planned_outcomes() {
    let scenarios: Vec<Value> =
        serde_json::from_str(&fixture("conformance/teardown.json")).expect("JSON");
    let mut played = 0;
    for scenario in &scenarios {
        let texts = |list: &Value| -> Vec<String> {
            list.as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let deleted = texts(&scenario["runs"][0]["steps"][0]["documents"]);
        let name = scenario["name"].as_str().expect("a name");
        let [document] = deleted.as_slice() else {
            continue;
        };
        if !name.starts_with("kubectl-") || name.contains("replace") {
            continue;
        }
        let operator = &scenario["operator"];
        let text = |key: &str| operator[key].as_str().expect("a text");
        let controllers = json!([{
            "name": "the stand-in",
            "workload": format!("Deployment.apps/{}/{}", text("namespace"), text("deployment")),
            "finalizers": [text("finalizer")],
            "kinds": [text("kind")],
            "adds": "run-time",
        }]);
        let manifests = [
            texts(&scenario["before"]),
            texts(&scenario["files"]),
            texts(&scenario["beside"]),
        ]
        .concat();
        let repository = repository(&manifests.join("\n---\n"), &controllers);
        let of: serde_yaml::Value = serde_yaml::from_str(document).expect("YAML");
        let target = format!(
            "{}/{}",
            of["kind"].as_str().expect("a kind").to_lowercase(),
            of["metadata"]["name"].as_str().expect("a name")
        );
        let outcomes = outcomes(&repository, &target);
        for run in scenario["runs"].as_array().expect("runs") {
            let expected = run["steps"][0]["expect"].as_object().expect("objects");
            let agrees = |outcome: &&Value| {
                let shown = outcome.as_object().expect("objects").iter();
                shown
                    .filter_map(|(key, object)| Some((state(object), expected.get(key)?)))
                    .all(|(s, e)| s == state(e))
            };
            assert!(
                outcomes.iter().any(|outcome| agrees(&outcome)),
                "{name}, {}: {outcomes:#?}",
                run["operator"]
            );
        }
        for (key, stable) in scenario["stable"].as_object().expect("stable keys") {
            assert_eq!(
                state(&outcomes[0][key]),
                stable.as_str().expect("a state"),
                "{name}: {key}"
            );
        }
        played += 1;
    }
    assert!(played >= 3, "{played}");
}
