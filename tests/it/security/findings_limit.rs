//! Attempts to hide a finding among more findings than the limit.

use ownerlint::rules::MAX_FINDINGS;
use serde_json::Value;

use crate::support::Repository;

/// Returns an object whose owner reference lacks a uid.
fn unowned(name: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: shop\n  \
         ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: owner}}]\n"
    )
}

fn many(count: usize) -> String {
    (0..count).map(|at| unowned(&format!("a{at:05}"))).collect()
}

/// Returns the objects of the findings, and the notes.
fn found(repository: &Repository, arguments: &[&str]) -> (Vec<String>, Vec<String>) {
    let select = ["-o", "json", "--select", "owner-missing-field"];
    let (_, out, error) = repository.run(&[&["check"], arguments, &select].concat(), "");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {error}"));
    let texts = |list: &str, key: &str| -> Vec<String> {
        let list = report[list].as_array().expect("a list").iter();
        list.filter_map(|one| one[key].as_str().map(str::to_owned))
            .collect()
    };
    (texts("findings", "object"), texts("notes", "message"))
}

const HIDDEN: &str =
    "suppressed, known or out of scope: at most 10000 findings are reported per rule";

#[test]
fn suppressed_findings_do_not_use_up_the_limit() {
    let inside = Repository::new();
    inside.write("all.yaml", &(many(MAX_FINDINGS + 5) + &unowned("z")));
    inside.write(
        "ownerlint.yaml",
        "version: 1\nrules:\n  owner-missing-field:\n    ignore: [{object: ConfigMap/shop/a*, reason: why}]\n",
    );
    let (found, notes) = found(&inside, &["all.yaml"]);
    assert_eq!(found, ["ConfigMap/shop/z"]);
    assert_eq!(
        notes,
        [format!(
            "rule `owner-missing-field` found 5 more that are {HIDDEN}"
        )]
    );
}

#[test]
fn findings_out_of_scope_do_not_use_up_the_limit() {
    let inside = Repository::new();
    inside
        .write("all.yaml", &many(MAX_FINDINGS + 5))
        .write("z.yaml", &unowned("z"));
    let (found, notes) = found(&inside, &["--only", "z.yaml"]);
    assert_eq!(found, ["ConfigMap/shop/z"]);
    assert_eq!(
        notes,
        [format!(
            "rule `owner-missing-field` found 5 more that are {HIDDEN}"
        )]
    );
}

#[test]
fn baseline_findings_do_not_use_up_the_limit() {
    let inside = Repository::new();
    inside.write("all.yaml", &many(MAX_FINDINGS));
    let (status, _, error) = inside.run(&["baseline", "write"], "");
    assert_eq!(status, 0, "{error}");
    inside.write("all.yaml", &(many(MAX_FINDINGS) + &unowned("z")));
    let (found, notes) = found(&inside, &[]);
    assert_eq!(
        (found, notes),
        (vec!["ConfigMap/shop/z".to_owned()], Vec::new())
    );
}
