//! Charts and remote resources whose objects kustomizations move, rename or delete.

use serde_json::Value;

use super::argo::delivered;
use super::flux::{compared, text_of};

const CHART: &str = "helmCharts: [{name: web, repo: 'https://charts.example.org', version: 1.0.0, namespace: shop}]\n";

/// The reason of an input whose objects change their identities.
const MOVES: &str = "the change gives its objects another name or namespace, or deletes some, and they are not read";

/// Returns the subjects of the unread inputs that have the reason [`MOVES`].
fn moving(document: &Value) -> Vec<&str> {
    let unread = document["unread"].as_array().expect("a list").iter();
    let moving = unread.filter(|one| one["reason"] == MOVES);
    moving
        .map(|one| one["subject"].as_str().expect("a text"))
        .collect()
}

/// Returns the kustomization of the folder `web` that renders a chart, with `more` in it.
fn charted(more: &str) -> String {
    format!("== web/kustomization.yaml\nresources: [a.yaml]\n{CHART}{more}")
}

#[test]
fn chart_beside_changed_transformation_is_unread() {
    let delete = "patches:\n- target: {kind: PersistentVolumeClaim}\n  patch: '[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"b\"}]'\n";
    let named = "patches:\n- patch: |\n    $patch: delete\n    apiVersion: v1\n    kind: PersistentVolumeClaim\n    metadata: {name: data}\n";
    for more in [
        "namespace: moved\n",
        "namePrefix: b-\n",
        "nameSuffix: -b\n",
        "transformers: ['{apiVersion: builtin, kind: NamespaceTransformer, metadata: {name: a, namespace: moved}}']\n",
        delete,
        named,
    ] {
        let document = compared(&delivered(), &charted(""), &charted(more));
        assert_eq!(moving(&document), ["chart web 1.0.0"], "{more}");
        assert_ne!(document["summary"]["verdict"], "nothing", "{more}");
        let document = compared(&delivered(), &charted(more), &charted(more));
        assert_eq!(document["unread"], serde_json::json!([]), "{more}");
    }
    // These change neither names nor namespaces.
    for more in [
        "labels: [{pairs: {a: b}}]\n",
        "patches: [{target: {kind: Deployment}, patch: '[{\"op\": \"add\", \"path\": \"/spec/replicas\", \"value\": 2}]'}]\n",
        "patches: [{target: {kind: ConfigMap, name: a}, patch: '[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"b\"}]'}]\n",
    ] {
        let document = compared(&delivered(), &charted(""), &charted(more));
        assert_eq!(moving(&document), [""; 0], "{more}");
    }
}

#[test]
fn chart_beside_changed_file_of_a_patch_is_unread() {
    let patched = |target: &str, name: &str| {
        charted(&format!(
            "patches: [{{path: patch.json, target: {target}}}]\n"
        )) + &format!(
            "== web/patch.json\n[{{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"{name}\"}}]\n"
        )
    };
    let target = "{kind: PersistentVolumeClaim}";
    let document = compared(&delivered(), &patched(target, "b"), &patched(target, "c"));
    assert_eq!(moving(&document), ["chart web 1.0.0"]);
}

#[test]
fn moved_chart_is_the_only_line_and_fails_on_unknown() {
    let alone = |more: &str| format!("== web/kustomization.yaml\n{CHART}{more}");
    let text = text_of(&delivered(), &alone(""), &alone("namespace: moved\n"), &[]);
    assert!(
        text.contains(
            "Not read\n  chart web 1.0.0 head/web/kustomization.yaml:1 (the change gives"
        ),
        "{text}"
    );
    assert!(!text.contains("deletes nothing"), "{text}");
    // A new version is shown in the same line.
    let bumped = alone("namespace: moved\n").replace("1.0.0", "2.0.0");
    let document = compared(&delivered(), &alone(""), &bumped);
    assert_eq!(moving(&document), ["chart web 1.0.0 → 2.0.0"]);
    assert_eq!(document["unread"].as_array().map(Vec::len), Some(1));
}

#[test]
fn chart_of_a_base_moves_with_the_namespace_of_its_overlay() {
    let both = delivered() + &format!("== base/kustomization.yaml\n{CHART}");
    let overlay =
        |more: &str| format!("== web/kustomization.yaml\nresources: [a.yaml, ../base]\n{more}");
    let document = compared(&both, &overlay(""), &overlay("namespace: moved\n"));
    assert_eq!(moving(&document), ["chart web 1.0.0"]);
    // A component transforms what its user has built.
    let component = "components: [../component]\n";
    let of = |more: &str| {
        format!("== component/kustomization.yaml\nkind: Component\n{more}") + &overlay(component)
    };
    let document = compared(&both, &of("namePrefix: a-\n"), &of("namePrefix: b-\n"));
    assert_eq!(moving(&document), ["chart web 1.0.0"]);
}

