//! Reports on a part of the files that are read, and unsaved text in place of a file.

use std::process::Command;

use serde_json::Value;

use crate::support::Repository;

const OWNED: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: other
  ownerReferences:
    - {apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}
";
const OWNER: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";
const TWICE: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice}\ndata:\n  a: '1'\n  a: '2'\n";

fn places(repository: &Repository, arguments: &[&str]) -> (i32, String) {
    let arguments = [&["--output", "concise", "--fail-on", "warning"], arguments].concat();
    let (status, out, error) = repository.run(&arguments, "");
    match status {
        1 => assert!(error.contains("; why, and how to fix it:\n"), "{error}"),
        _ => assert_eq!(error, ""),
    }
    let places = out.lines().filter_map(|line| line.split(": ").next());
    (status, places.collect::<Vec<_>>().join(" "))
}

fn repository() -> Repository {
    let repository = Repository::new();
    repository
        .write("m/owned.yaml", OWNED)
        .write("m/owner.yaml", OWNER)
        .write("m/twice.yaml", TWICE);
    repository
}

#[test]
fn only_keeps_findings_with_any_location_in_scope() {
    let repository = repository();
    let both = "m/owned.yaml:7:35 m/twice.yaml:6:3";
    assert_eq!(places(&repository, &[]), (1, both.to_owned()));
    assert_eq!(
        places(&repository, &["--only", "m/twice.yaml"]),
        (1, "m/twice.yaml:6:3".to_owned())
    );
    assert_eq!(
        places(&repository, &["--only", "./m/owner.yaml"]),
        (1, "m/owned.yaml:7:35".to_owned()),
        "a related place"
    );
    assert_eq!(places(&repository, &["--only", "m"]), (1, both.to_owned()));
    assert_eq!(
        places(
            &repository,
            &["--only", "m/owned.yaml", "--only", "m/twice.yaml"]
        ),
        (1, both.to_owned())
    );
    repository.write("elsewhere/notes.txt", "");
    assert_eq!(
        places(&repository, &["--only", "elsewhere"]),
        (0, String::new()),
        "there, and nothing is found in it"
    );
    let absolute = repository.path().join("m/../m/twice.yaml");
    assert_eq!(
        places(&repository, &["--only", &absolute.to_string_lossy()]).1,
        "m/twice.yaml:6:3"
    );
}

#[test]
fn summary_counts_only_findings_in_scope() {
    let repository = repository();
    let (_, out, _) = repository.run(&["--only", "m/twice.yaml", "--output", "json"], "");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&report["summary"]["warning"], &report["summary"]["objects"]),
        (&Value::from(1), &Value::from(3))
    );
}

#[test]
fn exit_zero_ignores_findings() {
    assert_eq!(places(&repository(), &["--exit-zero"]).0, 0);
}

pub(crate) fn git(repository: &Repository, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.com",
        "-c",
        "commit.gpgsign=false",
    ]);
    command.args(arguments).current_dir(repository.path());
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", repository.path());
    command.output().is_ok_and(|output| output.status.success())
}

