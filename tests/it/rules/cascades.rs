//! The cascades of `deleted-on-arrival` and `namespace-never-empties`, as drawn in the `markdown` output.

use crate::support::{Repository, ownerlint};

/// Returns a uid for each object of a namespace: objects with one uid were never in one cluster.
fn uid(namespace: &str, n: usize) -> String {
    format!("aaaaaaaa-0000-4000-8000-{namespace}-{n}")
}

/// Returns a dump of an object whose owner now has another uid.
fn orphan(namespace: &str) -> String {
    let (own, owner) = (uid(namespace, 1), uid(namespace, 2));
    format!(
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: web\n  namespace: {namespace}\n  uid: {own}\n  \
         creationTimestamp: '2026-01-01T00:00:00Z'\n  ownerReferences:\n    - {{apiVersion: apps/v1, kind: Deployment, name: web, uid: {owner}}}\n---\n\
         apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: other, namespace: {namespace}, uid: {owner}, creationTimestamp: '2026-01-01T00:00:00Z'}}\n",
    )
}

fn pod(namespace: &str, n: usize) -> String {
    let (own, owner) = (uid(namespace, n + 10), uid(namespace, 1));
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-{n}\n  namespace: {namespace}\n  uid: {own}\n  \
         creationTimestamp: '2026-01-01T00:00:00Z'\n  ownerReferences:\n    - {{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: {owner}}}\n",
    )
}

/// Returns a namespace with an object that no controller releases.
fn held(namespace: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n---\napiVersion: v1\nkind: ConfigMap\n\
         metadata: {{name: held, namespace: {namespace}, finalizers: [example.com/unknown]}}\n"
    )
}

/// Returns the document, and its flowcharts.
fn markdown(repository: &Repository, arguments: &[&str]) -> (String, Vec<String>) {
    let (_, text, error) = repository.run(&[&["--output", "markdown"], arguments].concat(), "");
    assert_eq!(error, "");
    let charts = text
        .split("```mermaid\n")
        .skip(1)
        .filter_map(|chart| chart.split("```").next());
    let charts = charts.map(str::to_owned).collect();
    (text, charts)
}

#[test]
fn cascades_come_before_the_findings() {
    let paths = [
        "fixtures/rules/deleted-on-arrival/bad/with-a-cascade.yaml",
        "fixtures/rules/namespace-never-empties/bad",
    ];
    let repository = Repository::of_copies(&paths);
    let output = ownerlint()
        .args(["--output", "markdown"])
        .args(paths)
        .current_dir(repository.path())
        .output()
        .expect("it runs");
    insta::assert_snapshot!(String::from_utf8(output.stdout).expect("text"));
}

#[test]
fn only_reported_cascades_are_drawn() {
    let repository = Repository::new();
    repository
        .write("a/orphan.yaml", &(orphan("a") + &pod("a", 1)))
        .write("b/orphan.yaml", &orphan("b"));
    repository.write(
        "clean.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: clean}\n",
    );
    let (text, charts) = markdown(&repository, &["--select", "deleted-on-arrival"]);
    assert!(
        text.contains("\n**Right after it is applied:** 3 deleted.\n"),
        "{text}"
    );
    assert_eq!(charts.len(), 1, "one collapse, one picture");
    let (text, charts) = markdown(&repository, &["--only", "b"]);
    assert!(
        text.contains("\n**Right after it is applied:** 1 deleted.\n"),
        "{text}"
    );
    assert!(
        charts[0].contains("b/web\"") && !charts[0].contains("a/web"),
        "{}",
        charts[0]
    );
    assert_eq!(markdown(&repository, &["--only", "clean.yaml"]).1, [""; 0]);
    assert_eq!(
        markdown(&repository, &["--ignore", "deleted-on-arrival"]).1,
        [""; 0]
    );
    let annotated = orphan("b").replacen(
        "  name: web\n",
        "  name: web\n  annotations: {ignore.ownerlint/deleted-on-arrival: known}\n",
        1,
    );
    repository.write("b/orphan.yaml", &annotated);
    assert_eq!(markdown(&repository, &["--only", "b"]).1, [""; 0]);
}

#[test]
fn bundles_are_simulated_separately() {
    let repository = Repository::new();
    repository.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {dev: {paths: [dev]}, prod: {paths: [prod]}}\n",
    );
    repository
        .write("dev/orphan.yaml", &(orphan("a") + &pod("a", 1)))
        .write("prod/orphan.yaml", &orphan("a"));
    let (text, charts) = markdown(&repository, &["--select", "deleted-on-arrival"]);
    assert_eq!(charts.len(), 2);
    assert!(
        text.contains(" 2 deleted.\n") && text.contains(" 1 deleted.\n"),
        "{text}"
    );
    assert_eq!(markdown(&repository, &["--only", "prod"]).1.len(), 1);
}

#[test]
fn three_thousand_objects_fit_into_one_graph() {
    let repository = Repository::new();
    repository.write(
        "all.yaml",
        &(orphan("a") + &(0..3_000).map(|n| pod("a", n)).collect::<String>()),
    );
    let (text, charts) = markdown(&repository, &[]);
    assert!(text.contains(" 3001 deleted.\n"), "every object is counted");
    assert!(
        charts[0].contains("[\"#51;000 Pod\"]"),
        "what has nothing below it shares a node: {}",
        charts[0]
    );
    assert!(charts[0].lines().count() < 100 && charts[0].len() < 15_000);
}

#[test]
fn omitted_graphs_are_counted() {
    let repository = Repository::new();
    repository.write(
        "all.yaml",
        &(0..7)
            .map(|n| held(&format!("shop-{n}")))
            .collect::<Vec<_>>()
            .join("---\n"),
    );
    let (text, charts) = markdown(&repository, &["--select", "namespace-never-empties"]);
    assert_eq!(charts.len(), 4);
    assert!(
        text.contains("\n**When Namespace shop-0 is deleted:** 0 deleted, 2 stuck.\n"),
        "{text}"
    );
    assert!(
        text.contains("\n3 graphs left out here; `ownerlint plan` draws them.\n"),
        "{text}"
    );
}

#[test]
fn small_byte_limit_omits_graphs_and_keeps_findings() {
    let repository = Repository::new();
    repository.write("all.yaml", &(held("shop") + "---\n" + &orphan("a")));
    let (text, charts) = markdown(&repository, &["--markdown-bytes", "1200"]);
    assert_eq!(charts, [""; 0]);
    assert!(
        text.contains("\n2 graphs left out here;") && text.contains("| error | "),
        "{text}"
    );
    assert!(text.len() <= 1_200, "{}", text.len());
}

#[test]
fn hostile_name_cannot_escape_its_graph() {
    let repository = Repository::new();
    repository.write("all.yaml", &held("\"a```<b>|\\n```\\n::error::b @me\""));
    let (text, charts) = markdown(&repository, &["--select", "namespace-never-empties"]);
    assert_eq!(charts.len(), 1, "{text}");
    assert!(
        charts[0].ends_with("stroke-dasharray:4 3\n"),
        "{}",
        charts[0]
    );
    assert!(
        !text.contains("<b>") && !text.contains("\n::") && !text.contains("@me"),
        "{text}"
    );
}
