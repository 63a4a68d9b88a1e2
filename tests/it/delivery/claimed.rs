//! The objects that the delivery objects of a tree deliver, and those that two of them share.

use std::sync::Arc;

use ownerlint::cluster::Analysis;
use ownerlint::engine::{self, Check};
use ownerlint::inventory::{Inventory, Settings};
use ownerlint::knowledge::Tables;
use ownerlint::manifest::ParsedFile;
use ownerlint::text::SourceFile;

fn inventory(files: &[(&str, &str)]) -> Inventory {
    let mut files: Vec<_> = files
        .iter()
        .map(|(path, text)| SourceFile::new(*path, *text))
        .collect();
    files.sort_by(|a, b| a.path().cmp(b.path()));
    Inventory::new(
        files.into_iter().map(ParsedFile::parse).collect(),
        Settings::default(),
    )
}

/// Returns a line such as `Kustomization//…: keys` for each delivery object.
fn delivered(files: &[(&str, &str)]) -> Vec<String> {
    let inventory = inventory(files);
    let analysis = Analysis::of(&inventory).with_tables(Arc::clone(&Tables::bundled()));
    let reach = analysis.reach();
    let objects = analysis.delivery_objects();
    let of = |(at, object): (usize, &ownerlint::ownership::DeliveryObject)| {
        let keys = reach
            .deliveries(at)
            .flat_map(|delivery| delivery.objects(&inventory));
        let keys: Vec<_> = keys.map(|delivered| delivered.key.to_string()).collect();
        format!(
            "{}: {}",
            inventory.member(object.id).key.name,
            keys.join(" ")
        )
    };
    objects.iter().enumerate().map(of).collect()
}

/// Returns the messages of the rule.
fn twice(files: &[(&str, &str)]) -> Vec<String> {
    let report = engine::check(
        inventory(files),
        &Check {
            every: true,
            ..Check::default()
        },
    );
    let findings = report
        .findings
        .into_iter()
        .filter(|reported| reported.finding.rule == "object-claimed-twice");
    findings.map(|reported| reported.finding.message).collect()
}

fn kustomization(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\n\
         spec: {{prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}, {spec}}}\n"
    )
}

fn application(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec: {{{spec}}}\n"
    )
}

const SHARED: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shared}\n";
const CART: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cart}\n";

#[test]
fn flux_kustomization_delivers_built_objects_with_new_names() {
    let files = [
        (
            "clusters/prod/apps.yaml",
            &*kustomization("apps", "path: ./apps/shop, targetNamespace: shop"),
        ),
        (
            "apps/shop/kustomization.yaml",
            "namePrefix: prod-\nresources: [cart.yaml, ../base]\n",
        ),
        ("apps/shop/cart.yaml", CART),
        ("apps/shop/left-out.yaml", SHARED),
        ("apps/base/kustomization.yaml", "resources: [ns.yaml]\n"),
        (
            "apps/base/ns.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\n",
        ),
    ];
    assert_eq!(
        delivered(&files),
        ["apps: ConfigMap/shop/prod-cart Secret/shop/prod-login"]
    );
}

#[test]
fn delivery_paths_are_relative_to_the_repository_root() {
    let files = [
        (
            "work/repo/clusters/prod/apps.yaml",
            &*kustomization("apps", "path: ./apps"),
        ),
        (
            "work/repo/clusters/prod/web.yaml",
            &*kustomization("web", "path: ./web"),
        ),
        ("work/repo/apps/cart.yaml", CART),
        ("work/repo/web/ns.yaml", SHARED),
        ("work/repo/clusters/prod/web/other.yaml", CART),
    ];
    assert_eq!(
        delivered(&files),
        ["apps: ConfigMap/?/cart", "web: Namespace//shared"]
    );
}

