//! `plan teardown --by flux`: the Kustomizations that are deleted, and what Flux deletes with them.

use serde_json::Value;

use super::deliveries::kustomization;
use super::teardown::{config_map, objects, plan};
use crate::support::Repository;

/// Returns the names of the deleted objects, and the objects that stay, each with the reason.
fn ending(plan: &Value) -> (Vec<&str>, Vec<String>) {
    let gone = objects(plan).iter().filter(|(_, fate)| *fate == "gone");
    let gone = gone.filter_map(|(key, _)| key.rsplit('/').next());
    let kept = plan["kept"].as_array().expect("a list").iter();
    let kept = kept.map(|one| {
        let [key, why] = ["key", "why"].map(|field| one[field].as_str().expect("a text"));
        let name = key.rsplit('/').next().unwrap_or_default();
        format!("{name}: {why}")
    });
    (gone.collect(), kept.collect())
}

/// Returns the command that a plan starts with.
fn command(repository: &Repository) -> String {
    let (status, output, error) = repository.run(&["plan", "teardown", "--by", "flux", "."], "");
    assert_eq!(status, 0, "{error}");
    output.lines().next().unwrap_or_default().to_owned()
}

fn notes(plan: &Value) -> String {
    plan["notes"].to_string()
}

#[test]
fn flux_deletes_from_the_top_as_each_kustomization_says() {
    let repository = Repository::new();
    repository
        .write("top.yaml", &kustomization("top", "./clusters", ""))
        .write("clusters/web.yaml", &kustomization("web", "./web", ""))
        .write(
            "clusters/db.yaml",
            &kustomization("db", "./db", "").replace("prune: true", "prune: false"),
        )
        .write(
            "clusters/old.yaml",
            &kustomization("old", "./old", "suspend: true, "),
        )
        .write(
            "clusters/left.yaml",
            &kustomization("left", "./left", "deletionPolicy: Orphan, "),
        )
        .write("web/a.yaml", &config_map("a"))
        .write("db/b.yaml", &config_map("b"))
        .write("old/c.yaml", &config_map("c"))
        .write("left/d.yaml", &config_map("d"));
    let plan = plan(&repository, &["--by", "flux", "."]);
    assert_eq!(
        command(&repository),
        "flux delete kustomization top -n flux-system"
    );
    let (gone, kept) = ending(&plan);
    assert_eq!(gone, ["a", "db", "left", "old", "top", "web"]);
    assert_eq!(
        kept,
        [
            "c: Kustomization flux-system/old is suspended",
            "d: Kustomization flux-system/left has the deletion policy Orphan",
            "b: Kustomization flux-system/db does not prune",
        ]
    );
    assert!(!notes(&plan).contains("assumed to prune"), "{plan}");
}

#[test]
fn flux_deletes_every_kustomization_that_no_other_delivers() {
    let repository = Repository::new();
    repository
        .write(
            "apps.yaml",
            &kustomization("apps", "./apps", "").replace("prune: true", "prune: false"),
        )
        .write("infra.yaml", &kustomization("infra", "./infra", ""))
        .write("apps/web.yaml", &kustomization("web", "./web", ""))
        .write("web/a.yaml", &config_map("a"))
        .write("infra/b.yaml", &config_map("b"));
    let plan = plan(&repository, &["--by", "flux", "."]);
    assert_eq!(
        command(&repository),
        "kubectl delete kustomization.kustomize.toolkit.fluxcd.io apps infra -n flux-system --ignore-not-found"
    );
    let (gone, kept) = ending(&plan);
    assert_eq!(gone, ["b", "apps", "infra"]);
    assert_eq!(
        kept,
        [
            "web: Kustomization flux-system/apps does not prune",
            "a: Kustomization flux-system/web stays",
        ]
    );
    assert!(
        notes(&plan).contains("the command deletes all of them"),
        "{plan}"
    );
}

#[test]
fn flux_leaves_objects_that_no_kustomization_delivers() {
    let repository = Repository::new();
    let labelled = |name: &str, by: &str| {
        let label = format!("labels: {{kustomize.toolkit.fluxcd.io/name: {by}}}, namespace");
        config_map(name).replace("namespace", &label)
    };
    repository
        .write("a.yaml", &labelled("a", "web"))
        .write("b.yaml", &config_map("b"));
    let one = plan(&repository, &["--by", "flux", "."]);
    assert_eq!(
        command(&repository),
        "flux delete kustomization web -n NAMESPACE"
    );
    assert_eq!(ending(&one), (vec!["a", "b"], Vec::new()));
    assert!(
        notes(&one).contains("The Kustomization is assumed to prune"),
        "{one}"
    );
    repository.write("c.yaml", &labelled("c", "db"));
    let two = plan(&repository, &["--by", "flux", "."]);
    let why = "nothing in the input shows which Kustomization or HelmRelease delivers it";
    assert_eq!(ending(&two), (vec!["a", "c"], vec![format!("b: {why}")]));
}

