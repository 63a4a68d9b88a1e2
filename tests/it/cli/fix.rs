//! `check --fix` and `check --fix-dry-run`, as users run them.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

use crate::support::{Repository, ownerlint};

const ROLE: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
  namespace: shop # of no use
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: settings, uid: 5f0a}
rules: []
";

const SAFELY_FIXED: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: settings, uid: 5f0a}
rules: []
";

const FIXED: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
rules: []
";

const DIFF: &str = "\
--- role.yaml
+++ role.yaml
@@ -2,7 +2,6 @@
 kind: ClusterRole
 metadata:
   name: reader
-  namespace: shop # of no use
   ownerReferences:
   - {apiVersion: v1, kind: ConfigMap, name: settings, uid: 5f0a}
 rules: []
";

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("role.yaml", ROLE);
    repository
}

fn check(repository: &Repository, arguments: &[&str]) -> Command {
    let mut command = ownerlint();
    command
        .current_dir(repository.path())
        .arg("check")
        .args(arguments);
    command
}

#[test]
fn fix_writes_safe_fixes_and_remaining_findings_decide_exit_status() {
    let repository = repository();
    let run = check(&repository, &["--fix", "role.yaml"]).assert().code(1);
    run.stdout(contains("owner-of-cluster-scoped"))
        .stderr(contains(
            "fixed 1 finding in 1 file (namespace-on-cluster-scoped 1)",
        ))
        .stderr(contains("1 finding can be fixed with `--fix --suggested`"));
    assert_eq!(repository.read("role.yaml"), SAFELY_FIXED);
    check(&repository, &["--fix", "--suggested", "role.yaml"])
        .assert()
        .code(0);
    assert_eq!(repository.read("role.yaml"), FIXED);
    check(&repository, &["--fix", "--suggested", "role.yaml"])
        .assert()
        .code(0)
        .stderr(contains("fixed nothing"));
    assert_eq!(repository.read("role.yaml"), FIXED);
}

#[test]
fn dry_run_prints_diff_and_writes_nothing() {
    let repository = repository();
    for arguments in [&["--fix-dry-run"][..], &["--fix", "--fix-dry-run"]] {
        check(&repository, arguments)
            .assert()
            .code(1)
            .stdout(DIFF)
            .stderr(contains("would fix 1 finding in 1 file"));
        assert_eq!(repository.read("role.yaml"), ROLE);
    }
    repository.write("role.yaml", FIXED);
    check(&repository, &["--fix-dry-run", "--suggested"])
        .assert()
        .code(0)
        .stdout("");
}

#[test]
fn without_fix_option_json_lists_fixes_and_nothing_is_written() {
    let repository = repository();
    let json = check(&repository, &["-o", "json", "role.yaml"])
        .assert()
        .code(1);
    json.stderr("")
        .stdout(contains("\"applicability\": \"safe\""));
    assert_eq!(repository.read("role.yaml"), ROLE);
    check(&repository, &["--suggested"])
        .assert()
        .code(2)
        .stderr(contains("`--fix-dry-run`"));
}

#[test]
fn fix_of_standard_input_prints_fixed_text() {
    let repository = Repository::new();
    let run = check(&repository, &["--fix", "-"])
        .write_stdin(ROLE)
        .assert()
        .code(1);
    run.stdout(SAFELY_FIXED)
        .stderr(contains("owner-of-cluster-scoped"));
    let clean = check(&repository, &["--fix", "-"])
        .write_stdin(FIXED)
        .assert()
        .code(0);
    clean.stdout(FIXED);
}

#[test]
fn fix_of_unsaved_text_prints_it_and_leaves_the_file() {
    let repository = repository();
    let unsaved = ROLE.replace("reader", "writer");
    let run = check(&repository, &["--fix", "--stdin-filename", "role.yaml"])
        .write_stdin(unsaved)
        .assert();
    run.stdout(SAFELY_FIXED.replace("reader", "writer"));
    assert_eq!(repository.read("role.yaml"), ROLE);
}

