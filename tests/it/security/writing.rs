//! Written files and their places: a repository controls its own baseline, and no other file of the machine.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{Repository, root};

/// Copies a tree of `fixtures/security/` into a repository with a Git hook.
fn attacked(name: &str) -> Repository {
    let repository = Repository::new();
    copy(
        &root().join("fixtures/security").join(name),
        &repository.path(),
    );
    repository.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    executable(&repository.path().join(".git/hooks/pre-commit"));
    repository
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from)
        .into_iter()
        .map(|entry| entry.expect("an entry"))
    {
        let place = to.join(entry.path().strip_prefix(from).expect("below"));
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(place).expect("a folder");
        } else {
            std::fs::copy(entry.path(), place)
                .map(|_| ())
                .expect("a file");
        }
    }
}

fn executable(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
}

/// Runs every command that writes a baseline; each must refuse with this reason.
fn refuses_to_write(repository: &Repository, baseline: &str, reason: &str) {
    repository.write(
        "ownerlint.yaml",
        &format!("version: 1\nbaseline: '{baseline}'\n"),
    );
    for action in ["write", "update", "prune"] {
        let (status, _, error) = repository.run(&["baseline", action, "m"], "");
        assert!(
            status == 2 && error.contains(reason),
            "{baseline}, {action}: {status} {error}"
        );
    }
}

#[test]
fn configured_baseline_in_git_folder_is_refused() {
    let repository = attacked("baseline-as-hook");
    repository
        .write("sub/.git/config", "")
        .write(".git/modules/sub/config", "");
    for path in [
        ".git/hooks/pre-commit",
        "./.git/hooks/pre-commit",
        "m/../.git/hooks/pre-commit",
        ".git/modules/sub/hooks/pre-commit",
        ".git",
        "sub/.git/hooks/pre-commit",
        // Names of the folder `.git` on file systems that ignore case, spaces and characters without a width.
        ".GIT/hooks/pre-commit",
        ".git./hooks/pre-commit",
        "git~1/hooks/pre-commit",
        ".g\u{200c}it/hooks/pre-commit",
    ] {
        refuses_to_write(&repository, path, "is in `.git`");
    }
    assert_eq!(
        repository.read(".git/hooks/pre-commit"),
        "#!/bin/sh\nexit 0\n"
    );
    // It is also refused if the configuration is named, which may be the same file of the same author.
    repository.write(
        "ownerlint.yaml",
        "version: 1\nbaseline: .git/hooks/pre-commit\n",
    );
    let (status, _, error) = repository.run(
        &["baseline", "write", "--config", "ownerlint.yaml", "m"],
        "",
    );
    assert!(status == 2 && error.contains("is in `.git`"), "{error}");
}

#[test]
fn configured_baseline_outside_repository_is_refused() {
    let (outside, repository) = (Repository::new(), attacked("baseline-as-hook"));
    outside.write("profile", "mine\n");
    let profile = outside.path().join("profile").display().to_string();
    symlink(outside.path(), repository.path().join("away")).expect("a link");
    for path in [
        profile.as_str(),
        "../profile",
        "m/../../profile",
        "nowhere/../../profile",
        "away/profile",
        "/dev/null",
    ] {
        refuses_to_write(&repository, path, "is outside the repository");
    }
    assert_eq!(outside.read("profile"), "mine\n");
    // Without a repository, nothing outside the folder of the configuration is written.
    std::fs::remove_dir_all(repository.path().join(".git")).expect("removed");
    refuses_to_write(&repository, &profile, "is outside the repository");
}

#[test]
fn configured_baseline_behind_symlink_is_refused() {
    let repository = attacked("baseline-as-hook");
    repository.write("known/a.json", "{}\n");
    for (link, target) in [
        ("linked", "known"),
        ("hooks", ".git/hooks"),
        ("one.json", "known/a.json"),
        ("none", "nowhere"),
    ] {
        symlink(target, repository.path().join(link)).expect("a link");
    }
    refuses_to_write(
        &repository,
        "linked/a.json",
        "is a symbolic link, or behind one",
    );
    refuses_to_write(
        &repository,
        "m/../linked/a.json",
        "is a symbolic link, or behind one",
    );
    refuses_to_write(&repository, "one.json", "is a symbolic link, or behind one");
    refuses_to_write(&repository, "none", "is a symbolic link, or behind one");
    refuses_to_write(&repository, "hooks/pre-commit", "is in `.git`");
    assert_eq!(repository.read("known/a.json"), "{}\n");
}

#[test]
fn configured_baseline_within_repository_is_written() {
    let repository = attacked("baseline-as-hook");
    repository
        .write("ci/.gitkeep", "")
        .write("ownerlint.yaml", "version: 1\nbaseline: ci/known.json\n");
    assert_eq!(repository.run(&["baseline", "write", "m"], "").0, 0);
    assert_eq!(repository.run(&["m"], "").0, 0, "all of it is known");
    assert_eq!(
        repository
            .run_in("ci", &["baseline", "update", "../m"], "")
            .0,
        0
    );
    assert_eq!(
        repository
            .run_in("ci", &["baseline", "prune", "../m"], "")
            .0,
        0
    );
    assert_eq!(
        repository
            .run(
                &["baseline", "write", "--baseline", "ci/other.json", "m"],
                ""
            )
            .0,
        0
    );
}

