//! Kinds that an input proves to be served, and kinds that it does not.

use ownerlint::engine::Check;
use ownerlint::finding::{Finding, Severity};
use ownerlint::inventory::ScopeSource;

use crate::support::{Repository, check_text, fixture, inventory_of};

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true}]
";

const WIDGET: &str = "apiVersion: example.com/v1beta1\nkind: Widget\nmetadata: {name: probe}\n";

fn findings(text: &str, rule: &str) -> Vec<Finding> {
    let report = check_text("input.yaml", text, &Check::default());
    report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .filter(|finding| finding.rule == rule)
        .collect()
}

#[test]
fn a_crd_without_versions_proves_nothing() {
    let part = DEFINITION
        .lines()
        .filter(|line| !line.contains("versions:"))
        .map(|line| format!("{line}\n"));
    let text = format!("{}---\n{WIDGET}", part.collect::<String>());
    assert_eq!(findings(&text, "kind-not-served"), []);
    let inventory = inventory_of("input.yaml", &text);
    assert_eq!(inventory.members[1].resolution.source, ScopeSource::None);
    for none in ["versions: []", "versions:"] {
        let text = text.replace("names:", &format!("{none}\n  names:"));
        assert_eq!(findings(&text, "kind-not-served"), [], "{none}");
    }
    assert_eq!(
        findings(&format!("{DEFINITION}---\n{WIDGET}"), "kind-not-served").len(),
        1
    );
}

#[test]
fn crd_in_another_folder_tree_gives_only_a_warning() {
    let severities = |crd: &str, widget: &str| {
        let repository = Repository::new();
        repository
            .write(crd, DEFINITION)
            .write(widget, WIDGET)
            .write("web/web.yaml", "");
        let (_, out, err) = repository.run(&["check", ".", "-o", "concise"], "");
        let found: Vec<String> = out
            .lines()
            .filter(|line| line.contains("[kind-not-served]"))
            .map(str::to_owned)
            .collect();
        assert_eq!(found.len(), 1, "{out}{err}");
        found[0]
            .split_once(": ")
            .map_or("", |(_, rest)| rest.split('[').next().unwrap_or_default())
            .to_owned()
    };
    assert_eq!(
        severities("shop/crds/widget.yaml", "shop/widget.yaml"),
        "error"
    );
    assert_eq!(severities("widget-crd.yaml", "shop/widget.yaml"), "error");
    assert_eq!(
        severities("test/crds/widget.yaml", "shop/widget.yaml"),
        "warning"
    );
}

#[test]
fn copies_in_two_clusters_are_no_duplicates() {
    let kustomization = |path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: apps, namespace: flux-system}}\n\
             spec: {{path: ./{path}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
        )
    };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n";
    let duplicates = |prod: &str| {
        let repository = Repository::new();
        repository
            .write("clusters/dev/apps.yaml", &kustomization("apps/dev"))
            .write("clusters/prod/apps.yaml", &kustomization("apps/prod"))
            .write("apps/dev/settings.yaml", map)
            .write(prod, map);
        let (_, out, _) = repository.run(&["check", ".", "-o", "concise", "--show", "info"], "");
        let found = out
            .lines()
            .filter(|line| line.contains("[duplicate-object]"));
        found.filter(|line| line.contains("settings")).count()
    };
    assert_eq!(duplicates("apps/prod/settings.yaml"), 0);
    assert_eq!(duplicates("apps/dev/again.yaml"), 1);
    assert_eq!(duplicates("elsewhere/settings.yaml"), 1);
}

#[test]
fn version_disabled_by_default_suggests_the_served_one() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingAdmissionPolicy\nmetadata: {name: a}\n";
    let found = findings(policy, "kind-not-served");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity, Severity::Info);
    assert_eq!(
        found[0].help,
        "write `apiVersion: admissionregistration.k8s.io/v1`, which Kubernetes 1.37 serves"
    );
}

#[test]
fn finalizer_name_expected_by_its_controller_is_accepted() {
    let application = |finalizer: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a, namespace: b, finalizers: [{finalizer}]}}\n"
        )
    };
    assert_eq!(
        findings(
            &application("resources-finalizer.argocd.argoproj.io"),
            "finalizer-unqualified"
        ),
        []
    );
    assert_eq!(
        findings(
            &application("made-up.argocd.argoproj.io"),
            "finalizer-unqualified"
        )
        .len(),
        1
    );
}

#[test]
fn a_finding_on_the_name_of_a_controller_rests_on_its_row() {
    let text = fixture("rules/finalizer-unqualified/bad/dotted.yaml");
    let found = findings(&text, "finalizer-unqualified");
    let rows: Vec<usize> = found.iter().map(|finding| finding.tables.len()).collect();
    assert_eq!(rows, [0, 0, 1], "{found:#?}");
}

#[test]
fn kinds_of_older_apis_are_no_errors() {
    for (kind, severity, says) in [
        (
            "v1/RoleBinding",
            Severity::Warning,
            "only the legacy API of OpenShift 3 had it",
        ),
        (
            "v1/SecurityContextConstraints",
            Severity::Info,
            "only the legacy API of OpenShift 3 had it",
        ),
        (
            "v1beta3/Pod",
            Severity::Warning,
            "no release since Kubernetes 1.0 has it",
        ),
        (
            "apiextensions.k8s.io/v1/ConversionReview",
            Severity::Info,
            "it is the body of a request",
        ),
        (
            "v1/StatefulSet",
            Severity::Error,
            "no Kubernetes release ever had it",
        ),
    ] {
        let (version, name) = kind.rsplit_once('/').expect("a kind");
        let text = format!("apiVersion: {version}\nkind: {name}\nmetadata: {{name: a}}\n");
        let found = findings(&text, "kind-not-served");
        assert_eq!(
            found
                .iter()
                .map(|finding| finding.severity)
                .collect::<Vec<_>>(),
            [severity],
            "{kind}"
        );
        assert!(found[0].message.ends_with(says), "{}", found[0].message);
    }
}

#[test]
fn removed_kind_in_wrong_version_is_not_called_misspelt() {
    let text = "apiVersion: policy/v1\nkind: PodSecurityPolicy\nmetadata: {name: a}\n";
    let help = findings(text, "kind-not-served")[0].help.clone();
    assert!(
        help.contains(
            "Kubernetes 1.25 removed PodSecurityPolicy, which it had as `policy/v1beta1`"
        ),
        "{help}"
    );
}
