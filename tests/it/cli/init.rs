//! `init`: its proposals for trees, and a check with each, which must not report more than a check without it.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use crate::support::{Repository, corpus, ownerlint, root, skip};

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n";
const NAMELESS: &str = "apiVersion: v1\nkind: Service\nmetadata: {namespace: shop}\n";

/// Runs `init`, and returns the configuration that it writes.
fn configuration(repository: &Repository) -> serde_yaml::Value {
    let (status, out, error) = repository.run(&["init"], "");
    assert_eq!(status, 0, "{out}{error}");
    serde_yaml::from_str(&repository.read("ownerlint.yaml")).expect("YAML")
}

/// Joins a list of texts with spaces.
fn words(value: &serde_yaml::Value) -> String {
    let words = value
        .as_sequence()
        .into_iter()
        .flatten()
        .filter_map(serde_yaml::Value::as_str);
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn fixtures_and_tests_are_excluded() {
    let repository = Repository::new();
    repository.write("deploy/web.yaml", SERVICE);
    let test = "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: x}\nspec: {steps: []}\n";
    for (path, text) in [
        ("pkg/testdata/a.yaml", NAMELESS),
        ("pkg/zz_fixture_TestWeb.yaml", NAMELESS),
        ("pkg/web.golden.yaml", NAMELESS),
        ("e2e-tests/backup/compare/service.yml", NAMELESS),
        ("test/conformance/web/chainsaw-test.yaml", test),
        ("test/conformance/web/resources.yaml", NAMELESS),
    ] {
        repository.write(path, text);
    }
    assert_eq!(repository.run(&[], "").0, 1);
    let excluded =
        "**/*.golden.yaml **/testdata/** **/zz_fixture_* e2e-tests/**/compare/** test/**";
    assert_eq!(words(&configuration(&repository)["exclude"]), excluded);
    let (status, out, error) = repository.run(&["--output", "concise"], "");
    assert_eq!((status, out.as_str(), error.as_str()), (0, "", ""));
}

#[test]
fn test_folder_beside_manifests_is_excluded_alone() {
    let repository = Repository::new();
    repository.write("operator/deploy.yaml", SERVICE);
    repository.write(
        "operator/tests/kuttl-test.yaml",
        "apiVersion: kuttl.dev/v1beta1\nkind: TestSuite\ntestDirs: [./cases]\n",
    );
    repository.write("operator/tests/cases/a/00-install.yaml", NAMELESS);
    repository.write("operator/tests/values.yaml", SERVICE);
    assert_eq!(
        words(&configuration(&repository)["exclude"]),
        "operator/tests/cases/**"
    );
}

#[test]
fn overlays_become_bundles_with_base_and_render_command() {
    let repository = Repository::new();
    repository
        .write("base/kustomization.yaml", "resources: [web.yaml]\n")
        .write("base/web.yaml", SERVICE);
    for overlay in ["dev", "prod"] {
        repository.write(
            &format!("overlays/{overlay}/kustomization.yaml"),
            "resources: [../../base, own.yaml]\n",
        );
        repository.write(
            &format!("overlays/{overlay}/own.yaml"),
            &SERVICE.replace("web", overlay),
        );
    }
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\n";
    repository.write("crds/foo.yaml", crd);
    let written = configuration(&repository);
    assert_eq!(
        words(&written["bundles"]["dev"]["paths"]),
        "base crds overlays/dev"
    );
    assert_eq!(
        words(&written["bundles"]["prod"]["paths"]),
        "base crds overlays/prod"
    );
    let text = repository.read("ownerlint.yaml");
    assert!(
        text.contains("#   kustomize build overlays/prod | ownerlint -\n"),
        "{text}"
    );
}

#[test]
fn argo_cd_environments_become_two_bundles() {
    let repository = Repository::new();
    let application = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\n\
             spec: {{source: {{path: deploy/envs/{name}/web}}}}\n"
        )
    };
    for name in ["staging", "production"] {
        repository.write(&format!("deploy/argo/{name}.yaml"), &application(name));
        repository.write(&format!("deploy/envs/{name}/web/web.yaml"), SERVICE);
    }
    let (status, _, error) = repository.run_in("deploy", &["init"], "");
    assert_eq!(status, 0, "{error}");
    let written: serde_yaml::Value =
        serde_yaml::from_str(&repository.read("deploy/ownerlint.yaml")).expect("YAML");
    assert_eq!(
        words(&written["bundles"]["staging"]["paths"]),
        "argo envs/staging"
    );
    assert_eq!(
        words(&written["bundles"]["production"]["paths"]),
        "argo envs/production"
    );
}

