//! Attempts of a change to suppress the findings about itself.

use std::fs;

use serde_json::Value;
use walkdir::WalkDir;

use crate::diff::Folder;
use crate::support::root;

const REFS: [&str; 4] = ["--base-ref", "HEAD~", "--head-ref", "HEAD"];

/// Replaces the files of a repository by one side of an attack.
fn place(folder: &Folder, attack: &str, side: &str) {
    for entry in fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() {
            fs::remove_dir_all(path).expect("a folder");
        } else {
            fs::remove_file(path).expect("a file");
        }
    }
    let tree = root().join("fixtures/security").join(attack).join(side);
    for entry in WalkDir::new(&tree) {
        let entry = entry.expect("an entry");
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(&tree).expect("below");
            let text = fs::read_to_string(entry.path()).expect("a text");
            folder.write(&below.to_string_lossy(), &text);
        }
    }
}

/// Creates a repository with two commits: base and head of an attack.
fn attacked(attack: &str) -> Folder {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    place(&folder, attack, "base");
    folder.commit();
    place(&folder, attack, "head");
    folder.commit();
    folder
}

/// Returns the deletions of a report, and its errors.
fn lines(document: &Value) -> Vec<String> {
    let list = |field: &str| document[field].as_array().expect("a list").clone();
    let effects = list("effects").into_iter().map(|effect| {
        format!(
            "{} {}",
            effect["effect"].as_str().expect("a word"),
            effect["key"].as_str().expect("a key")
        )
    });
    let errors = list("findings")
        .into_iter()
        .filter(|finding| finding["severity"] == "error");
    effects
        .chain(errors.map(|finding| finding["rule"].as_str().expect("a rule").to_owned()))
        .collect()
}

/// The results of every attack: the definition and its object are deleted, and that is an error.
const DELETIONS: [&str; 3] = [
    "deleted CustomResourceDefinition.apiextensions.k8s.io//externalsecrets.external-secrets.io",
    "cascaded ExternalSecret.external-secrets.io/shop/login",
    "crd-removed",
];

fn says_all(attack: &str, arguments: &[&str]) -> Value {
    let folder = attacked(attack);
    let document = folder
        .run("", &[&REFS[..], arguments].concat())
        .unwrap_or_else(|error| panic!("{attack}: {error}"));
    let lines = lines(&document);
    for deletion in DELETIONS {
        assert!(
            lines.iter().any(|one| one == deletion),
            "{attack} {arguments:?}: {deletion} is not among {lines:?}"
        );
    }
    document
}

fn notes(document: &Value) -> String {
    document["notes"].to_string()
}

#[test]
fn new_configuration_cannot_silence_diff() {
    let document = says_all("new-configuration-excludes-everything", &[]);
    assert!(
        notes(&document).contains("ownerlint.yaml is new in this change"),
        "{}",
        notes(&document)
    );
    let document = says_all(
        "new-configuration-in-a-sub-folder",
        &["apps", "shop", "clusters"],
    );
    assert!(
        notes(&document).contains("apps/.ownerlint.yaml is new in this change"),
        "{}",
        notes(&document)
    );
    says_all("new-configuration-in-a-sub-folder", &[]);
}

#[test]
fn invalid_new_configuration_does_not_abort_diff() {
    for attack in [
        "new-configuration-is-invalid",
        "new-configuration-under-both-names",
    ] {
        let document = says_all(attack, &[]);
        assert!(
            notes(&document).contains("is new in this change and is ignored"),
            "{}",
            notes(&document)
        );
    }
}

#[test]
fn new_bundles_and_scopes_cannot_hide_deletions() {
    let document = says_all("new-bundles-part-a-cluster", &[]);
    assert!(
        notes(&document).contains("it would hide a part of this"),
        "{}",
        notes(&document)
    );
    let folder = attacked("new-scope-unites-two-objects");
    let document = folder.run("", &REFS).expect("a report");
    assert_eq!(lines(&document), ["deleted Ship.example.com/a/one"]);
}

#[test]
fn diff_uses_the_configuration_of_base() {
    for (attack, paths) in [
        ("edited-configuration", &[][..]),
        ("renamed-configuration", &[]),
        ("nearer-configuration", &["apps", "shop", "clusters"]),
    ] {
        says_all(attack, paths);
    }
}

#[test]
fn named_configuration_is_read_from_base() {
    let absolute = |folder: &Folder| folder.path().join("ci/lint.yaml").display().to_string();
    says_all("named-configuration", &["--config", "ci/lint.yaml"]);
    let folder = attacked("named-configuration");
    let document = folder
        .run("", &[&REFS[..], &["--config", &absolute(&folder)]].concat())
        .expect("a report");
    assert!(lines(&document).contains(&DELETIONS[0].to_owned()));
    let document = says_all("new-named-configuration", &["--config", "ci/lint.yaml"]);
    assert!(
        notes(&document).contains("ci/lint.yaml is new in this change"),
        "{}",
        notes(&document)
    );
}