#[test]
fn baseline_cannot_be_executed_by_interpreters() {
    let repository = attacked("baseline-as-hook");
    repository
        .write("known.json", "#!/bin/sh\n")
        .write("ownerlint.yaml", "version: 1\nbaseline: known.json\n");
    let path = repository.path().join("known.json");
    executable(&path);
    assert_eq!(repository.run(&["baseline", "write", "m"], "").0, 0);
    assert_eq!(
        path.metadata().expect("a file").permissions().mode() & 0o111,
        0,
        "it cannot be executed"
    );
    assert_eq!(
        repository.run(&["m"], "").0,
        0,
        "it is still read as what was written"
    );
    for interpreter in [
        "sh", "bash", "zsh", "perl", "python3", "ruby", "php", "node",
    ] {
        // The interpreter may be missing; if it is installed, it must run nothing.
        let _ = Command::new(interpreter)
            .arg("known.json")
            .current_dir(repository.path())
            .output();
        assert!(
            !repository.path().join("pwned").exists(),
            "{interpreter}: {}",
            repository.read("known.json")
        );
    }
}

#[test]
fn configured_bundle_in_git_folder_is_not_read() {
    let repository = attacked("manifests-in-git-folder");
    repository.write(
        ".git/config",
        "apiVersion: v1\nkind: X\n[http]\n\textraheader = basic hunter2\n",
    );
    for path in [".git/config", ".GIT/config", ".git", ".git/**/*"] {
        repository.write(
            "ownerlint.yaml",
            &format!("version: 1\nbundles: {{all: {{paths: ['{path}', m]}}}}\n"),
        );
        for arguments in [&[][..], &["--fix"], &["list"]] {
            let (status, out, error) = repository.run(arguments, "");
            assert!(
                status == 2 && error.contains(&format!("bundle `all`: `{path}` is in `.git`")),
                "{path}: {error}"
            );
            assert!(!(out + &error).contains("hunter2"), "{path}");
        }
    }
}

/// A manifest with a finding that has a safe fix.
const FIXABLE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  finalizer: [x.y/z]\n";

#[test]
fn nothing_is_written_through_symlinks_out_of_repository() {
    let (outside, repository) = (Repository::new(), attacked("manifests-in-git-folder"));
    outside.write("m.yaml", FIXABLE);
    symlink(outside.path(), repository.path().join("reports")).expect("a link");
    symlink(".git/hooks", repository.path().join("hooks")).expect("a link");
    symlink(
        outside.path().join("m.yaml"),
        repository.path().join("m/linked.yaml"),
    )
    .expect("a link");
    let refused = |arguments: &[&str], reason: &str| {
        let (status, _, error) = repository.run(arguments, "");
        assert!(
            status == 2 && error.contains(reason),
            "{arguments:?}: {status} {error}"
        );
    };
    let (out, git) = (
        "a symbolic link on the way leads out of the repository",
        "a symbolic link on the way leads into `.git`",
    );
    refused(
        &[
            "--no-config",
            "-o",
            "json:reports/report.json",
            "m/good.yaml",
        ],
        out,
    );
    refused(
        &["--no-config", "-o", "sarif:hooks/pre-commit", "m/good.yaml"],
        git,
    );
    refused(
        &[
            "--no-config",
            "baseline",
            "write",
            "--baseline",
            "reports/known.json",
            "m/good.yaml",
        ],
        out,
    );
    refused(
        &[
            "plan",
            "delete",
            "ns/shop",
            "--no-config",
            "-f",
            "m/good.yaml",
            "-o",
            "markdown:reports/plan.md",
        ],
        out,
    );
    refused(&["init", "reports"], out);
    refused(&["--no-config", "--fix", "m/linked.yaml"], out);
    let left: Vec<_> = std::fs::read_dir(outside.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(
        (left.len(), outside.read("m.yaml").as_str()),
        (2, FIXABLE),
        "{left:?}"
    );
    assert_eq!(
        repository.read(".git/hooks/pre-commit"),
        "#!/bin/sh\nexit 0\n"
    );
}

#[test]
fn symlinks_within_repository_are_written_through() {
    let repository = attacked("manifests-in-git-folder");
    repository
        .write("out/.gitkeep", "")
        .write("m/fixable.yaml", FIXABLE);
    symlink("out", repository.path().join("reports")).expect("a link");
    symlink("fixable.yaml", repository.path().join("m/linked.yaml")).expect("a link");
    assert_eq!(
        repository
            .run(
                &[
                    "--no-config",
                    "-o",
                    "json:reports/report.json",
                    "m/good.yaml"
                ],
                ""
            )
            .0,
        0
    );
    assert!(
        repository
            .read("out/report.json")
            .contains("ownerlint.report/1")
    );
    assert_eq!(
        repository
            .run(&["--no-config", "--fix", "m/linked.yaml"], "")
            .0,
        0
    );
    assert!(
        repository
            .read("m/fixable.yaml")
            .contains("finalizers: [x.y/z]")
    );
}
