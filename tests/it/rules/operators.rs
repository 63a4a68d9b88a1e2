//! Rules on operators and the objects that they must release: severities and reasons.

use ownerlint::engine::Check;
use ownerlint::finding::{Finding, Severity};

use crate::support::{Repository, check_text, fixture};

/// Returns the only finding of a rule in one of its fixtures.
fn the(rule: &str, file: &str) -> Finding {
    let text = fixture(&format!("rules/{rule}/bad/{file}.yaml"));
    let report = check_text("input.yaml", &text, &Check::default());
    let found: Vec<_> = report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .collect();
    let mut found: Vec<_> = found
        .into_iter()
        .filter(|finding| finding.rule == rule)
        .collect();
    assert_eq!(found.len(), 1, "{file}: {found:#?}");
    found.remove(0)
}

#[test]
fn fixed_deletion_order_is_an_error_and_a_race_a_warning() {
    let first = |file| the("operator-deleted-first", file);
    let helm = first("a-release-as-it-is-in-the-cluster");
    assert_eq!(helm.severity, Severity::Error);
    assert_eq!(
        helm.message,
        "uninstalling the release leaves Installation `default` stuck: Deployment `tigera-operator` is deleted first"
    );
    for (file, removal) in [
        ("one-wave-of-argo-cd", "deleting the Application"),
        ("one-kustomization-of-flux", "deleting the Kustomization"),
    ] {
        let race = first(file);
        assert_eq!(race.severity, Severity::Warning, "{file}");
        assert!(
            race.message
                .starts_with(&format!("{removal} may leave Installation `default` stuck")),
            "{race:#?}"
        );
    }
    for file in [
        "a-lower-wave-of-argo-cd",
        "the-account-is-in-a-higher-wave",
        "the-operator-only-loses-its-account",
    ] {
        assert_eq!(first(file).severity, Severity::Error, "{file}");
    }
    let guess = first("permissions-alone");
    assert_eq!(guess.severity, Severity::Info);
    assert!(
        guess
            .message
            .contains("which may be the operator, is deleted"),
        "{guess:#?}"
    );
}

#[test]
fn without_permissions_in_the_input_an_uninstall_is_a_race() {
    let text = fixture("rules/operator-deleted-first/bad/a-release-as-it-is-in-the-cluster.yaml");
    let documents = text
        .split("---\n")
        .filter(|document| !document.contains("kind: ServiceAccount\n"));
    let text = documents.collect::<Vec<_>>().join("---\n");
    let report = check_text("input.yaml", &text, &Check::default());
    let mut found = report.findings.iter().map(|reported| &reported.finding);
    let finding = found
        .find(|finding| finding.rule == "operator-deleted-first")
        .expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
}

#[test]
fn configured_tool_and_controller_decide_the_severity() {
    let text = fixture("rules/operator-deleted-first/good/nobody-knows-of-a-tool.yaml")
        .replace("tigera/operator:", "own/calico:");
    let severity = |tool: &str, name: &str| {
        let repository = Repository::new();
        let configuration = format!(
            "version: 1\nbundles: {{calico: {{paths: [calico.yaml], delivery: {tool}}}}}\ncontrollers:\n- {{name: ours, workload: \
             Deployment.apps/tigera-operator/{name}, finalizers: [example.com/calico], kinds: [Installation.operator.tigera.io], adds: \
             run-time}}\n"
        );
        repository
            .write("ownerlint.yaml", &configuration)
            .write("calico.yaml", &text);
        let (_, out, error) = repository.run(
            &["check", "-o", "json", "--select", "operator-deleted-first"],
            "",
        );
        let report: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
        report["findings"][0]["severity"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(
        severity("helm", "tigera-operator").as_deref(),
        Some("error")
    );
    assert_eq!(
        severity("argocd", "tigera-operator").as_deref(),
        Some("warning")
    );
    assert_eq!(severity("kubectl", "tigera-operator"), None);
    assert_eq!(severity("helm", "another-operator"), None);
}

#[test]
fn missing_permission_is_info_even_with_a_similar_role() {
    let missing = |file| the("finalizers-permission-missing", file);
    assert_eq!(missing("patch-is-not-update").severity, Severity::Info);
    assert_eq!(missing("every-verb-on-the-kind").severity, Severity::Info);
}

#[test]
fn an_operator_lacks_a_permission_although_its_role_is_in_another_file() {
    let text = fixture("rules/finalizers-permission-missing/bad/no-status.yaml");
    let (operator, others): (Vec<&str>, Vec<&str>) = text
        .split("---\n")
        .partition(|document| document.contains("kind: Deployment\n"));
    let repository = Repository::new();
    repository
        .write("operator.yaml", &operator.join("---\n"))
        .write("role.yaml", &others.join("---\n"));
    let rule = "finalizers-permission-missing";
    let (_, out, error) = repository.run(&["check", "-o", "json", "--select", rule], "");
    let report: serde_json::Value =
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
    let found = report["findings"].as_array().expect("findings");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["location"]["file"], "role.yaml");
}

#[test]
fn a_role_about_more_than_a_hundred_kinds_belongs_to_no_operator() {
    let text = fixture("rules/finalizers-permission-missing/bad/no-status.yaml");
    let (definition, others) = text.split_once("---\n").expect("several documents");
    let found = |kinds: usize| {
        let definitions = (0..kinds).map(|at| {
            definition
                .replace("widgets", &format!("widgets{at}"))
                .replace("Widget,", &format!("Widget{at},"))
                + "---\n"
        });
        let plurals: Vec<String> = (0..kinds).map(|at| format!("widgets{at}")).collect();
        let role = format!("resources: [{}]", plurals.join(", "));
        let text = definitions.collect::<String>() + &others.replace("resources: [widgets]", &role);
        let report = check_text("input.yaml", &text, &Check::default());
        let found = report.findings.iter();
        let found =
            found.filter(|reported| reported.finding.rule == "finalizers-permission-missing");
        found.count()
    };
    assert_eq!((found(100), found(101)), (1, 0));
}

#[test]
fn namespace_gets_one_finding_for_all_stuck_objects() {
    let note = the("namespace-shared-with-operator", "one-note-for-many");
    assert!(
        note.message
            .ends_with("no controller is left to release RabbitmqCluster `one` and 1 more object"),
        "{note:#?}"
    );
    assert_eq!(
        note.related.len(),
        3,
        "the operator and both clusters: {note:#?}"
    );
}