/// Runs `check --only-changed-from` with Git on the `PATH`.
fn changed(repository: &Repository, reference: &str) -> (i32, String, String) {
    let mut command = crate::support::ownerlint();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", repository.path());
    command.current_dir(repository.path()).args([
        "--output",
        "concise",
        "--only-changed-from",
        reference,
    ]);
    let output = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code().unwrap_or(-1),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn only_changed_from_reports_new_findings_and_counts_old_ones() {
    let repository = repository();
    std::fs::remove_dir(repository.path().join(".git")).expect("the marker");
    assert!(git(&repository, &["init", "-q", "-b", "main"]));
    assert!(git(&repository, &["add", "-A"]) && git(&repository, &["commit", "-qm", "one"]));
    assert!(git(&repository, &["checkout", "-qb", "topic"]));
    let reported = |repository: &Repository| {
        let (_, out, error) = changed(repository, "main");
        assert_eq!(
            error,
            "2 findings that were there before the change: not shown\n"
        );
        out.lines()
            .filter_map(|line| line.split(": ").next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(reported(&repository), [""; 0]);
    // The branch moves findings to other lines and another file, but adds none.
    repository.write("m/owner.yaml", &format!("# moved\n{OWNER}"));
    std::fs::rename(
        repository.path().join("m/twice.yaml"),
        repository.path().join("m/moved.yaml"),
    )
    .expect("a file");
    assert!(git(&repository, &["add", "-A"]) && git(&repository, &["commit", "-qm", "two"]));
    assert_eq!(reported(&repository), [""; 0]);
    // An object without earlier findings.
    repository.write("m/another.yaml", &OWNED.replace("settings", "another"));
    assert!(git(&repository, &["add", "-A"]) && git(&repository, &["commit", "-qm", "two"]));
    assert_eq!(reported(&repository), ["m/another.yaml:7:35"]);
    // Later commits on main do not count.
    assert!(git(&repository, &["checkout", "-q", "main"]));
    repository.write("m/twice.yaml", &format!("# moved\n{TWICE}"));
    assert!(
        git(&repository, &["commit", "-qam", "three"])
            && git(&repository, &["checkout", "-q", "topic"])
    );
    assert_eq!(reported(&repository), ["m/another.yaml:7:35"]);
    // The work tree, and untracked files.
    repository.write("m/ä new file.yaml", &TWICE.replace("twice", "new"));
    assert_eq!(
        reported(&repository),
        ["m/another.yaml:7:35", "m/ä new file.yaml:6:3"]
    );
    // Findings in ignored files are reported, because it is unknown whether the files changed.
    repository.write(".gitignore", "m/ä*\n");
    assert_eq!(
        reported(&repository),
        ["m/another.yaml:7:35", "m/ä new file.yaml:6:3"]
    );
    let (status, _, error) = changed(&repository, "nowhere");
    assert_eq!(status, 2);
    assert!(
        error.starts_with(
            "error: cannot tell what changed since `nowhere`: there is no such commit"
        ),
        "{error}"
    );
    assert_eq!(changed(&repository, "--output=x").0, 2);
}

/// Creates a repository with a commit on `main`.
fn committed(files: &[(&str, &str)]) -> Repository {
    let repository = Repository::new();
    for (path, text) in files {
        repository.write(path, text);
    }
    std::fs::remove_dir(repository.path().join(".git")).expect("the marker");
    assert!(git(&repository, &["init", "-q", "-b", "main"]));
    assert!(git(&repository, &["add", "-A"]) && git(&repository, &["commit", "-qm", "one"]));
    repository
}

#[test]
fn removed_owner_causes_finding_in_unchanged_file() {
    let here = OWNER.replace("shop", "other");
    let files = [
        ("m/owned.yaml", OWNED),
        ("m/there.yaml", OWNER),
        ("m/here.yaml", &here),
        ("m/twice.yaml", TWICE),
    ];
    let repository = committed(&files);
    std::fs::remove_file(repository.path().join("m/here.yaml")).expect("a file");
    let (_, out, error) = changed(&repository, "main");
    assert!(
        out.starts_with("m/owned.yaml:7:35: warning[owner-cross-namespace] "),
        "{out}"
    );
    assert_eq!(
        (out.lines().count(), error.as_str()),
        (1, "1 finding that was there before the change: not shown\n")
    );
}

#[test]
fn removed_folder_is_read_from_base() {
    let configuration =
        "version: 1\nbundles: {all: {paths: [m], exclude: ['m/old/*.skip.yaml']}}\n";
    let old = TWICE.replace("twice", "old");
    let files = [
        ("m/twice.yaml", TWICE),
        ("m/old/a.yaml", &old),
        ("ownerlint.yaml", configuration),
    ];
    let repository = committed(&files);
    std::fs::rename(
        repository.path().join("m/old/a.yaml"),
        repository.path().join("m/b.yaml"),
    )
    .expect("a file");
    std::fs::remove_dir(repository.path().join("m/old")).expect("a folder");
    let (status, out, error) = changed(&repository, "main");
    assert_eq!(
        (status, out.as_str()),
        (0, ""),
        "what moved was there before"
    );
    assert_eq!(
        error,
        "2 findings that were there before the change: not shown\n"
    );
}

#[test]
fn old_findings_are_counted_in_json_and_human_formats() {
    let files = [
        ("m/owned.yaml", OWNED),
        ("m/owner.yaml", OWNER),
        ("m/twice.yaml", TWICE),
    ];
    let repository = committed(&files);
    let run = |format: &str, more: &[&str]| {
        let mut command = crate::support::ownerlint();
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", repository.path());
        let output = command
            .current_dir(repository.path())
            .args(["--output", format])
            .args(more)
            .output();
        String::from_utf8(output.expect("it runs").stdout).expect("text")
    };
    let since = ["--only-changed-from", "main"];
    let report: Value = serde_json::from_str(&run("json", &since)).expect("JSON");
    assert_eq!(
        (&report["summary"]["before"], &report["summary"]["warning"]),
        (&Value::from(2), &Value::from(0))
    );
    assert!(
        run("human", &since).contains("; 2 there before the change\n"),
        "{}",
        run("human", &since)
    );
    let report: Value = serde_json::from_str(&run("json", &[])).expect("JSON");
    assert!(
        report["summary"]["before"].is_null(),
        "only where it was asked"
    );
}

#[test]
fn only_changed_from_fails_outside_a_repository() {
    let repository = repository();
    std::fs::remove_dir(repository.path().join(".git")).expect("the marker");
    let (status, _, error) = changed(&repository, "main");
    assert_eq!(status, 2);
    assert!(
        error.starts_with("error: cannot tell what changed since `main`: "),
        "{error}"
    );
}

/// Returns the diagnostics of every file, by the last part of its URI.
fn diagnostics(
    repository: &Repository,
    arguments: &[&str],
    text: &str,
) -> Vec<(String, Vec<Value>)> {
    let (_, out, error) = repository.run(&[&["--output", "lsp"], arguments].concat(), text);
    assert_eq!(error, "");
    let files: Value = serde_json::from_str(&out).expect("JSON");
    let files = files.as_array().expect("a list").iter().map(|file| {
        let uri = file["uri"]
            .as_str()
            .expect("a URI")
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        (uri, file["diagnostics"].as_array().expect("a list").clone())
    });
    files
        .filter(|(_, diagnostics)| !diagnostics.is_empty())
        .collect()
}

#[test]
fn unsaved_text_adds_and_removes_findings_in_other_files() {
    let repository = Repository::new();
    repository
        .write("m/owned.yaml", OWNED)
        .write("m/owner.yaml", OWNER);
    let repaired = OWNER.replace("shop", "other");
    let absolute = repository
        .path()
        .join("m/owner.yaml")
        .to_string_lossy()
        .into_owned();
    for name in [
        "m/owner.yaml",
        "./m/owner.yaml",
        "m/../m/owner.yaml",
        &absolute,
    ] {
        for paths in [
            &["-"][..],
            &["m", "-"],
            &["m"],
            &["m/owned.yaml", "m/owner.yaml"],
            &[],
        ] {
            let arguments = [&["--stdin-filename", name], paths].concat();
            assert_eq!(
                diagnostics(&repository, &arguments, &repaired),
                [],
                "{name} {paths:?}"
            );
            let broken = diagnostics(&repository, &arguments, OWNER);
            assert_eq!(broken.len(), 1, "{name} {paths:?}");
            assert_eq!(broken[0].0, "owned.yaml");
        }
    }
}

#[test]
fn lsp_columns_follow_position_encoding() {
    let repository = Repository::new();
    repository
        .write("m/owner.yaml", OWNER)
        .write("m/owned.yaml", "{}");
    let unsaved = OWNED.replace("{apiVersion", "{\"😀ä\": x, apiVersion");
    for (encoding, start) in [("utf-8", 47), ("utf-16", 44), ("utf-32", 43)] {
        let arguments = [
            "--stdin-filename",
            "m/owned.yaml",
            "--position-encoding",
            encoding,
            "-",
        ];
        let found = diagnostics(&repository, &arguments, &unsaved);
        let relation = found[0]
            .1
            .iter()
            .find(|diagnostic| diagnostic["code"] == "owner-cross-namespace");
        let range = &relation.expect("the relation to the saved file")["range"];
        assert_eq!(
            range["start"],
            serde_json::json!({"line": 6, "character": start}),
            "{encoding}"
        );
        assert_eq!(range["end"]["character"], start + "Deployment".len());
    }
    // The default is UTF-16.
    let found = diagnostics(
        &repository,
        &["--stdin-filename", "m/owned.yaml", "-"],
        &unsaved,
    );
    assert!(
        found[0]
            .1
            .iter()
            .any(|diagnostic| diagnostic["range"]["start"]["character"] == 44)
    );
}

#[test]
fn unsaved_new_file_belongs_to_bundle_whose_paths_match() {
    let repository = Repository::new();
    repository
        .write("dev/owner.yaml", OWNER)
        .write("prod/x.yaml", TWICE);
    repository.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {dev: {paths: [dev]}, prod: {paths: [prod]}}\n",
    );
    let arguments = ["--stdin-filename", "dev/new.yaml", "--only", "dev", "-"];
    let found = diagnostics(&repository, &arguments, OWNED);
    assert_eq!(
        found
            .iter()
            .map(|(file, _)| file.as_str())
            .collect::<Vec<_>>(),
        ["new.yaml"]
    );
    let (status, _, error) = repository.run(&["--stdin-filename", "other/new.yaml", "-"], OWNED);
    assert_eq!(status, 2);
    assert!(
        error.starts_with("error: `other/new.yaml` is not in any path that is checked"),
        "{error}"
    );
}
