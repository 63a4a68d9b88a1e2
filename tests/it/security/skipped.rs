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
fn unrelated_kustomization_cannot_skip_manifest_as_configuration() {
    assert_checked("skipped-as-configuration");
}

#[test]
fn unrelated_kustomization_cannot_skip_manifest_as_transformer() {
    assert_checked("skipped-as-transformer");
}

#[test]
fn unrelated_kustomization_cannot_skip_manifest_as_patch() {
    assert_checked("skipped-as-patch");
}

#[test]
fn unrelated_kustomization_cannot_skip_manifest_as_data() {
    assert_checked("skipped-as-data");
}

#[test]
fn unrelated_test_cannot_skip_manifest_as_assertion() {
    assert_checked("skipped-as-assertion");
}

#[test]
fn delivered_manifest_named_as_assertion_is_checked() {
    assert_checked("skipped-in-delivered-folder");
}

#[test]
fn delivered_manifest_named_as_patch_is_checked() {
    assert_checked("skipped-from-above");
}

#[test]
fn assertion_file_name_alone_does_not_skip_manifest() {
    assert_checked("skipped-by-name");
}

#[test]
fn assertion_file_name_in_folder_of_manifests_does_not_skip_it() {
    assert_checked("skipped-in-tested-folder");
}

#[test]
fn resource_with_patch_directive_is_checked() {
    assert_checked("skipped-by-directive");
}

#[test]
fn patch_directive_without_kustomization_is_checked() {
    assert_checked("skipped-by-directive-alone");
}

#[test]
fn resource_also_used_as_transformer_is_checked() {
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
