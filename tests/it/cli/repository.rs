//! A check of a folder reads its repository as context, and has the findings of a check of the repository.

use std::collections::BTreeSet;

use serde_json::Value;

use super::scope::git;
use crate::support::{Repository, root};

const TWICE: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice}\ndata:\n  a: '1'\n  a: '2'\n";
const WEB: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n";

/// A CRD of a chart.
const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.com
  labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: gadgets-1.0.0}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
";

/// An Application that delivers the folder `crds`, so that no release does.
const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gadgets, namespace: argocd}
spec:
  project: default
  source: {repoURL: 'https://git.example.com/shop.git', path: crds, targetRevision: main}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
";

/// Creates a copy of the example repository.
fn example() -> Repository {
    let repository = Repository::new();
    repository.copy(&root().join("fixtures/repository"));
    repository
}

/// Creates a repository in which an Application delivers a CRD.
fn delivered_crd() -> Repository {
    let repository = Repository::new();
    repository.write("crds/gadgets.yaml", CRD);
    repository.write("argocd/gadgets.yaml", APPLICATION);
    repository
}

/// Returns the report of a check in a folder of a repository.
fn report(repository: &Repository, folder: &str, arguments: &[&str]) -> Value {
    let arguments = [&["check", "-o", "json"], arguments].concat();
    let (_, out, error) = repository.run_in(folder, &arguments, "");
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {error}"))
}

/// Returns the findings on files below `below`: file, line, rule, severity and message.
fn findings(report: &Value, below: &str) -> BTreeSet<String> {
    let findings = report["findings"].as_array().expect("findings").iter();
    let found = findings.filter_map(|finding| {
        let file = finding["location"]["file"].as_str().expect("a file");
        let file = file.strip_prefix(below)?;
        let line = &finding["location"]["line"];
        let parts = ["rule", "severity", "message"].map(|part| finding[part].to_string());
        Some(format!("{file}:{line} {}", parts.join(" ")))
    });
    found.collect()
}

/// Returns all folders of a repository that contain files, and those above them.
fn folders(repository: &Repository) -> BTreeSet<String> {
    let root = repository.path();
    let entries = walkdir::WalkDir::new(&root).into_iter().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_dir());
    let below = folders.filter_map(|entry| {
        let below = entry.path().strip_prefix(&root).ok()?.to_str()?.to_owned();
        (!below.is_empty() && !below.starts_with(".git")).then_some(below)
    });
    below.collect()
}

#[test]
fn folder_has_the_findings_of_its_repository() {
    let repository = example();
    let whole = report(&repository, ".", &["."]);
    let mut found = 0;
    for folder in folders(&repository) {
        let inside = format!("{folder}/");
        let expected = findings(&whole, &inside);
        found += expected.len();
        let absolute = repository.path().join(&folder);
        let absolute = absolute.to_str().expect("a plain path");
        let up = "../".repeat(folder.matches('/').count() + 1);
        for (from, argument, below) in [
            (".", &*folder, &*inside),
            (".", &format!("./{folder}/"), &format!("./{inside}")),
            (".", absolute, &format!("{absolute}/")),
            (".", &format!("{folder}/**/*.yaml"), &inside),
            (&folder, ".", ""),
            (&folder, &format!("{up}{folder}"), &format!("{up}{inside}")),
        ] {
            let report = report(&repository, from, &[argument]);
            let all = findings(&report, "");
            let inside = findings(&report, below);
            assert_eq!(inside, expected, "{folder}: {argument} in {from}");
            assert_eq!(inside.len(), all.len(), "{all:?}");
        }
    }
    assert!(found > 8, "{found} findings");
}

#[test]
fn file_and_folder_have_equal_findings() {
    let repository = example();
    let of_file = report(&repository, ".", &["owned/settings.yaml"]);
    let of_folder = report(&repository, ".", &["owned"]);
    assert_eq!(findings(&of_file, ""), findings(&of_folder, ""));
    assert_eq!(of_file["summary"]["warning"], 1, "its owner is known");
}

#[test]
fn repository_may_be_the_folder_of_the_configuration() {
    let repository = delivered_crd();
    std::fs::remove_dir(repository.path().join(".git")).expect("the marker");
    assert_eq!(report(&repository, ".", &["crds"])["summary"]["warning"], 1);
    repository.write("ownerlint.yaml", "version: 1\n");
    for (folder, path) in [(".", "crds"), ("crds", ".")] {
        let report = report(&repository, folder, &[path]);
        assert_eq!(report["summary"]["warning"], 0, "{path}");
        assert_eq!(report["summary"]["files"], 1, "{path}");
    }
}

#[test]
fn context_respects_exclude_of_configuration_and_command_line() {
    let repository = delivered_crd();
    let excluded = report(&repository, ".", &["crds", "--exclude", "argocd/**"]);
    assert_eq!(excluded["summary"]["warning"], 1);
    repository.write("ownerlint.yaml", "version: 1\nexclude: [argocd/**]\n");
    for folder in [".", "crds"] {
        let path = repository.path().join("crds");
        let path = path.to_str().expect("a plain path");
        let excluded = report(&repository, folder, &[path]);
        assert_eq!(excluded["summary"]["warning"], 1, "{folder}");
    }
}

