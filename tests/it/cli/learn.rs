//! `learn`: the facts that a dump proves, and their effect in a configuration.

use std::fmt::Write;

use walkdir::WalkDir;

use crate::support::{Repository, corpus};

/// A custom resource with a finalizer, the StatefulSet that it owns, and a cluster-scoped one, as printed by kubectl.
const DUMP: &str = r#"apiVersion: v1
items:
- apiVersion: acme.example.com/v1
  kind: Vault
  metadata:
    creationTimestamp: "2026-01-01T00:00:00Z"
    finalizers:
    - acme.example.com/cleanup
    name: main
    namespace: shop
    resourceVersion: "1"
    uid: 11111111-1111-1111-1111-111111111111
- apiVersion: acme.example.com/v1
  kind: Region
  metadata:
    creationTimestamp: "2026-01-01T00:00:00Z"
    name: north
    resourceVersion: "2"
    uid: 22222222-2222-2222-2222-222222222222
- apiVersion: apps/v1
  kind: StatefulSet
  metadata:
    creationTimestamp: "2026-01-01T00:00:00Z"
    name: main
    namespace: shop
    ownerReferences:
    - apiVersion: acme.example.com/v1
      kind: Vault
      name: main
      uid: 11111111-1111-1111-1111-111111111111
    resourceVersion: "3"
    uid: 33333333-3333-3333-3333-333333333333
  spec:
    selector:
      matchLabels: {app: vault}
    serviceName: main
    template:
      metadata:
        labels: {app: vault}
      spec:
        containers:
        - image: example.com/vault:1
          name: vault
    volumeClaimTemplates:
    - metadata:
        name: data
kind: List
metadata:
  resourceVersion: ""
"#;

#[test]
fn learned_file_silences_only_findings_the_dump_disproves() {
    let repository = Repository::new();
    repository.write("dump.yaml", DUMP);
    let rules = |repository: &Repository| -> Vec<String> {
        let (_, out, error) = repository.run(&["check", "dump.yaml", "-o", "json"], "");
        let report: serde_json::Value = serde_json::from_str(&out).expect(&error);
        let findings = report["findings"].as_array().expect("findings");
        let rule =
            |finding: &serde_json::Value| finding["rule"].as_str().expect("a rule").to_owned();
        findings.iter().map(rule).collect()
    };
    assert_eq!(
        rules(&repository),
        [
            "finalizer-unknown",
            "live-object",
            "owner-kind-unresolvable"
        ]
    );
    let (status, learned, error) = repository.run(&["learn", "-f", "dump.yaml"], "");
    assert_eq!((status, error.as_str()), (0, ""));
    insta::assert_snapshot!("learned", learned);
    repository
        .write("learned.yaml", &learned)
        .write("ownerlint.yaml", "version: 1\noperators: [learned.yaml]\n");
    assert_eq!(rules(&repository), ["live-object"]);
    let (_, list, _) = repository.run(&["list", "dump.yaml", "-o", "json"], "");
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let scopes: Vec<_> = list["objects"]
        .as_array()
        .expect("objects")
        .iter()
        .map(|object| (object["kind"].as_str(), object["scope"].as_str()))
        .collect();
    assert!(
        scopes.contains(&(Some("Region"), Some("Cluster"))),
        "{scopes:?}"
    );
    assert!(
        scopes.contains(&(Some("Vault"), Some("Namespaced"))),
        "{scopes:?}"
    );
}

/// Returns the findings of a file: rule and location.
fn findings(repository: &Repository) -> Vec<(String, String)> {
    let (_, out, error) = repository.run(&["check", "dump.yaml", "-o", "json"], "");
    let report: serde_json::Value = serde_json::from_str(&out).expect(&error);
    let found = report["findings"].as_array().expect("findings").iter();
    let found = found.map(|finding| {
        let rule = finding["rule"].as_str().expect("a rule").to_owned();
        (rule, finding["location"].to_string())
    });
    found.collect()
}

#[test]
fn learned_corpus_dumps_silence_only_findings_about_unknown_kinds() {
    let Some(corpus) = corpus() else { return };
    let (mut dumps, mut silenced) = (0, 0);
    for entry in WalkDir::new(corpus).sort_by_file_name() {
        let path = entry.expect("the corpus can be read").into_path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if !text.contains("\n  uid: ") {
            continue;
        }
        let repository = Repository::new();
        repository.write("dump.yaml", &text);
        let before = findings(&repository);
        let (status, learned, _) = repository.run(&["learn", "-f", "dump.yaml"], "");
        if status != 0 {
            continue;
        }
        dumps += 1;
        repository
            .write("learned.yaml", &learned)
            .write("ownerlint.yaml", "version: 1\noperators: [learned.yaml]\n");
        let after = findings(&repository);
        for finding in &after {
            assert!(
                before.contains(finding),
                "{}: new {finding:?}",
                path.display()
            );
            assert_ne!(finding.0, "finalizer-unknown", "{}", path.display());
        }
        for (rule, place) in before.iter().filter(|finding| !after.contains(finding)) {
            silenced += 1;
            assert!(
                ["finalizer-unknown", "owner-kind-unresolvable"].contains(&rule.as_str()),
                "{}: {rule} at {place} is gone",
                path.display()
            );
        }
    }
    assert!(
        dumps > 20 && silenced > 0,
        "{dumps} dumps, {silenced} findings"
    );
}

#[test]
fn kubectl_json_and_yaml_dumps_give_equal_results() {
    let repository = Repository::new();
    let json: serde_json::Value = serde_yaml::from_str(DUMP).expect("YAML");
    let documents =
        json["items"]
            .as_array()
            .expect("items")
            .iter()
            .fold(String::new(), |mut text, item| {
                write!(text, "---\n{}", serde_yaml::to_string(item).expect("YAML"))
                    .expect("a text takes it");
                text
            });
    let (_, of_list, _) = repository.run(&["learn", "-f", "-"], DUMP);
    for dump in [json.to_string(), documents] {
        let (status, learned, error) = repository.run(&["learn", "-f", "-"], &dump);
        assert_eq!((status, learned), (0, of_list.clone()), "{error}");
    }
}

#[test]
fn manifests_without_uid_fail_and_broken_documents_give_a_warning() {
    let repository = Repository::new();
    let rendered = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let (status, out, error) = repository.run(&["learn", "-f", "-"], rendered);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(
        error.contains("no object with a uid") && error.contains("kubectl get"),
        "{error}"
    );
    let (status, out, error) = repository.run(
        &["learn", "-f", "-"],
        &format!("{DUMP}---\nkind: ConfigMap\nmetadata: {{name: [\n"),
    );
    assert_eq!(status, 0, "the rest is read");
    assert!(out.contains("Vault.acme.example.com"), "{out}");
    assert!(error.starts_with("warning: standard input:"), "{error}");
    let (status, _, error) = repository.run(&["learn", "-f", "missing.yaml"], "");
    assert_eq!((status, error.contains("missing.yaml")), (2, true));
}
