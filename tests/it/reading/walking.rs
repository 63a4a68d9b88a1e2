//! Files that are read or skipped, and the messages about them.

use std::os::unix::fs::symlink;
use std::path::Path;

use predicates::str::contains;

use crate::support::ownerlint;

const CONFIG_MAP: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: shop}\n";

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    std::fs::write(path, text).expect("written");
}

fn config_map(folder: &Path, path: &str, name: &str) {
    write(folder, path, &CONFIG_MAP.replace("NAME", name));
}

/// Returns the keys of the objects that `list` shows.
fn names(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = ownerlint()
        .current_dir(folder)
        .args(["list", "--output", "json"])
        .args(arguments)
        .output()
        .expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let objects = json["objects"].as_array().expect("objects");
    objects
        .iter()
        .map(|object| {
            format!(
                "{} {}",
                object["name"].as_str().unwrap_or("?"),
                object["file"].as_str().unwrap_or("?")
            )
        })
        .collect()
}

/// Returns the exit status, and `rule message` for every finding.
fn findings(folder: &Path, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let output = ownerlint()
        .current_dir(folder)
        .args(["--output", "json"])
        .args(arguments)
        .output()
        .expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = json["findings"].as_array().expect("findings").iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    (
        output.status.code(),
        found
            .map(|f| format!("{} {}", text(&f["rule"]), text(&f["message"])))
            .collect(),
    )
}

#[test]
fn folders_yield_yaml_yml_and_json_even_if_gitignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    config_map(folder, "rendered/a.yaml", "a");
    config_map(folder, "rendered/deep/b.YML", "b");
    write(
        folder,
        "rendered/c.json",
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"shop"}}"#,
    );
    config_map(folder, "rendered/d.txt", "d");
    config_map(folder, "node_modules/x.yaml", "x");
    config_map(folder, ".git/y.yaml", "y");
    write(folder, ".gitignore", "rendered/\n");
    assert_eq!(
        names(folder, &[]),
        [
            "a rendered/a.yaml",
            "c rendered/c.json",
            "b rendered/deep/b.YML"
        ]
    );
    assert_eq!(
        names(folder, &["./rendered/"]),
        [
            "a ./rendered/a.yaml",
            "c ./rendered/c.json",
            "b ./rendered/deep/b.YML"
        ]
    );
    assert_eq!(
        names(folder, &["rendered/d.txt"]),
        ["d rendered/d.txt"],
        "a named file is read whatever its name"
    );
    assert_eq!(
        names(folder, &["rendered/**/*.YML"]),
        ["b rendered/deep/b.YML"]
    );
    assert_eq!(
        names(folder, &["rendered", "--exclude", "rendered/deep/**"]),
        ["a rendered/a.yaml", "c rendered/c.json"]
    );
}

#[test]
fn file_reached_twice_is_listed_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    config_map(folder, "a.yaml", "a");
    symlink("a.yaml", folder.join("b.yaml")).expect("a link");
    assert_eq!(names(folder, &["b.yaml", "a.yaml", "."]), ["a a.yaml"]);
}

#[test]
fn standard_input_is_a_file_named_dash() {
    ownerlint()
        .args(["list", "--output", "json", "-"])
        .write_stdin(CONFIG_MAP)
        .assert()
        .code(0)
        .stdout(contains(r#""file": "-""#));
}

#[test]
fn unreadable_file_is_a_finding_and_the_run_continues() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    config_map(folder, "a.yaml", "a");
    symlink("nowhere.yaml", folder.join("broken.yaml")).expect("a link");
    symlink("nowhere", folder.join("broken-but-no-manifest")).expect("a link");
    std::fs::create_dir(folder.join("sub")).expect("created");
    symlink("..", folder.join("sub/up")).expect("a link");
    let made = std::process::Command::new("mkfifo")
        .arg(folder.join("fifo.yaml"))
        .status()
        .expect("mkfifo");
    assert!(made.success());
    // A sparse file is large without using space.
    let huge = std::fs::File::create(folder.join("huge.yaml")).expect("created");
    huge.set_len(ownerlint::text::SourceFile::MAX_BYTES + 1)
        .expect("grown");
    let (status, findings) = findings(folder, &["."]);
    assert_eq!(
        findings,
        [
            "unreadable-file `broken.yaml` is a broken symbolic link",
            "unreadable-file `fifo.yaml` is not a regular file",
            "unreadable-file `huge.yaml` is larger than 256 MiB",
            "unreadable-file `sub/up` is a symbolic link back to ``, a loop",
        ]
    );
    assert_eq!(status, Some(1), "the run goes on and reports");
    assert_eq!(names(folder, &["."]), ["a a.yaml"]);
}

#[test]
fn unrendered_templates_are_skipped_with_one_note_for_all_charts() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    config_map(folder, "plain.yaml", "plain");
    for (chart, file) in [("db", "one"), ("web", "one"), ("web", "two")] {
        let about = format!("charts/{chart}/Chart.yaml");
        write(folder, &about, "apiVersion: v2\nname: web\n");
        let text = "{{- if .Values.on }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n{{- end }}\n";
        write(
            folder,
            &format!("charts/{chart}/templates/{file}.yaml"),
            text,
        );
    }
    ownerlint()
        .current_dir(folder)
        .args(["."])
        .assert()
        .code(0)
        .stdout(contains(
            "charts/db: this chart and 1 more have 3 unrendered templates, not checked:",
        ));
    // A subchart is a part of its parent.
    let parts = [
        "charts/db/charts/sub/Chart.yaml",
        "charts/db/charts/sub/templates/a.yaml",
    ];
    write(folder, parts[0], "apiVersion: v2\nname: sub\n");
    write(folder, parts[1], "kind: {{ .Values.kind }}\n");
    ownerlint()
        .current_dir(folder)
        .args(["."])
        .assert()
        .stdout(contains(
            "charts/db: this chart and 1 more have 4 unrendered",
        ));
}

#[test]
fn kustomize_files_are_recognised_by_group() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(
        folder,
        "kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n",
    );
    write(
        folder,
        "flux.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux}\n",
    );
    assert_eq!(names(folder, &["."]), ["flux flux.yaml"]);
}

#[test]
fn non_manifests_are_ignored_but_lost_manifests_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    // A file that is not a manifest may contain duplicate keys or text after its value.
    write(folder.path(), "values.yaml", "replicas: 1\nreplicas: 2\n");
    write(folder.path(), "ratings.json", "{rating: 5}\n{rating: 4}\n");
    assert_eq!(
        findings(folder.path(), &["--allow-empty"]),
        (Some(0), vec![])
    );
    write(
        folder.path(),
        "lost.yaml",
        "# a header\nreplicas: 1\n...\napiVersion: v1\nkind: ConfigMap\n",
    );
    write(
        folder.path(),
        "twice.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {}\ndata: {}\n",
    );
    let (_, found) = findings(folder.path(), &[]);
    assert_eq!(
        found,
        [
            "dropped-content text that never reaches the cluster",
            "duplicate-key key `data` appears twice"
        ]
    );
}
