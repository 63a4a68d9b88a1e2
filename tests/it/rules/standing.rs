//! Whether the document of a finding is applied: drafts lower the severity, and test data does not fail a run.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{Repository, corpus};

/// Two objects without names.
const SKELETONS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n---\napiVersion: apps/v1\nkind: Deployment\nspec: {}\n";

const NAMED: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: web}\n";

const KUSTOMIZATION: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 10m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
";

/// Creates a repository in which Flux delivers `apps/`, and nothing delivers `snippets/`.
fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("clusters/prod/apps.yaml", KUSTOMIZATION);
    repository.write("apps/web.yaml", NAMED);
    repository.write("snippets/empty.yaml", SKELETONS);
    repository
}

/// Returns the exit status, and the severity and file of each finding.
fn checked(repository: &Repository, arguments: &[&str]) -> (i32, Vec<(String, String)>) {
    let arguments = [&["--no-config", "-o", "json"], arguments].concat();
    let (status, out, _) = repository.run(&arguments, "");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let of = |finding: &Value, pointer: &str| {
        let text = finding.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_else(|| panic!("{pointer}: {finding}"))
            .to_owned()
    };
    let found = findings
        .iter()
        .map(|finding| (of(finding, "/severity"), of(finding, "/location/file")));
    (status, found.collect())
}

fn all(severity: &str, file: &str) -> Vec<(String, String)> {
    vec![(severity.to_owned(), file.to_owned()); 2]
}

#[test]
fn undelivered_file_is_a_draft_if_others_are_delivered() {
    let repository = repository();
    let infos = all("info", "snippets/empty.yaml");
    assert_eq!(checked(&repository, &["."]), (0, infos));
    repository.write("apps/empty.yaml", SKELETONS);
    let (status, found) = checked(&repository, &["."]);
    assert_eq!(status, 1);
    assert_eq!(found[..2], all("error", "apps/empty.yaml"));
}

#[test]
fn draft_status_depends_on_repository_not_on_named_folder() {
    let repository = repository();
    let infos = all("info", "snippets/empty.yaml");
    assert_eq!(checked(&repository, &["snippets"]), (0, infos));
}

#[test]
fn crd_counts_only_in_clusters_it_is_delivered_to() {
    let repository = Repository::new();
    let deliver = |cluster: &str, folder: &str| {
        let text = KUSTOMIZATION.replace("apps", folder);
        repository.write(&format!("clusters/{cluster}/{folder}.yaml"), &text);
    };
    repository.write(
        "definitions/widgets.yaml",
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
",
    );
    let old =
        "apiVersion: example.com/v1beta1\nkind: Widget\nmetadata: {name: old, namespace: web}\n";
    repository.write("apps/old.yaml", old);
    deliver("one", "definitions");
    deliver("two", "apps");
    let found = |severity: &str| vec![(severity.to_owned(), "apps/old.yaml".to_owned())];
    assert_eq!(checked(&repository, &["."]), (0, found("info")));
    // Without evidence on the clusters, the folders count.
    std::fs::remove_file(repository.path().join("clusters/one/definitions.yaml")).expect("a file");
    assert_eq!(checked(&repository, &["."]), (0, found("warning")));
    deliver("two", "definitions");
    assert_eq!(checked(&repository, &["."]), (1, found("error")));
}

#[test]
fn rendered_helm_file_makes_other_files_drafts() {
    let repository = Repository::new();
    let rendered = format!("---\n# Source: web/templates/web.yaml\n{NAMED}");
    repository.write("rendered/web.yaml", &rendered);
    repository.write("snippets/empty.yaml", SKELETONS);
    let infos = all("info", "snippets/empty.yaml");
    assert_eq!(checked(&repository, &["."]), (0, infos.clone()));
    assert_eq!(checked(&repository, &["snippets"]), (0, infos));
    // A URL is not a template of Helm.
    let copied = rendered.replace("web/templates", "https://example.com/templates");
    repository.write("rendered/web.yaml", &copied);
    let errors = all("error", "snippets/empty.yaml");
    assert_eq!(checked(&repository, &["."]), (1, errors.clone()));
    assert_eq!(checked(&repository, &["snippets"]), (1, errors));
}

/// Returns the errors and warnings on files below a folder.
fn grave(repository: &Repository, folder: &str) -> BTreeSet<String> {
    let arguments = ["--no-config", "-o", "json", folder];
    let (_, out, _) = repository.run(&arguments, "");
    let report: Value = serde_json::from_str(&out).unwrap_or_default();
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let grave = findings
        .iter()
        .filter(|finding| finding["severity"] != "info");
    let of = |finding: &Value| {
        let file = finding["location"]["file"].as_str()?;
        let is_below = folder == "." || Path::new(file).starts_with(folder);
        is_below.then(|| {
            let fields = ["severity", "rule", "message"];
            let fields = fields.map(|field| finding[field].to_string());
            format!(
                "{file}:{} {}",
                finding["location"]["line"],
                fields.join(" ")
            )
        })
    };
    grave.filter_map(of).collect()
}

