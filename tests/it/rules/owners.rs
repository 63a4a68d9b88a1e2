//! Findings on written owner references, beyond the lines that fixtures mark.

use std::fmt::Write;

use ownerlint::engine::Check;
use ownerlint::finding::{Consequence, Finding, Relation, Severity};
use ownerlint::kube::ObjectKey;
use ownerlint::report::{Format, Options, render};

use crate::support::{Repository, check_text, inventory_at};

fn findings(text: &str, rule: &str) -> Vec<Finding> {
    let report = check_text("input.yaml", text, &Check::default());
    report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .filter(|finding| finding.rule == rule)
        .collect()
}

/// Returns a rendered ConfigMap with owners.
fn config_map(name: &str, owners: &[&str]) -> String {
    let mut text = format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  ownerReferences:\n"
    );
    for owner in owners {
        let _ = writeln!(
            text,
            "    - {{apiVersion: v1, kind: ConfigMap, name: {owner}, uid: u-{owner}}}"
        );
    }
    text
}

fn texts(keys: &[ObjectKey]) -> Vec<String> {
    keys.iter().map(ToString::to_string).collect()
}

#[test]
fn owner_cycle_is_shown_as_chain_from_dependent_to_owner() {
    let text = [
        config_map("a", &["b"]),
        config_map("b", &["c"]),
        config_map("c", &["b", "a"]),
    ]
    .concat();
    let [finding] = &findings(&text, "owner-cycle")[..] else {
        panic!("one finding")
    };
    let keys = ["a", "b", "c", "a"].map(|name| format!("ConfigMap/?/{name}"));
    assert_eq!(texts(&finding.chain.objects), keys);
    assert_eq!(
        finding.message,
        format!("ConfigMap `a` owns itself indirectly: {}", keys.join(" → "))
    );
    let related: Vec<_> = finding
        .related
        .iter()
        .map(|label| label.message.as_str())
        .collect();
    assert_eq!(
        related,
        [
            "ConfigMap `b` is owned by ConfigMap `c`",
            "ConfigMap `c` is owned by ConfigMap `a`"
        ]
    );
}

#[test]
fn further_objects_of_an_owner_cycle_are_counted() {
    let text = [
        config_map("a", &["b"]),
        config_map("b", &["a", "c"]),
        config_map("c", &["a"]),
    ]
    .concat();
    let [finding] = &findings(&text, "owner-cycle")[..] else {
        panic!("one finding")
    };
    assert_eq!(
        texts(&finding.chain.objects),
        ["ConfigMap/?/a", "ConfigMap/?/b", "ConfigMap/?/a"]
    );
    assert!(
        finding
            .reason
            .ends_with("One more object belongs to the cycle through other references."),
        "{}",
        finding.reason
    );
}

#[test]
fn owner_cycle_of_5000_objects_is_found() {
    let count = 5000;
    let name = |at: usize| format!("n{at}");
    let ring: String = (0..count)
        .map(|at| config_map(&name(at), &[&name((at + 1) % count)]))
        .collect();
    let [finding] = &findings(&ring, "owner-cycle")[..] else {
        panic!("one finding")
    };
    assert_eq!(finding.chain.objects.len(), count + 1);
    assert!(
        finding
            .message
            .ends_with("→ ConfigMap/?/n9 → 4990 more objects → ConfigMap/?/n0"),
        "{}",
        finding.message
    );
}

#[test]
fn self_reference_is_stuck_only_if_it_blocks() {
    let object = |flag: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  ownerReferences: \
             [{{apiVersion: v1, kind: ConfigMap, name: a, uid: u1{flag}}}]\n"
        )
    };
    let consequence = |flag: &str| findings(&object(flag), "owner-self")[0].consequence;
    assert_eq!(
        consequence(", blockOwnerDeletion: true"),
        Consequence::Stuck
    );
    assert_eq!(consequence(""), Consequence::NeverCollected);
    assert!(
        findings(&object(""), "owner-cycle").is_empty(),
        "a self reference is no cycle"
    );
}

#[test]
fn literal_owner_uid_finding_says_remove_and_shows_the_owner() {
    let text = [
        config_map("a", &["b"]),
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n".into(),
    ]
    .concat();
    let [finding] = &findings(&text, "owner-literal-uid")[..] else {
        panic!("one finding")
    };
    assert!(
        finding
            .help
            .starts_with("remove the reference: its owner is in the same input"),
        "{}",
        finding.help
    );
    assert_eq!(finding.related.len(), 1);
    assert_eq!(
        finding.field.as_deref(),
        Some("metadata.ownerReferences[0].uid")
    );
}

