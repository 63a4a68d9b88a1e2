//! Neighbouring files that an attacker adds so that a manifest is taken for a file of a test or a kustomization.

use ownerlint::engine::{Check, check};

use crate::support::{Repository, inventory_at};

/// Asserts that the defect in the manifest of an attack tree is reported.
fn assert_checked(attack: &str) {
    let report = check(
        inventory_at(&[&format!("fixtures/security/{attack}")]),
        &Check::default(),
    );
    let rules = report.findings.iter().map(|reported| reported.finding.rule);
    assert_eq!(
        rules.collect::<Vec<_>>(),
        ["finalizer-misplaced"],
        "{attack}: {:#?}",
        report.skipped
    );
}

#[test]
fn configuration_of_a_kustomization_elsewhere_is_checked() {
    assert_checked("skipped-as-configuration");
}

#[test]
fn transformer_of_a_kustomization_elsewhere_is_checked() {
    assert_checked("skipped-as-transformer");
}

#[test]
fn patch_of_a_kustomization_elsewhere_is_checked() {
    assert_checked("skipped-as-patch");
}

#[test]
fn data_of_a_kustomization_elsewhere_is_checked() {
    assert_checked("skipped-as-data");
}

#[test]
fn assertion_of_a_test_elsewhere_is_checked() {
    assert_checked("skipped-as-assertion");
}

#[test]
fn assertion_in_a_delivered_folder_is_checked() {
    assert_checked("skipped-in-delivered-folder");
}

#[test]
fn patch_in_a_delivered_folder_is_checked() {
    assert_checked("skipped-from-above");
}

#[test]
fn name_of_an_assertion_alone_is_checked() {
    assert_checked("skipped-by-name");
}

#[test]
fn name_of_an_assertion_among_manifests_is_checked() {
    assert_checked("skipped-in-tested-folder");
}

#[test]
fn directive_in_a_resource_is_checked() {
    assert_checked("skipped-by-directive");
}

#[test]
fn directive_without_a_kustomization_is_checked() {
    assert_checked("skipped-by-directive-alone");
}

#[test]
fn resource_that_is_a_transformer_too_is_checked() {
    assert_checked("skipped-by-second-use");
}

#[test]
fn skipped_files_are_named_and_counted() {
    let repository = Repository::new();
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n";
    repository.write(
        "kustomization.yaml",
        "resources: [web.yaml]\npatches: [{path: patch.yaml}]\n",
    );
    repository
        .write("web.yaml", manifest)
        .write("patch.yaml", manifest);
    let (_, out, err) = repository.run(&[], "");
    assert!((out + &err).contains("(3 documents, 1 object, 2 skipped)"));
    let (_, out, err) = repository.run(&["-v"], "");
    let said = out + &err;
    assert!(
        said.contains("patch.yaml:1: skipped: not-a-manifest (kustomize patch)"),
        "{said}"
    );
    let (_, out, _) = repository.run(&["-o", "json"], "");
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["summary"]["skipped"], 2);
    assert_eq!(report["skipped"][1]["file"], "patch.yaml");
}