#[test]
fn objects_delivered_twice_to_one_cluster_give_one_finding() {
    let both = [
        (
            "clusters/prod/all.yaml",
            &*kustomization("all", "path: ./apps"),
        ),
        (
            "clusters/prod/shop.yaml",
            &*kustomization("shop", "path: ./apps/shop"),
        ),
        ("apps/shop/ns.yaml", SHARED),
        (
            "apps/shop/cart.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cart, namespace: shared}\n",
        ),
    ];
    assert_eq!(
        twice(&both),
        [
            "Kustomization `shop` delivers ConfigMap/shared/cart and 1 more object that Kustomization `all` delivers, too"
        ]
    );
}

#[test]
fn base_delivered_to_two_clusters_has_no_finding() {
    let files = [
        (
            "clusters/prod/apps.yaml",
            &*kustomization("apps", "path: ./apps"),
        ),
        (
            "clusters/staging/apps.yaml",
            &*kustomization("apps-staging", "path: ./apps"),
        ),
        ("apps/ns.yaml", SHARED),
    ];
    assert_eq!(twice(&files), [""; 0]);
}

#[test]
fn folder_delivered_to_hub_and_remote_cluster_has_no_finding() {
    let remote = "path: ./apps, kubeConfig: {secretRef: {name: edge}}";
    let files = [
        (
            "clusters/hub/here.yaml",
            &*kustomization("here", "path: ./apps"),
        ),
        ("clusters/hub/edge.yaml", &*kustomization("edge", remote)),
        ("apps/ns.yaml", SHARED),
    ];
    assert_eq!(twice(&files), [""; 0]);
}

#[test]
fn applications_of_one_folder_conflict_on_cluster_scoped_objects() {
    let to = |namespace: &str| {
        format!(
            "source: {{repoURL: r, path: apps}}, destination: {{server: https://kubernetes.default.svc, namespace: {namespace}}}"
        )
    };
    let (one, two) = (
        application("one", &to("one")),
        application("two", &to("two")),
    );
    let files = [
        ("argo/one.yaml", &*one),
        ("argo/two.yaml", &*two),
        ("apps/cart.yaml", CART),
    ];
    assert_eq!(twice(&files), [""; 0], "a ConfigMap for each namespace");
    let with_namespace = [files[0], files[1], files[2], ("apps/ns.yaml", SHARED)];
    assert_eq!(
        twice(&with_namespace),
        ["Application `two` delivers Namespace//shared that Application `one` delivers, too"]
    );
}

#[test]
fn partial_rendered_or_remote_sources_cause_no_conflict() {
    let pair = |one: &str, two: &str| {
        let (one, two) = (application("one", one), application("two", two));
        twice(&[
            ("argo/one.yaml", &*one),
            ("argo/two.yaml", &*two),
            ("apps/ns.yaml", SHARED),
        ])
    };
    let whole = "source: {repoURL: r, path: apps}, destination: {name: prod}";
    assert_eq!(pair(whole, whole).len(), 1);
    let part = "source: {repoURL: r, path: apps, directory: {include: 'web*.yaml'}}, destination: {name: prod}";
    let chart =
        "source: {repoURL: r, path: apps, helm: {releaseName: web}}, destination: {name: prod}";
    let elsewhere = "source: {repoURL: other, path: apps}, destination: {name: prod}";
    let cluster = "source: {repoURL: r, path: apps}, destination: {name: staging}";
    for other in [part, chart, elsewhere, cluster] {
        assert_eq!(pair(whole, other), [""; 0], "{other}");
    }
}

#[test]
fn what_a_set_delivers_only_for_unknown_elements_is_left_out() {
    let set = |generator: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: set, namespace: argocd}}\n\
             spec:\n  generators: [{generator}]\n  template:\n    metadata: {{name: '{{{{app}}}}'}}\n    \
             spec: {{source: {{repoURL: r, path: 'apps/{{{{app}}}}'}}, destination: {{name: prod}}}}\n"
        )
    };
    let one = application(
        "one",
        "source: {repoURL: r, path: apps/shop}, destination: {name: prod}",
    );
    let with = |generator: &str| {
        twice(&[
            ("argo/one.yaml", &*one),
            ("argo/set.yaml", &*set(generator)),
            ("apps/shop/ns.yaml", SHARED),
        ])
    };
    let list = "list: {elements: [{app: shop}]}";
    assert_eq!(with(&format!("{{{list}}}")).len(), 1);
    // One Application for each pull request: at the moment there may be none.
    let requests = "pullRequest: {github: {owner: o, repo: r}}";
    let matrix = format!("{{matrix: {{generators: [{{{list}}}, {{{requests}}}]}}}}");
    assert_eq!(with(&matrix), [""; 0]);
}