#[test]
fn charts_are_listed_with_render_command_and_without_subcharts() {
    let repository = Repository::new();
    repository
        .write("web.yaml", SERVICE)
        .write("charts/web/Chart.yaml", "name: web\n");
    repository.write("charts/web/charts/db/Chart.yaml", "name: db\n");
    configuration(&repository);
    let text = repository.read("ownerlint.yaml");
    assert!(
        text.contains("`ownerlint --render` renders these charts with `helm` and checks them, too:\n#   charts/web\n"),
        "{text}"
    );
    assert!(
        !text.contains("charts/db"),
        "a part of a chart is rendered with it: {text}"
    );
}

/// Returns a copy of an example after `init`, as a repository, and the written configuration.
fn example(name: &str) -> (tempfile::TempDir, String) {
    let copy = initialised(&root().join("fixtures/examples").join(name));
    let text = std::fs::read_to_string(copy.path().join("ownerlint.yaml")).expect("it is written");
    (copy, text)
}

#[test]
fn flux_and_argo_cd_clusters_become_bundles() {
    let (copy, flux) = example("flux");
    insta::assert_snapshot!("init_flux", flux);
    assert_eq!(errors_of(copy.path(), &[]), 0);
    let (copy, argo) = example("argocd");
    insta::assert_snapshot!("init_argocd", argo);
    assert_eq!(errors_of(copy.path(), &[]), 0);
}

#[test]
fn single_cluster_gets_no_bundle_and_first_result_is_printed() {
    let repository = Repository::new();
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {path: ./apps, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}}\n";
    repository
        .write("clusters/home/apps.yaml", sync)
        .write("apps/web.yaml", SERVICE)
        .write("drafts/nameless.yaml", NAMELESS);
    let (status, out, error) = repository.run(&["init"], "");
    assert_eq!((status, error.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r##"
    wrote `ownerlint.yaml` for 3 objects
    first result: 1 info
    `ownerlint` shows it; after `ownerlint baseline write`, only new findings
    next: `ownerlint diff` says what merging the current branch deletes
    "##);
    insta::assert_snapshot!(repository.read("ownerlint.yaml"), @r##"
    # yaml-language-server: $schema=https://github.com/ownerlint/ownerlint/raw/main/rules/schema/config.schema.json
    # All settings: https://github.com/ownerlint/ownerlint/blob/main/docs/guide/configuration.md
    version: 1

    # `ownerlint list --deliveries` shows deliveries to one cluster only, so no bundles are needed.

    # The lowest severity that makes a run fail: error, warning, info or never.
    fail-on: error
    "##);
}

#[test]
fn two_entry_points_of_one_cluster_get_no_bundles() {
    let repository = Repository::new();
    let kustomization = |name: &str, path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\nspec: {{path: ./{path}, prune: true, interval: 1h, sourceRef: {{kind: GitRepository, name: fleet}}}}\n"
        )
    };
    for (name, path) in [("apps", "flux/apps"), ("platform", "flux/platform")] {
        repository.write(
            &format!("bootstrap/{name}.yaml"),
            &kustomization(name, path),
        );
    }
    repository
        .write("flux/apps/web.yaml", &kustomization("web", "apps/web"))
        .write("flux/platform/db.yaml", &kustomization("db", "platform/db"))
        .write("apps/web/web.yaml", SERVICE)
        .write("platform/db/db.yaml", &SERVICE.replace("web", "db"));
    assert!(configuration(&repository)["bundles"].is_null());
    let text = repository.read("ownerlint.yaml");
    assert!(
        text.contains("shows deliveries to one cluster only, so no bundles are needed."),
        "{text}"
    );
}

#[test]
fn uncertain_exclude_pattern_is_only_suggested() {
    let repository = Repository::new();
    for n in 0..30 {
        repository.write(
            &format!("deploy/{n}.yaml"),
            &SERVICE.replace("web", &format!("web-{n}")),
        );
    }
    for n in 0..12 {
        repository.write(&format!("docs/samples/{n}.yaml"), NAMELESS);
    }
    let (status, out, _) = repository.run(&["init"], "");
    assert_eq!(status, 0);
    assert!(
        out.contains("12 of 12 errors are in `docs/samples/**`: if these files are never applied, add it to `exclude`\n"),
        "{out}"
    );
    assert!(
        !repository
            .read("ownerlint.yaml")
            .contains("docs/samples/**")
    );
}