#[test]
fn owner_uid_mismatch_is_an_error_only_within_one_dump() {
    let owner = |uid: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: a, uid: {uid}, resourceVersion: '1'}}\n"
        )
    };
    let dependent = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: a, uid: u0, resourceVersion: '1', \
                     ownerReferences: [{apiVersion: v1, kind: Secret, name: s, uid: u9}]}\n";
    let judged = |files: &[(&str, String)]| {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let report = ownerlint::engine::check(
            inventory_at(&[&folder.path().to_string_lossy()]),
            &Check::default(),
        );
        let found = report.findings.iter().map(|reported| &reported.finding);
        found
            .filter(|finding| finding.rule == "owner-identity-mismatch")
            .map(|finding| {
                let assumes = finding.reason.ends_with(
                    "This assumes that both objects were read from the same cluster at the same time.",
                );
                (finding.severity, assumes)
            })
            .collect::<Vec<_>>()
    };
    let (certain, doubtful) = ([(Severity::Error, false)], [(Severity::Warning, true)]);
    let dependent = dependent.to_owned();
    let together = [("s.yaml", owner("u1")), ("c.yaml", dependent.clone())];
    assert_eq!(judged(&together), certain);
    let apart = [
        ("before/s.yaml", owner("u1")),
        ("after/c.yaml", dependent.clone()),
    ];
    assert_eq!(
        judged(&apart),
        doubtful,
        "another folder may be another cluster"
    );
    let several = [
        ("s1.yaml", owner("u1")),
        ("s2.yaml", owner("u2")),
        ("c.yaml", dependent.clone()),
    ];
    assert_eq!(
        judged(&several),
        doubtful,
        "two uids under one name are not one moment"
    );
    let scattered = [
        ("after/s.yaml", owner("u1")),
        ("after/c.yaml", dependent),
        ("before/s.yaml", owner("u1")),
    ];
    assert_eq!(
        judged(&scattered),
        doubtful,
        "the owner is in two folders, which may be two clusters"
    );
}

#[test]
fn unknown_metadata_of_undefined_kinds_is_info_unless_misspelt() {
    let text = "apiVersion: tool.example.org/v1\nkind: Setup\nmetadata: {name: a, region: eu, lables: {}}\n";
    let found = findings(text, "metadata-unknown-field");
    assert_eq!(
        found
            .iter()
            .map(|finding| finding.severity)
            .collect::<Vec<_>>(),
        [Severity::Info, Severity::Error]
    );
    assert_eq!(found[1].help, "write `labels`");
}

#[test]
fn live_object_finding_names_its_server_set_fields() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, generation: 2, resourceVersion: '7'}\n";
    let [finding] = &findings(text, "live-object")[..] else {
        panic!("one finding")
    };
    assert!(
        finding
            .message
            .contains("contains `generation` and `resourceVersion`"),
        "{}",
        finding.message
    );
    assert!(
        finding
            .reason
            .contains("`resourceVersion` makes a create fail"),
        "{}",
        finding.reason
    );
    assert_eq!(finding.field.as_deref(), Some("metadata.resourceVersion"));
}

/// An owner that the collector deletes on arrival, because its own owner is in another namespace, and two dependents.
const DOOMED: &str = "apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: system, name: root, uid: u1, resourceVersion: '1'}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: owner, uid: u2, resourceVersion: '1',
      ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: u1}]}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: a, uid: u3, resourceVersion: '1',
      ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: u2}]}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: b, uid: u4, resourceVersion: '1',
      ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: u2}]}}
";

#[test]
fn object_deleted_on_arrival_takes_its_dependents() {
    let [finding] = &findings(DOOMED, "deleted-on-arrival")[..] else {
        panic!("one finding")
    };
    assert_eq!(finding.chain.relation, Relation::Takes);
    assert_eq!(
        texts(&finding.chain.objects),
        [
            "ConfigMap/shop/owner",
            "ConfigMap/shop/a",
            "ConfigMap/shop/b"
        ]
    );
    let report = check_text("input.yaml", DOOMED, &Check::default());
    let text = render(Format::Human, &report, &Options::default());
    let tree = "ConfigMap/shop/owner\n            ├─ takes ConfigMap/shop/a with it\n            └─ takes ConfigMap/shop/b with it\n";
    assert!(text.contains(tree), "{text}");
    assert!(!text.contains("owned by ConfigMap/shop"), "{text}");
}

#[test]
fn an_object_deleted_on_arrival_alone_takes_nothing() {
    let (lonely, _) = DOOMED
        .split_once("  - {apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: a,")
        .expect("the dependents come last");
    let [finding] = &findings(lonely, "deleted-on-arrival")[..] else {
        panic!("one finding")
    };
    assert_eq!(
        finding.message,
        "ConfigMap `owner` is deleted right after it is applied"
    );
    assert!(finding.chain.objects.is_empty(), "{finding:#?}");
}

#[test]
fn before_1_20_a_cluster_scoped_object_is_deleted_if_its_owner_is_namespaced() {
    let repository = Repository::new();
    repository.write(
        "driver.yaml",
        "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata:\n  name: csi.example.com\n  ownerReferences:\n    - {apiVersion: apps/v1, kind: Deployment, name: web, uid: u1}\n",
    );
    let found = |release: &str| {
        let arguments = [
            "check",
            ".",
            "--kubernetes-version",
            release,
            "--select",
            "deleted-on-arrival",
            "-o",
            "concise",
        ];
        repository.run(&arguments, "").1
    };
    let old = found("1.19");
    assert!(
        old.contains("CSIDriver `csi.example.com` is deleted right after it is applied"),
        "{old}"
    );
    let new = found("1.20");
    assert!(!new.contains("deleted-on-arrival"), "{new}");
}
