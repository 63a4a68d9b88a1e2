//! Bundles that are applied to one cluster, and objects that move from one cluster to another.

use serde_json::Value;

use super::flux::kustomization;
use super::places::{Folder, config, object};

/// Returns the effects and findings of a change. `both` are files of both states.
fn comes_of(
    configuration: &str,
    both: &[(&str, &str)],
    base: &[(&str, &str)],
    head: &[(&str, &str)],
) -> Vec<String> {
    let folder = Folder::new();
    for (side, own) in [("base", base), ("head", head)] {
        folder.write(
            &format!("{side}/ownerlint.yaml"),
            &format!("version: 1\nbundles:\n{configuration}"),
        );
        for (path, text) in both.iter().chain(own) {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    let document = folder
        .run("", &["--base", "base", "--head", "head"])
        .expect("a comparison");
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let list = |name: &str| document[name].as_array().expect("a list").clone();
    let effects = list("effects");
    let effects = effects
        .iter()
        .map(|one| format!("{} {}", text(&one["effect"]), text(&one["key"])));
    let findings = list("findings");
    let findings = findings.iter().map(|one| {
        format!(
            "{}[{}] {}",
            text(&one["severity"]),
            text(&one["rule"]),
            text(&one["object"])
        )
    });
    effects.chain(findings).collect()
}

fn in_shop(text: &str) -> String {
    text.replacen("metadata:\n", "metadata:\n  namespace: shop\n", 1)
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ships.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Ship, plural: ships}\n  versions: [{name: v1, served: true, storage: true}]\n";
const CRD: &str = "CustomResourceDefinition.apiextensions.k8s.io//ships.example.com";

#[test]
fn removed_definition_cascades_to_other_bundles_of_its_cluster() {
    let ship = in_shop(&object("example.com/v1", "Ship", "flagship"));
    let both = [
        ("shop/ship.yaml", &*ship),
        ("crds/other.yaml", &config("a")),
    ];
    let base = [("crds/ships.yaml", DEFINITION)];
    let shared = "  crds: {paths: [crds], delivery: helm, cluster: prod}\n  shop: {paths: [shop], delivery: helm, cluster: prod}\n";
    assert_eq!(
        comes_of(shared, &both, &base, &[]),
        [
            format!("deleted {CRD}"),
            "cascaded Ship.example.com/shop/flagship".to_owned(),
            format!("error[crd-removed] {CRD}")
        ]
    );
    let apart = shared.replace(
        "[shop], delivery: helm, cluster: prod",
        "[shop], delivery: helm, cluster: dev",
    );
    assert_eq!(
        comes_of(&apart, &both, &base, &[]),
        [
            format!("deleted {CRD}"),
            format!("warning[crd-removed] {CRD}")
        ]
    );
    let own = shared.replace(", cluster: prod", "");
    assert_eq!(
        comes_of(&own, &both, &base, &[]),
        [
            format!("deleted {CRD}"),
            format!("warning[crd-removed] {CRD}")
        ]
    );
}

#[test]
fn removed_controller_affects_other_bundles_of_its_cluster() {
    let operator = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: aws-load-balancer-controller, namespace: kube-system}\nspec:\n  selector: {matchLabels: {app: lb}}\n  template:\n    metadata: {labels: {app: lb}}\n    spec: {containers: [{name: lb, image: public.ecr.aws/eks/aws-load-balancer-controller:v2.8.1}]}\n";
    let service = in_shop(&object("v1", "Service", "web"))
        + "  annotations: {service.beta.kubernetes.io/aws-load-balancer-type: external}\n  finalizers: [service.k8s.aws/resources]\nspec: {type: LoadBalancer, loadBalancerClass: service.k8s.aws/nlb, ports: [{port: 80}]}\n";
    let both = [
        ("shop/web.yaml", &*service),
        ("system/other.yaml", &config("a")),
    ];
    let base = [("system/lb.yaml", operator)];
    let shared = "  system: {paths: [system], delivery: flux, cluster: prod}\n  shop: {paths: [shop], delivery: flux, cluster: prod}\n";
    let name = "Deployment.apps/kube-system/aws-load-balancer-controller";
    let found = format!("error[controller-removed] {name}");
    assert_eq!(
        comes_of(shared, &both, &base, &[]),
        [format!("deleted {name}"), found]
    );
    assert_eq!(
        comes_of(&shared.replace(", cluster: prod", ""), &both, &base, &[]),
        [format!("deleted {name}")]
    );
}

#[test]
fn bundles_of_one_cluster_keep_their_own_tool_and_namespace() {
    let configuration = "  a: {paths: [a], delivery: helm, namespace: one, cluster: prod}\n  b: {paths: [b], delivery: kubectl, namespace: two, cluster: prod}\n  c: {paths: [c], cluster: prod}\n";
    let x = config("x");
    let marked = object("v1", "ConfigMap", "y")
        + "  labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: y-1}\n";
    let both = [
        ("a/k.yaml", &*config("k")),
        ("b/k.yaml", &*config("k")),
        ("c/k.yaml", &*config("k")),
        ("a/y.yaml", &marked),
    ];
    assert_eq!(
        comes_of(
            configuration,
            &both,
            &[("a/x.yaml", &x), ("b/x.yaml", &x), ("c/x.yaml", &x)],
            &[]
        ),
        [
            "deleted ConfigMap/?/x",
            "deleted ConfigMap/one/x",
            "orphaned ConfigMap/two/x"
        ]
    );
}

#[test]
fn namespace_removed_from_one_cluster_is_deleted_there() {
    let (namespace, a) = (object("v1", "Namespace", "shop"), in_shop(&config("a")));
    let both = [
        ("prod/a.yaml", &*a),
        ("dev/a.yaml", &*a),
        ("dev/ns.yaml", &*namespace),
    ];
    let left = [
        "cascaded ConfigMap/shop/a",
        "deleted Namespace//shop",
        "error[namespace-removed] Namespace//shop",
    ];
    let own = "  prod: {paths: [prod], delivery: flux}\n  dev: {paths: [dev], delivery: flux}\n";
    assert_eq!(
        comes_of(own, &both, &[("prod/ns.yaml", &namespace)], &[]),
        left
    );
}

#[test]
fn object_moved_to_another_cluster_is_deleted_in_the_first() {
    let (namespace, a) = (object("v1", "Namespace", "shop"), in_shop(&config("a")));
    let both = [("prod/a.yaml", &*a), ("dev/k.yaml", &*config("k"))];
    let (base, head) = (
        [("prod/ns.yaml", &*namespace)],
        [("dev/ns.yaml", &*namespace)],
    );
    let named = "  prod: {paths: [prod], delivery: flux, cluster: prod}\n  dev: {paths: [dev], delivery: flux, cluster: dev}\n";
    let left = [
        "cascaded ConfigMap/shop/a",
        "deleted Namespace//shop",
        "error[namespace-removed] Namespace//shop",
    ];
    assert_eq!(comes_of(named, &both, &base, &head), left);
    let one = named.replace("cluster: dev", "cluster: prod");
    assert_eq!(
        comes_of(&one, &both, &base, &head),
        [""; 0],
        "it goes over to another bundle"
    );
    let unknown =
        "  prod: {paths: [prod], delivery: flux}\n  dev: {paths: [dev], delivery: flux}\n";
    assert_eq!(
        comes_of(unknown, &both, &base, &head),
        [""; 0],
        "nobody says that these are two clusters"
    );
}

/// Two entry points of one cluster, with a Kustomization below each.
fn entry_points() -> Vec<(&'static str, String)> {
    let group = |name: &str| kustomization(name, &format!("./flux/{name}"), "");
    vec![
        ("bootstrap/apps.yaml", group("apps")),
        ("bootstrap/platform.yaml", group("platform")),
        (
            "flux/platform/crds.yaml",
            kustomization("crds", "./platform/crds", ""),
        ),
        ("apps/web/web.yaml", in_shop(&config("web"))),
        ("platform/crds/other.yaml", in_shop(&config("other"))),
    ]
}

const IN_TWO_BUNDLES: &str = "  apps: {paths: [apps, flux/apps, platform/crds]}\n  platform: {paths: [platform, flux/platform]}\n";

/// Compares two states with the entry points and with two bundles. Checks that the bundles change nothing.
fn comes_of_entry_points(base: &[(&str, &str)], head: &[(&str, &str)]) -> Vec<String> {
    let files = entry_points();
    let both: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
    let comes = comes_of(IN_TWO_BUNDLES, &both, base, head);
    let tools = IN_TWO_BUNDLES.replace("]}", "], delivery: kubectl}");
    let one = IN_TWO_BUNDLES.replace("]}", "], cluster: home}");
    for bundles in ["  all: {paths: [.]}\n", &tools, &one] {
        assert_eq!(comes_of(bundles, &both, base, head), comes, "{bundles}");
    }
    comes
}

#[test]
fn bundles_keep_definition_and_objects_of_one_flux_cluster_together() {
    let web = kustomization("web", "./apps/web", "");
    let ship = in_shop(&object("example.com/v1", "Ship", "flagship"));
    let head = [
        ("flux/apps/web.yaml", &*web),
        ("apps/web/ship.yaml", &*ship),
    ];
    let base = [&head[..], &[("platform/crds/ships.yaml", DEFINITION)]].concat();
    assert_eq!(
        comes_of_entry_points(&base, &head),
        [
            format!("deleted {CRD}"),
            "cascaded Ship.example.com/shop/flagship".to_owned(),
            format!("error[crd-removed] {CRD}"),
        ]
    );
}

#[test]
fn bundles_do_not_hide_claim_moving_between_kustomizations() {
    let claim = in_shop(&object("v1", "PersistentVolumeClaim", "data"));
    let web = kustomization("web", "./apps/web", "");
    let both = web.clone() + &kustomization("db", "./apps/db", "");
    let base = [
        ("flux/apps/apps.yaml", &*both),
        ("apps/db/other.yaml", &*in_shop(&config("db"))),
        ("apps/web/claim.yaml", &*claim),
    ];
    let head = [base[0], base[1], ("apps/db/claim.yaml", &*claim)];
    assert_eq!(
        comes_of_entry_points(&base, &head),
        [
            "data-lost PersistentVolumeClaim/shop/data",
            "recreated PersistentVolumeClaim/shop/data",
            "warning[move-deletes] PersistentVolumeClaim/shop/data",
        ]
    );
}

#[test]
fn bundles_divide_deliveries_that_they_do_not_share() {
    let web = |cluster: &str| kustomization(cluster, &format!("./{cluster}"), "");
    let (eu, us) = (web("eu"), web("us"));
    let [a, b] = ["a", "b"].map(|name| in_shop(&config(name)));
    let both = [
        ("flux/eu.yaml", &*eu),
        ("flux/us.yaml", &*us),
        ("eu/b.yaml", &*b),
        ("us/a.yaml", &*a),
    ];
    let base = [("eu/a.yaml", &*a)];
    for bundles in [
        "  eu: {paths: [eu]}\n  us: {paths: [us]}\n",
        "  eu: {paths: [eu], cluster: eu}\n  us: {paths: [us], delivery: kubectl}\n",
    ] {
        let comes = comes_of(bundles, &both, &base, &[]);
        assert_eq!(comes, ["deleted ConfigMap/shop/a"], "{bundles}");
    }
}