#[test]
fn bundles_are_omitted_if_they_would_cause_errors() {
    let repository = Repository::new();
    for (variant, version) in [("dev", "v1alpha1"), ("prod", "v1")] {
        let crd = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: foos.example.com}}\n\
             spec:\n  group: example.com\n  scope: Namespaced\n  names: {{kind: Foo, plural: foos}}\n  \
             versions: [{{name: {version}, served: true, storage: true}}]\n"
        );
        let foo = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, namespace: shop}\n";
        repository
            .write(&format!("{variant}/crd.yaml"), &crd)
            .write(&format!("{variant}/foo.yaml"), foo);
    }
    assert_eq!(
        errors_of(&repository.path(), &[]),
        0,
        "the tree as a whole serves v1"
    );
    let alone = Repository::new();
    alone.copy(&repository.path().join("dev"));
    assert_eq!(errors_of(&alone.path(), &[]), 1);
    assert!(configuration(&repository)["bundles"].is_null());
    assert_eq!(errors_of(&repository.path(), &[]), 0);
}

/// Returns the findings of a check of `folder`: path, line, rule, severity.
fn findings(folder: &Path, arguments: &[&str]) -> Vec<(String, u64, String, String)> {
    let mut command = ownerlint();
    command
        .current_dir(folder)
        .args(["--output", "json", "--threads", "1"])
        .args(arguments);
    let output = command.output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let finding = |finding: &Value| {
        let at = &finding["location"];
        (
            text(&at["file"]),
            at["line"].as_u64().expect("a line"),
            text(&finding["rule"]),
            text(&finding["severity"]),
        )
    };
    report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(finding)
        .collect()
}

fn errors_of(folder: &Path, arguments: &[&str]) -> usize {
    findings(folder, arguments)
        .iter()
        .filter(|(.., severity)| severity == "error")
        .count()
}

/// Copies a folder as a repository, and runs `init` in it.
fn initialised(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(copy.path().join(".git")).expect("a marker");
    let files = walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file());
    for file in files {
        let to = copy
            .path()
            .join(file.path().strip_prefix(folder).expect("below"));
        std::fs::create_dir_all(to.parent().expect("a file has a folder")).expect("a folder");
        std::fs::copy(file.path(), to).expect("a file");
    }
    let mut init = ownerlint();
    init.current_dir(copy.path())
        .args(["init", "--threads", "1"])
        .assert()
        .code(0);
    copy
}

/// Returns the subfolders of a folder, sorted.
fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

#[test]
fn init_never_increases_errors_in_corpus() {
    let Some(corpus) = corpus() else { return };
    let worse = folders(corpus).into_par_iter().filter_map(|folder| {
        let after = errors_of(initialised(&folder).path(), &[]);
        // Most folders have no error.
        let before = if after == 0 {
            0
        } else {
            errors_of(&folder, &["--no-config"])
        };
        (after > before).then(|| format!("{}: {before} → {after}", folder.display()))
    });
    assert_eq!(worse.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn init_silences_labelled_fixture_findings() {
    let believable = root().join("../shared/believable");
    let Ok(labels) = std::fs::read_to_string(believable.join("labels.tsv")) else {
        return skip("no files that users complained of");
    };
    let rows: Vec<Vec<&str>> = labels
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    for folder in folders(&believable) {
        let name = folder
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let fixtures: Vec<_> = rows
            .iter()
            .filter(|row| row[3] == "fixture")
            .filter_map(|row| {
                Some((
                    row[0].strip_prefix(name)?.strip_prefix('/')?,
                    row[1],
                    row[2],
                ))
            })
            .collect();
        if fixtures.is_empty() {
            continue;
        }
        let copy = initialised(&folder);
        for (file, line, rule, _) in findings(copy.path(), &["--allow-empty"]) {
            let line = line.to_string();
            assert!(
                !fixtures.contains(&(file.as_str(), line.as_str(), rule.as_str())),
                "{name}: {file}:{line} {rule}"
            );
        }
    }
}