#[test]
fn other_parts_of_the_repository_are_not_reported() {
    let repository = Repository::new();
    repository.write("a/web.yaml", WEB);
    repository.write("b/twice.yaml", TWICE);
    repository.write("b/broken.yaml", "apiVersion: v1\nkind: [\n");
    repository.write("b/chart/Chart.yaml", "name: web\n");
    repository.write("b/chart/templates/web.yaml", "{{ .Values.web }}\n");
    repository.write("b/kustomization.yaml", "resources: [gone.yaml]\n");
    repository.write("b/testdata/twice.yaml", TWICE);
    std::os::unix::fs::symlink("gone.yaml", repository.path().join("b/link.yaml"))
        .expect("a broken link");
    std::os::unix::fs::symlink("/", repository.path().join("b/outside")).expect("a link");
    let whole = report(&repository, ".", &["."]);
    let notes = whole["notes"].as_array().expect("notes").len();
    assert!(whole["summary"]["error"] == 1 && notes > 3, "{whole}");
    let (status, out, error) = repository.run(&["check", "-v", "a"], "");
    assert_eq!(status, 0, "{out}{error}");
    assert!(!out.contains("b/") && !error.contains("b/"), "{out}{error}");
    let part = report(&repository, ".", &["a"]);
    assert_eq!(part["notes"], Value::Array(Vec::new()));
    assert_eq!(part["skipped"], Value::Array(Vec::new()));
    let counts = ["files", "documents", "objects", "error", "skipped"];
    let counts = counts.map(|count| part["summary"][count].as_u64());
    assert_eq!(counts, [1, 1, 1, 0, 0].map(Some));
    for format in ["junit", "lsp", "sarif", "html"] {
        let (_, out, _) = repository.run(&["check", "-o", format, "a"], "");
        assert!(!out.contains("twice.yaml"), "{format}: {out}");
    }
    let (status, _, error) = repository.run(&["check", "b/chart/Chart.yaml"], "");
    assert_eq!(status, 3, "the context is no input: {error}");
}

#[test]
fn several_repositories_are_read() {
    let (one, two) = (delivered_crd(), delivered_crd());
    let [one, two] = [&one, &two].map(|repository| repository.path().join("crds"));
    let paths = [&one, &two].map(|path| path.to_str().expect("a plain path"));
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("web.yaml"), WEB).expect("a file");
    let outside = outside.path().to_str().expect("a plain path");
    let repository = Repository::new();
    for arguments in [[paths[0], paths[1], outside], [outside, paths[1], paths[0]]] {
        let report = report(&repository, ".", &arguments);
        assert_eq!(report["summary"]["files"], 3);
        assert_eq!(report["summary"]["warning"], 0, "{report}");
    }
}

#[test]
fn nested_repository_is_its_own() {
    let repository = delivered_crd();
    repository.write("crds/.git/HEAD", "");
    assert_eq!(report(&repository, ".", &["crds"])["summary"]["warning"], 1);
    assert_eq!(report(&repository, ".", &["."])["summary"]["warning"], 0);
}

#[test]
fn unsaved_text_and_standard_input_have_the_context() {
    let repository = delivered_crd();
    let arguments = [
        "check",
        "-",
        "--stdin-filename",
        "gadgets.yaml",
        "-o",
        "json",
    ];
    let text = CRD.replace("Gadget}", "Widget}");
    let (_, out, error) = repository.run_in("crds", &arguments, &text);
    let unsaved: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
    assert_eq!(unsaved["summary"]["warning"], 0, "{out}");
    let (_, out, _) = repository.run(&["check", "-", "-o", "json"], CRD);
    let piped: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(piped["summary"]["warning"], 1, "no repository contains it");
}

#[test]
fn fixes_change_only_named_files() {
    let repository = example();
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: reader\n  namespace: shop\nrules: []\n";
    repository.write("apps/role.yaml", role);
    repository.write("owned/role.yaml", &role.replace("reader", "writer"));
    let (_, out, error) = repository.run_in("owned", &["check", "--fix", "."], "");
    assert_eq!(repository.read("apps/role.yaml"), role, "{out}{error}");
    assert!(!repository.read("owned/role.yaml").contains("namespace"));
}

#[test]
fn baseline_lists_only_findings_of_named_files() {
    let repository = example();
    repository.write("ownerlint.yaml", "version: 1\n");
    let written = repository.run(&["baseline", "write", "owned"], "");
    assert!(written.1.contains("lists 1 finding\n"), "{written:?}");
    let known = report(&repository, ".", &["owned"]);
    assert_eq!(known["summary"]["baseline"], 1);
    assert_eq!(findings(&known, ""), BTreeSet::new());
    let known = report(&repository, ".", &["."]);
    assert_eq!(known["summary"]["baseline"], 1);
}

#[test]
fn change_of_a_folder_is_compared_with_its_repository() {
    let repository = delivered_crd();
    std::fs::remove_dir(repository.path().join(".git")).expect("the marker");
    assert!(git(&repository, &["init", "-q", "-b", "main"]));
    assert!(git(&repository, &["add", "-A"]) && git(&repository, &["commit", "-qm", "one"]));
    std::fs::remove_file(repository.path().join("argocd/gadgets.yaml")).expect("a file");
    let mut command = crate::support::ownerlint();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", repository.path())
        .current_dir(repository.path())
        .args(["check", "crds", "-o", "json", "--only-changed-from", "main"]);
    let output = command.output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["summary"]["warning"], 1, "{report}");
}

#[test]
fn unused_ignore_is_reported_only_for_objects_of_named_files() {
    let repository = example();
    let ignore = |object: &str| {
        repository.write(
            "ownerlint.yaml",
            &format!(
                "version: 1\nrules:\n  owner-self:\n    ignore:\n      - object: {object}\n        reason: none\n"
            ),
        );
        let found = findings(&report(&repository, ".", &["owned"]), "ownerlint.yaml");
        found.iter().any(|line| line.contains("suppression-unused"))
    };
    assert!(ignore("ConfigMap/other/settings"));
    assert!(!ignore("Deployment.apps/web/web"));
}