#[test]
fn suppressed_and_out_of_scope_findings_are_not_fixed() {
    let repository = repository();
    repository.write(
        "suppressed.yaml",
        &ROLE.replace(
            "of no use",
            "ownerlint: ignore[namespace-on-cluster-scoped] ours",
        ),
    );
    repository.write("other.yaml", &ROLE.replace("reader", "other"));
    let before = repository.read("suppressed.yaml");
    check(
        &repository,
        &["--fix", "--only", "role.yaml", "--only", "suppressed.yaml"],
    )
    .assert()
    .code(1);
    assert_eq!(repository.read("role.yaml"), SAFELY_FIXED);
    assert_eq!(repository.read("suppressed.yaml"), before);
    assert_eq!(
        repository.read("other.yaml"),
        ROLE.replace("reader", "other")
    );
}

#[test]
fn file_that_is_not_utf8_is_an_error_and_unchanged() {
    let repository = Repository::new();
    let utf16: Vec<u8> = "\u{feff}"
        .chars()
        .chain(ROLE.chars())
        .flat_map(|c| (c as u16).to_le_bytes())
        .collect();
    std::fs::write(repository.path().join("role.yaml"), &utf16).expect("a file");
    check(&repository, &["--fix"])
        .assert()
        .code(2)
        .stderr(contains("it is not UTF-8"));
    assert_eq!(
        std::fs::read(repository.path().join("role.yaml")).expect("a file"),
        utf16
    );
}

#[cfg(unix)]
#[test]
fn fix_keeps_permissions_and_symlinks() {
    use std::os::unix::fs::PermissionsExt;
    let repository = repository();
    let file = repository.path().join("role.yaml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("permissions");
    std::os::unix::fs::symlink("role.yaml", repository.path().join("link.yaml")).expect("a link");
    check(&repository, &["--fix", "link.yaml"]).assert().code(1);
    assert_eq!(repository.read("role.yaml"), SAFELY_FIXED);
    assert_eq!(
        file.metadata().expect("a file").permissions().mode() & 0o777,
        0o640
    );
    assert!(
        repository
            .path()
            .join("link.yaml")
            .symlink_metadata()
            .expect("a link")
            .is_symlink()
    );
    assert_eq!(
        std::fs::read_dir(repository.path())
            .expect("a folder")
            .count(),
        3,
        "nothing else is left behind"
    );
}

#[test]
fn all_duplicates_in_one_list_are_fixed_in_one_run() {
    let repository = Repository::new();
    let reference = "  - {apiVersion: v1, kind: Namespace, name: a, uid: u}\n";
    let text = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: b\n  ownerReferences:\n{}",
        reference.repeat(4)
    );
    repository.write("a.yaml", &text);
    let run = check(&repository, &["--fix"]).assert();
    run.stderr(
        contains("fixed 3 findings in 1 file (owner-duplicate 3)").and(contains("would").not()),
    );
    assert_eq!(repository.read("a.yaml").matches("name: a").count(), 1);
}

/// Each round checks the whole input again, so a large input gets few rounds.
#[test]
fn large_input_is_fixed_in_several_runs() {
    let repository = Repository::new();
    let reference = "  - {apiVersion: v1, kind: Namespace, name: a, uid: u}\n";
    let text = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: b\n  ownerReferences:\n{}",
        reference.repeat(4)
    );
    repository.write("a.yaml", &text);
    repository.write("large.yaml", &format!("# {}\n", "x".repeat(20 << 20)));
    let run = check(&repository, &["--fix", "--allow-empty"]).assert();
    run.stderr(contains(
        "fixed 2 findings in 1 file (owner-duplicate 2); run it again for the rest\n",
    ));
    let run = check(&repository, &["--fix", "--allow-empty"]).assert();
    run.stderr(contains("fixed 1 finding in 1 file (owner-duplicate 1)\n"));
    assert_eq!(repository.read("a.yaml").matches("name: a").count(), 1);
}