#[test]
fn checking_a_folder_matches_checking_its_parent() {
    let Some(corpus) = corpus() else {
        return;
    };
    let projects = std::fs::read_dir(corpus).expect("a folder");
    let projects = projects.filter_map(|entry| Some(entry.ok()?.path()));
    let (mut compared, mut found, mut differ) = (0, 0, Vec::new());
    for project in projects.filter(|path| path.is_dir()) {
        let repository = Repository::new();
        repository.copy(&project);
        let whole = grave(&repository, ".");
        found += whole.len();
        let folders = std::fs::read_dir(repository.path()).expect("a folder");
        for folder in folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            if folder.starts_with('.') || !repository.path().join(&folder).is_dir() {
                continue;
            }
            let below = |line: &&String| line.starts_with(&format!("{folder}/"));
            let expected: BTreeSet<String> = whole.iter().filter(below).cloned().collect();
            let difference = expected
                .symmetric_difference(&grave(&repository, &folder))
                .map(|line| format!("{}/{line}", project.display()))
                .collect::<Vec<_>>();
            compared += 1;
            differ.extend(difference);
        }
    }
    assert!(
        compared > 20 && found > 20,
        "{compared} folders, {found} findings"
    );
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn named_file_is_checked_as_applied() {
    let repository = repository();
    let errors = all("error", "snippets/empty.yaml");
    assert_eq!(checked(&repository, &["snippets/empty.yaml"]), (1, errors));
}

#[test]
fn without_any_delivery_every_file_may_be_applied() {
    let repository = Repository::new();
    repository.write("m/empty.yaml", SKELETONS);
    repository.write("m/web.yaml", NAMED);
    assert_eq!(
        checked(&repository, &["m"]),
        (1, all("error", "m/empty.yaml"))
    );
}

#[test]
fn configured_severity_applies_to_drafts() {
    let repository = repository();
    repository.write(
        "ownerlint.yaml",
        "version: 1\nrules: {object-without-name: {severity: error}}\n",
    );
    let (status, ..) = repository.run(&["."], "");
    assert_eq!(status, 1);
}

#[test]
fn findings_in_test_data_are_summed_up_in_one_line() {
    let repository = Repository::new();
    for at in 0..3 {
        repository.write(&format!("m/pkg/testdata/{at}.yaml"), SKELETONS);
    }
    repository.write("m/web.yaml", NAMED);
    let (status, out, error) = repository.run(&["--no-config", "m"], "");
    assert_eq!(status, 0, "{out}{error}");
    assert!(!out.contains("object-without-name"), "{out}");
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "6 findings in test data that nothing delivers, not counted: exclude these files \
                with --exclude '**/testdata/**'";
    assert!(said.contains(line), "{said}");
    let (status, found) = checked(&repository, &["m/pkg/testdata"]);
    assert_eq!(
        (status, found.len()),
        (1, 6),
        "who names it wants it checked"
    );
}

#[test]
fn set_that_fails_makes_no_test_data_applied() {
    let repository = Repository::new();
    repository.write("deploy/kustomization.yaml", "resources: [web.yaml]\n");
    repository.write("deploy/web.yaml", NAMED);
    repository.write("test/testdata/empty.yaml", SKELETONS);
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\nspec:\n  goTemplate: true\n  \
               generators: [{clusters: {}}]\n  template:\n    metadata: {name: '{{.name}}'}\n    spec:\n      project: default\n      source: {repoURL: \
               'https://git.example.org/other.git', path: 'guestbook/{{cluster}}'}\n      destination: {server: '{{.server}}', namespace: web}\n";
    repository.write("app/set.yaml", set);
    let (status, found) = checked(&repository, &["."]);
    let of_test_data = found.iter().filter(|(_, file)| file.starts_with("test/"));
    assert_eq!((status, of_test_data.count()), (0, 0), "{found:?}");
}

#[test]
fn delivered_test_data_is_checked_normally() {
    let repository = Repository::new();
    repository.write(
        "apps/kustomization.yaml",
        "resources: [fixtures/empty.yaml]\n",
    );
    repository.write("apps/fixtures/empty.yaml", SKELETONS);
    let (status, found) = checked(&repository, &["."]);
    assert_eq!(status, 1);
    assert_eq!(found.len(), 2);
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
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

#[test]
fn chart_labels_are_ignored_if_something_else_installs() {
    let keeps = |repository: &Repository| {
        let (_, out, _) = repository.run(&["--no-config", "-o", "json", "."], "");
        out.contains("uninstalling the release deletes")
    };
    let repository = Repository::new();
    repository.write("crds/gadgets.yaml", DEFINITION);
    assert!(keeps(&repository), "nothing else installs it");
    repository.write("crds/kustomization.yaml", "resources: [gadgets.yaml]\n");
    assert!(!keeps(&repository), "a kustomization builds it");
    let repository = Repository::new();
    repository.write("manifests/gadgets.yaml", DEFINITION);
    repository.write(
        "manifests/operator.clusterserviceversion.yaml",
        "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: gadgets.v1, namespace: operators}\n",
    );
    assert!(
        !keeps(&repository),
        "the Operator Lifecycle Manager installs it"
    );
}
