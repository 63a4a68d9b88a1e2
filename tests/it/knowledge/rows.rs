//! Table rows: a finding names the rows that it depends on, and `explain` prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ownerlint::engine::{self, Check};
use ownerlint::finding::Finding;
use ownerlint::inventory::{Files, Inventory, Settings, walk};
use ownerlint::knowledge::Tables;
use ownerlint::knowledge::{RowName, Table};
use predicates::str::contains;

use crate::support::{Repository, ownerlint, root};

/// Checks all fixtures of some rules with `tables`.
fn findings_in(rules: &[&str], tables: &Tables) -> Vec<Finding> {
    let folders = rules.iter().map(|rule| {
        root()
            .join("fixtures/rules")
            .join(rule)
            .display()
            .to_string()
    });
    let files =
        Files::default().read(&walk(&folders.collect::<Vec<_>>(), &[]).expect("it can be read"));
    let check = Check {
        tables: Some(Arc::new(tables.clone())),
        every: true,
        ..Check::default()
    };
    let report = engine::check(Inventory::new(files, Settings::default()), &check);
    report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .collect()
}

fn findings(tables: &Tables) -> Vec<Finding> {
    findings_in(&["volume-deleted-with-owner"], tables)
}

#[test]
fn removing_a_row_removes_exactly_its_findings() {
    let bundled = Tables::bundled();
    let all = findings(&bundled);
    let mut rested_on: BTreeMap<String, usize> = BTreeMap::new();
    for row in all.iter().flat_map(|finding| &finding.tables) {
        *rested_on.entry(row.clone()).or_default() += 1;
    }
    assert_eq!(
        rested_on.into_iter().collect::<Vec<_>>(),
        [
            (
                "data/Elasticsearch.elasticsearch.k8s.elastic.co".to_owned(),
                1
            ),
            ("data/KafkaNodePool.kafka.strimzi.io".to_owned(), 1),
            ("data/PersistentVolumeClaim".to_owned(), 2),
            ("data/PerconaXtraDBCluster.pxc.percona.com".to_owned(), 1),
            ("data/StatefulSet.apps".to_owned(), 1),
        ]
        .into_iter()
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
    for row in bundled
        .names()
        .into_iter()
        .filter(|row| row.table != Table::Finalizers)
    {
        let without = findings(&bundled.without(&row));
        let expected: Vec<&Finding> = all
            .iter()
            .filter(|finding| !finding.tables.contains(&row.to_string()))
            .collect();
        assert_eq!(
            without.iter().collect::<Vec<_>>(),
            expected,
            "without {row}"
        );
    }
}

#[test]
fn removing_a_finalizer_row_changes_only_its_findings() {
    let rules = [
        "finalizer-runtime",
        "finalizer-misplaced",
        "operator-deleted-first",
    ];
    let bundled = Tables::bundled();
    // Removing a row changes how many objects of a Namespace have no known controller.
    let of_rules = |tables: &Tables| -> Vec<Finding> {
        let findings = findings_in(&rules, tables).into_iter();
        findings
            .filter(|finding| finding.rule != "namespace-never-empties")
            .collect()
    };
    let all = of_rules(&bundled);
    let rested_on: BTreeSet<RowName> = bundled
        .names()
        .into_iter()
        .filter(|row| {
            all.iter()
                .any(|finding| finding.tables.contains(&row.to_string()))
        })
        .collect();
    assert!(rested_on.len() > 5, "{rested_on:?}");
    for row in rested_on {
        let without = of_rules(&bundled.without(&row));
        for finding in &all {
            let rests = finding.tables.contains(&row.to_string());
            assert_eq!(
                without.contains(finding),
                !rests,
                "without {row}: {finding:?}"
            );
        }
        // The other findings: the object has no known controller, permissions suggest one, or the name is bad.
        let new = without
            .iter()
            .filter(|finding| !all.contains(finding))
            .map(|finding| finding.rule);
        let new: BTreeSet<&str> = new.collect();
        let expected = [
            "finalizer-unknown",
            "finalizer-unqualified",
            "operator-deleted-first",
        ];
        assert!(
            new.iter().all(|rule| expected.contains(rule)),
            "without {row}: {new:?}"
        );
    }
}

#[test]
fn json_finding_lists_its_table_rows() {
    let path = "fixtures/rules/volume-deleted-with-owner/bad/when-deleted.yaml";
    let output = ownerlint()
        .args(["check", "--output", "json", path])
        .output()
        .expect("it runs");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let finding = report["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|f| f["rule"] == "volume-deleted-with-owner");
    let finding = finding.expect("a finding");
    assert_eq!(
        finding["tables"],
        serde_json::json!(["data/StatefulSet.apps"])
    );
    let reason = finding["reason"].as_str().expect("a text");
    assert!(
        reason.contains("`ownerlint explain StatefulSet.apps`"),
        "{reason}"
    );
}

#[test]
fn explain_shows_the_rows_of_a_kind_and_of_a_finalizer() {
    let explain = |word: &str| {
        let output = ownerlint()
            .args(["explain", word])
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{word}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    insta::assert_snapshot!(
        [
            "ExternalSecret.external-secrets.io",
            "statefulset",
            "data/*.*.services.k8s.aws",
            "Bucket.s3.services.k8s.aws"
        ]
        .map(explain)
        .join("\n---\n")
    );
    assert!(
        explain("argocd.argoproj.io/hook-finalizer")
            .starts_with("known-finalizers/argocd.argoproj.io/hook-finalizer")
    );
}

#[test]
fn explain_rejects_unknown_names() {
    for (word, message) in [
        (
            "Widget.example.com",
            "no operator file mentions the kind `Widget.example.com`",
        ),
        ("widget", "there is no rule `widget`"),
        ("owner-slef", "there is no rule `owner-slef`"),
    ] {
        ownerlint()
            .args(["explain", word])
            .assert()
            .code(2)
            .stderr(contains(message));
    }
}

#[test]
fn configured_row_works_like_a_bundled_row() {
    let repository = Repository::new();
    repository.write(
        "ownerlint.yaml",
        "version: 1\ngenerators:\n  - {kind: Login.example.com, product: {kind: Secret, name: spec.secret}, policy: spec.keep, owns: no, default: no}\n",
    );
    repository.write(
        "web.yaml",
        "apiVersion: example.com/v1\nkind: Login\nmetadata: {name: web, namespace: shop}\nspec: {secret: login}\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n\
         spec: {containers: [{name: a, envFrom: [{secretRef: {name: login}}]}]}\n",
    );
    let (status, out, error) = repository.run(
        &["plan", "delete", "login/web", "-n", "shop", "-o", "json"],
        "",
    );
    assert_eq!((status, error.as_str()), (0, ""));
    let plan: serde_json::Value = serde_json::from_str(&out).expect("a plan");
    assert_eq!(plan["implied"][0]["key"], "Secret/shop/login");
    assert_eq!(plan["implied"][0]["rule"], "generators/Login.example.com");
    assert_eq!(plan["implied"][0]["outcomes"], serde_json::json!(["gone"]));
    let (_, out, _) = repository.run(&["explain", "Login.example.com"], "");
    assert!(out.contains("Source: ownerlint.yaml"), "{out}");
}