#[test]
fn remote_resource_moves_with_the_namespace() {
    let remote = "resources: [a.yaml, 'https://github.com/example/base?ref=v1.0.0']\n";
    let of = |more: &str| format!("== web/kustomization.yaml\n{remote}{more}");
    let document = compared(&delivered(), &of(""), &of("namespace: moved\n"));
    assert_eq!(
        moving(&document),
        ["resource https://github.com/example/base?ref=v1.0.0"]
    );
}

#[test]
fn options_of_an_application_move_remote_resources() {
    let both = delivered()
        + "== web/kustomization.yaml\nresources: [a.yaml, 'https://github.com/example/base?ref=v1.0.0']\n";
    let web = |more: &str| {
        let source = "path: 'web'";
        let text = super::argo::application("web", "web", "");
        format!(
            "== argocd/apps/web.yaml\n{}",
            text.replace(source, &format!("{source}{more}"))
        )
    };
    let document = compared(&both, &web(""), &web(", kustomize: {namePrefix: b-}"));
    assert_eq!(
        moving(&document),
        ["resource https://github.com/example/base?ref=v1.0.0"]
    );
    // Objects without a namespace move with the destination.
    let moved = web("").replace("namespace: shop}", "namespace: moved}");
    let document = compared(&both, &web(""), &moved);
    let unread = document["unread"].as_array().expect("a list");
    assert_eq!(unread[0]["subject"], "source of Application argocd/web");
}

/// kustomize updates references to renamed objects in objects of built-in kinds.
#[test]
fn reference_follows_a_prefix() {
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {}\n";
    let pod = |kind: &str, spec: &str| {
        format!("{kind}\nmetadata: {{name: user, namespace: shop}}\nspec: {spec}\n")
    };
    let volumes = "{volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}";
    let job = pod(
        "apiVersion: batch/v1\nkind: Job",
        &format!("{{template: {{spec: {volumes}}}}}"),
    );
    let both = delivered() + &format!("== web/claim.yaml\n{claim}== web/user.yaml\n{job}");
    let of = |list: &str, more: &str| {
        format!("== web/kustomization.yaml\nresources: [a.yaml, {list}]\n{more}")
    };
    let message = |base: &str, head: &str| {
        let document = compared(&both, base, head);
        let findings = document["findings"].as_array().expect("a list").clone();
        let found = findings.iter().find(|one| one["rule"] == "volume-removed");
        let text = |key: &str| {
            found.expect("a finding")[key]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        format!("{}: {}", text("severity"), text("message"))
    };
    let base = of("claim.yaml, user.yaml", "");
    assert_eq!(
        message(&base, &of("claim.yaml, user.yaml", "namePrefix: b-\n")),
        "warning: renaming PersistentVolumeClaim `data` to `b-data` deletes its volume, unless it \
         is retained"
    );
    assert_eq!(
        message(&base, &of("user.yaml", "")),
        "error: removing PersistentVolumeClaim `data` deletes its volume, unless it is retained; \
         head still uses it"
    );
}

/// kustomize updates the name and the namespace of a Service in webhooks.
#[test]
fn webhook_follows_a_prefix_and_a_namespace() {
    let server = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: server, namespace: system}\nspec:\n  \
                  selector: {matchLabels: {app: server}}\n  template: {metadata: {labels: {app: server}}}\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: system}\n\
                   spec: {selector: {app: server}}\n";
    let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: hook}\n\
                   webhooks:\n- {name: a.example.org, failurePolicy: Fail, rules: [{apiGroups: [''], apiVersions: [v1], \
                   operations: [DELETE], resources: [pods]}], clientConfig: {service: {name: hook, namespace: system}}}\n";
    let both = delivered()
        + &format!(
            "== base/server.yaml\n{server}== base/service.yaml\n{service}== base/webhook.yaml\n{webhook}"
        );
    let of = |list: &str| {
        format!(
            "== base/kustomization.yaml\nresources: [service.yaml, webhook.yaml{list}]\n\
             == web/kustomization.yaml\nresources: [a.yaml, ../base]\nnamespace: prod\nnamePrefix: p-\n"
        )
    };
    let document = compared(&both, &of(", server.yaml"), &of(""));
    let findings = document["findings"].as_array().expect("a list").iter();
    let rules: Vec<&str> = findings.filter_map(|one| one["rule"].as_str()).collect();
    assert_eq!(rules, ["webhook-backend-removed"]);
}
