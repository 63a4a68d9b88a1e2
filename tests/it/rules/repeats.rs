//! Repeated findings are shown once, with every place; suppressions and baselines handle each finding on its own.

use serde_json::Value;

use crate::support::Repository;

const POLICIES: &str = "\
apiVersion: policy/v1beta1
kind: PodSecurityPolicy
metadata: {name: one}
---
apiVersion: policy/v1beta1
kind: PodSecurityPolicy
metadata: {name: two}
---
apiVersion: policy/v1beta1
kind: PodSecurityPolicy
metadata: {name: three}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
";

/// Returns the findings of one rule as `line message related-lines`, and the counts of the summary.
fn found(repository: &Repository, rule: &str) -> (Vec<String>, Value) {
    let (_, out, err) = repository.run(&["check", ".", "-o", "json"], "");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
    let line = |place: &Value| place["location"]["line"].to_string();
    let shown = report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["rule"] == rule);
    let shown = shown.map(|finding| {
        let related: Vec<_> = finding["related"]
            .as_array()
            .expect("a list")
            .iter()
            .map(line)
            .collect();
        format!(
            "{} {} [{}]",
            line(finding),
            finding["message"].as_str().expect("text"),
            related.join(" ")
        )
    });
    (shown.collect(), report["summary"].clone())
}

#[test]
fn unserved_kind_is_reported_once_per_file() {
    let repository = Repository::new();
    repository
        .write("a.yaml", POLICIES)
        .write("b.yaml", &POLICIES.replace("name: ", "name: b-"));
    let (found, summary) = found(&repository, "kind-not-served");
    let policy = "1 kind PodSecurityPolicy in `policy/v1beta1` is not served: Kubernetes 1.25 removed it (and 2 more) [5 9]";
    let budget = "13 kind PodDisruptionBudget in `policy/v1beta1` is not served: Kubernetes 1.25 removed it []";
    assert_eq!(found, [policy, budget, policy, budget]);
    assert_eq!(summary["warning"], 4, "counts are those of what is shown");
}

#[test]
fn locations_of_a_grouped_finding_name_their_objects() {
    let repository = Repository::new();
    repository.write("a.yaml", POLICIES);
    let (_, out, _) = repository.run(&["check", ".", "-o", "json"], "");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        report["findings"][0]["related"][0]["message"],
        "PodSecurityPolicy.policy//two"
    );
}

#[test]
fn a_directive_silences_its_own_finding_only() {
    let repository = Repository::new();
    repository.write(
        "a.yaml",
        &format!("# ownerlint: ignore[kind-not-served] an old cluster\n{POLICIES}"),
    );
    let (found, summary) = found(&repository, "kind-not-served");
    assert!(
        found[0].starts_with("6 ") && found[0].ends_with("(and 1 more) [10]"),
        "{found:?}"
    );
    assert_eq!(summary["suppressed"], 1);
}

#[test]
fn baseline_contains_every_finding_of_a_group() {
    let repository = Repository::new();
    repository
        .write("a.yaml", POLICIES)
        .write("ownerlint.yaml", "version: 1\nbaseline: known.json\n");
    let (status, out, err) = repository.run(&["baseline", "write", "."], "");
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("lists 4 findings"), "{out}");
    assert_eq!(found(&repository, "kind-not-served").0, [""; 0]);
    let fourth =
        "---\napiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: four}\n";
    repository.write("a.yaml", &format!("{POLICIES}{fourth}"));
    let (found, summary) = found(&repository, "kind-not-served");
    assert_eq!(
        (found.len(), summary["baseline"].clone()),
        (1, Value::from(4)),
        "{found:?}"
    );
}

#[test]
fn duplicate_objects_are_reported_once_per_file_pair() {
    let settings = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\n")
    };
    let both = format!("{}---\n{}", settings("one"), settings("two"));
    let repository = Repository::new();
    repository
        .write("a.yaml", &both)
        .write("b.yaml", &both)
        .write("c.yaml", &settings("three"));
    repository.write("d.yaml", &settings("three"));
    let (found, _) = found(&repository, "duplicate-object");
    assert_eq!(
        found,
        [
            "3 ConfigMap `one` appears twice (and 1 more) [3 7 7]",
            "3 ConfigMap `three` appears twice [3]"
        ]
    );
}

#[test]
fn nonstandard_yaml_is_reported_once_per_file() {
    let repository = Repository::new();
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'a'}\ndata:\n  a: 'x'#1\n  b: 'x'#2\n  c: 'x'#3\n";
    repository
        .write("a.yaml", text)
        .write("b.yaml", &text.replace("'a'", "'b'"));
    let (found, _) = found(&repository, "nonstandard-yaml");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found
            .iter()
            .all(|found| found.starts_with("5 ") && found.ends_with("(and 2 more) [6 7]")),
        "{found:?}"
    );
}

#[test]
fn copies_are_grouped_for_humans_and_listed_singly_for_programs() {
    let repository = Repository::new();
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: reader\n  ownerReferences:\n    \
                - {apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}\n";
    for overlay in ["dev", "prod", "stage"] {
        repository.write(&format!("{overlay}/role.yaml"), role);
    }
    let rule = "owner-of-cluster-scoped";
    let shown = |format: &str| {
        repository
            .run(&["--select", rule, "--output", format], "")
            .1
    };
    let human = shown("human");
    assert_eq!(
        human.matches("error[owner-of-cluster-scoped]").count(),
        1,
        "{human}"
    );
    assert!(
        human.contains("= and 2 more in other files: prod/role.yaml:6, stage/role.yaml:6\n"),
        "{human}"
    );
    assert!(human.contains("3 errors in 3 files"), "{human}");
    assert_eq!(shown("concise").lines().count(), 3);
    assert_eq!(found(&repository, rule).0.len(), 3);
}

#[test]
fn remedy_for_most_findings_is_printed_first() {
    let repository = Repository::new();
    repository.write("app/policies.yaml", POLICIES);
    let first = |repository: &Repository| {
        let (_, out, _) = repository.run(&["check", "."], "");
        out.lines().next().unwrap_or_default().to_owned()
    };
    assert!(
        first(&repository).starts_with("warning["),
        "nothing settles them"
    );
    let kustomization = "kind: Kustomization\nresources: [policies.yaml]\nnamePrefix: a-\n";
    repository.write("app/kustomization.yaml", kustomization);
    let build = "2 of 2 findings are in files that a kustomization changes: run";
    assert!(
        first(&repository).starts_with(build),
        "{}",
        first(&repository)
    );
    // Errors in undelivered test data are not counted.
    let nameless = "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n";
    for name in ["a", "b", "c"] {
        repository.write(&format!("app/testdata/{name}.yaml"), nameless);
    }
    assert!(
        first(&repository).starts_with(build),
        "{}",
        first(&repository)
    );
    // All errors are in a third of the files.
    let repository = Repository::new();
    let named = nameless.replace("{}", "{name: web, namespace: web}");
    for number in 0..10 {
        repository.write(&format!("snippets/{number}.yaml"), nameless);
        for folder in ["one", "two"] {
            repository.write(&format!("{folder}/{number}.yaml"), &named);
        }
    }
    let exclude =
        "10 of 10 errors match one pattern; to leave these files out: --exclude 'snippets/**'";
    assert_eq!(first(&repository), exclude);
}