#[test]
fn config_ref_applies_to_comparison_of_folders() {
    for attack in [
        "edited-configuration",
        "new-configuration-excludes-everything",
        "renamed-configuration",
    ] {
        let (folder, other) = (attacked(attack), Folder::new());
        place(&other, attack, "base");
        let base = other.path().display().to_string();
        for head in [".", &folder.path().display().to_string()] {
            let arguments = ["--base", &base, "--head", head, "--config-ref", "HEAD~"];
            let document = folder
                .run("", &arguments)
                .unwrap_or_else(|error| panic!("{attack}: {error}"));
            assert!(
                lines(&document).contains(&DELETIONS[2].to_owned()),
                "{attack} {head}: {document}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn symlinked_configuration_is_not_followed() {
    let folder = attacked("new-named-configuration");
    let outside = Folder::new();
    outside.write("lint.yaml", "version: 1\nexclude: ['**']\n");
    folder.remove("ci/lint.yaml");
    std::os::unix::fs::symlink(
        outside.path().join("lint.yaml"),
        folder.path().join("ci/lint.yaml"),
    )
    .expect("a link");
    folder
        .git(&["add", "-A"])
        .git(&["commit", "-qm", "x", "--amend"]);
    for config in ["ci/lint.yaml", "./ci/../ci/lint.yaml"] {
        let document = folder
            .run("", &[&REFS[..], &["--config", config]].concat())
            .expect("a report");
        assert!(
            lines(&document).contains(&DELETIONS[0].to_owned()),
            "{config}: {document}"
        );
    }
}

#[test]
fn suppressions_of_head_cannot_silence_diff() {
    says_all("suppressions-of-head", &[]);
}

#[test]
fn new_kustomization_does_not_hide_removed_crd() {
    says_all("kustomization-disowns-what-stays", &[]);
}

#[test]
fn takeover_by_another_tool_is_reported() {
    let document = attacked("tool-takes-over-from-another")
        .run("", &REFS)
        .expect("a report");
    assert!(
        lines(&document).contains(&"recreated ConfigMap/shop/other".to_owned()),
        "{document}"
    );
}

#[test]
fn gitignore_and_gitattributes_cannot_silence_diff() {
    let folder = attacked("new-configuration-excludes-everything");
    folder
        .write(".gitignore", "*\n")
        .write(".gitattributes", "* export-ignore -text binary filter=x\n");
    folder
        .write("apps/.gitignore", "!*\n")
        .write(".git/info/exclude", "*\n");
    folder
        .git(&["add", "-Af"])
        .git(&["commit", "-qm", "x", "--amend"]);
    for arguments in [
        &REFS[..],
        &["--base-ref", "HEAD~"],
        &["--base-ref", "HEAD~", "--staged"],
    ] {
        let document = folder.run("", arguments).expect("a report");
        assert!(
            lines(&document).contains(&DELETIONS[2].to_owned()),
            "{arguments:?}: {document}"
        );
    }
}

/// Returns the output of `check --only-changed-from` in a format.
fn checked(folder: &Folder, format: &str) -> String {
    let mut command = crate::support::ownerlint();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.path());
    command.current_dir(folder.path()).args([
        "check",
        "--only-changed-from",
        "HEAD~",
        "-o",
        format,
    ]);
    let output = command.output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn check_reports_edited_configuration_and_suppressions() {
    let edits = "this change edits inputs that decide which findings are reported";
    for (attack, files) in [
        (
            "edited-configuration",
            "the configuration or the known findings (ownerlint.yaml)",
        ),
        (
            "renamed-configuration",
            "the configuration or the known findings (.ownerlint.yaml, ownerlint.yaml)",
        ),
        (
            "suppressions-of-head",
            "inline suppressions (apps/other.yaml, clusters/apps.yaml, shop/login.yaml)",
        ),
    ] {
        let folder = attacked(attack);
        for format in ["human", "concise", "json", "markdown", "sarif", "github"] {
            let said = checked(&folder, format)
                .replace("&#45;", "-")
                .replace("&#46;", ".");
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains(edits), "{attack} {format}: {said}");
            if format == "json" {
                assert!(said.contains(files), "{attack} {format}: {said}");
            }
        }
    }
    let folder = attacked("suppressions-of-head");
    folder
        .write(
            "shop/more.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n",
        )
        .commit();
    assert!(
        !checked(&folder, "json").contains(edits),
        "an edit of a manifest is none of the judgement"
    );
    let baseline = "{\"schema\": \"ownerlint.baseline/1\", \"findings\": []}";
    folder.write("ownerlint-baseline.json", baseline).commit();
    let added = checked(&folder, "json");
    assert!(
        added.contains("the configuration or the known findings (ownerlint-baseline.json)"),
        "{added}"
    );
    folder.write("shop/more.yaml", "# ownerlint: ignore-document[owner-self] x\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n");
    folder.remove("ownerlint-baseline.json").commit();
    assert!(checked(&folder, "json").contains("inline suppressions (shop/more.yaml)"));
}