#[test]
fn suspended_kustomizations_and_variable_names_cause_no_conflict() {
    let pair = |spec: &str, object: &str| {
        let (one, two) = (
            kustomization("one", "path: ./apps"),
            kustomization("two", spec),
        );
        twice(&[
            ("clusters/prod/one.yaml", &*one),
            ("clusters/prod/two.yaml", &*two),
            ("apps/a.yaml", object),
        ])
    };
    assert_eq!(pair("path: ./apps", SHARED).len(), 1);
    assert_eq!(pair("path: ./apps, suspend: true", SHARED), [""; 0]);
    assert_eq!(
        pair(
            "path: ./apps",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: 'x-${APP}'}\n"
        ),
        [""; 0]
    );
}

#[test]
fn a_prefix_with_a_variable_may_give_each_deliverer_its_own_object() {
    let role =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\n";
    let with = |prefix: &str| {
        twice(&[
            (
                "clusters/prod/one.yaml",
                &*kustomization("one", "path: ./apps"),
            ),
            (
                "clusters/prod/two.yaml",
                &*kustomization("two", "path: ./apps"),
            ),
            (
                "apps/kustomization.yaml",
                &*format!("namePrefix: '{prefix}'\nresources: [role.yaml]\n"),
            ),
            ("apps/role.yaml", role),
        ])
    };
    assert_eq!(with("prod-").len(), 1);
    assert_eq!(with("${region}-"), [""; 0]);
}

#[test]
fn generated_applications_deliver_the_folders_of_their_elements() {
    let set = "\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
spec:
  generators: [{list: {elements: [{name: one, folder: apps}, {name: two, folder: apps/shop}]}}]
  template:
    metadata: {name: '{{name}}'}
    spec:
      source: {repoURL: r, path: '{{folder}}', directory: {recurse: true}}
      destination: {name: prod, namespace: '{{name}}'}
";
    let files = [
        ("argo/all.yaml", set),
        ("apps/cart.yaml", CART),
        ("apps/shop/kustomization.yaml", "resources: [ns.yaml]\n"),
        ("apps/shop/ns.yaml", SHARED),
    ];
    assert_eq!(
        delivered(&files),
        ["all: ConfigMap/one/cart Namespace//shared Namespace//shared"]
    );
    let same = set
        .replace("apps/shop", "apps")
        .replace("directory: {recurse: true}", "targetRevision: main");
    let files = [("argo/all.yaml", &*same), ("apps/ns.yaml", SHARED)];
    assert_eq!(
        twice(&files),
        [
            "Application `two` of ApplicationSet `all` delivers Namespace//shared that Application `one` of ApplicationSet `all` delivers, too"
        ]
    );
}

#[test]
fn claims_are_compared_within_each_folder() {
    let of_release = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Namespace\n\
             metadata: {{name: shared, annotations: {{meta.helm.sh/release-name: {name}}}}}\n"
        )
    };
    let (one, two) = (of_release("one"), of_release("two"));
    let apart = [("a/one.yaml", &*one), ("b/two.yaml", &*two)];
    assert_eq!(twice(&apart), [""; 0]);
    let beside = [
        ("a/one.yaml", &*one),
        ("b/one.yaml", &*one),
        ("b/two.yaml", &*two),
    ];
    assert_eq!(
        twice(&beside),
        ["Namespace `shared` belongs to Helm release `one` and to Helm release `two`"]
    );
}