#[test]
fn flux_deletes_a_kustomization_that_is_applied_by_hand() {
    let repository = Repository::new();
    repository
        .write("bootstrap/kustomization.yaml", "resources: [apps.yaml]\n")
        .write("bootstrap/apps.yaml", &kustomization("apps", "./apps", ""))
        .write("apps/a.yaml", &config_map("a"));
    let plan = plan(&repository, &["--by", "flux", "."]);
    assert_eq!(
        command(&repository),
        "flux delete kustomization apps -n flux-system"
    );
    assert_eq!(ending(&plan), (vec!["a"], Vec::new()));
    let note =
        "Not part of this plan, although the command deletes it: Kustomization flux-system/apps.";
    assert!(notes(&plan).contains(note), "{plan}");
}

#[test]
fn flux_keeps_what_a_build_marks_without_an_object_of_the_kustomization() {
    let repository = Repository::new();
    repository
        .write(
            "flux.yaml",
            "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n\
             spec: {sync: {kind: GitRepository, url: https://example.org/a.git, ref: refs/heads/main, path: clusters/a}}\n",
        )
        .write(
            "clusters/a/kustomization.yaml",
            "resources: [a.yaml]\ncommonAnnotations: {kustomize.toolkit.fluxcd.io/prune: disabled}\n",
        )
        .write("clusters/a/a.yaml", &config_map("a"));
    let plan = plan(&repository, &["--by", "flux", "."]);
    let (gone, kept) = ending(&plan);
    assert_eq!(gone, [""; 0], "{plan}");
    assert_eq!(kept[0], "a: kustomize.toolkit.fluxcd.io/prune");
}

#[test]
fn flux_deletes_a_helm_release_or_an_instance_alone() {
    let repository = Repository::new();
    repository.write(
        "release.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db, namespace: shop}\n\
         spec: {chart: {spec: {chart: db, sourceRef: {kind: HelmRepository, name: db}}}}\n",
    );
    assert_eq!(command(&repository), "flux delete helmrelease db -n shop");
    let release = plan(&repository, &["--by", "flux", "."]);
    assert_eq!(ending(&release), (vec!["db"], Vec::new()));
    assert_eq!(
        release["unread"],
        serde_json::json!(["HelmRelease.helm.toolkit.fluxcd.io/shop/db"])
    );
    let repository = Repository::new();
    repository.write(
        "flux.yaml",
        "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec: {}\n",
    );
    assert_eq!(
        command(&repository),
        "kubectl delete fluxinstance.fluxcd.controlplane.io flux -n flux-system"
    );
    let instance = plan(&repository, &["--by", "flux", "."]);
    let note = "The Flux Operator uninstalls Flux once FluxInstance.fluxcd.controlplane.io/flux-system/flux is deleted";
    assert!(notes(&instance).contains(note), "{instance}");
}

#[test]
fn names_that_look_like_options_are_left_out_of_commands() {
    for (by, marks, command) in [
        (
            "flux",
            "labels: {kustomize.toolkit.fluxcd.io/name: --all, kustomize.toolkit.fluxcd.io/namespace: --kubeconfig=x}",
            "flux delete kustomization NAME -n NAMESPACE",
        ),
        (
            "helm",
            "annotations: {meta.helm.sh/release-name: --all, meta.helm.sh/release-namespace: --kubeconfig=x}",
            "helm uninstall RELEASE -n NAMESPACE",
        ),
        (
            "argocd",
            "annotations: {argocd.argoproj.io/tracking-id: '--all:/ConfigMap:shop/a'}",
            "argocd app delete APP",
        ),
    ] {
        let repository = Repository::new();
        repository.write(
            "a.yaml",
            &config_map("a").replace("namespace", &format!("{marks}, namespace")),
        );
        let (_, output, error) = repository.run(&["plan", "teardown", "--by", by, "."], "");
        assert_eq!(output.lines().next(), Some(command), "{error}");
    }
}
