//! Diagnostics, hovers and completions that depend on more than the findings of a file.

use serde_json::{Value, json};

use super::client::Client;

const SYNC: &str = "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: 'ssh://git@example.com/shop', ref: {branch: main}, interval: 1m}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters, prune: true, interval: 10m, sourceRef: {kind: GitRepository, name: flux-system}}
";

const APPS: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./app
  prune: true
  interval: 10m
  sourceRef: {kind: GitRepository, name: flux-system}
";

const WEB: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n";

/// Returns the line and the message of each diagnostic of a file that no rule is about.
fn without_rule(client: &mut Client, path: &str) -> Vec<(u64, String)> {
    let uri = client.uri(path);
    let params = client.notification("textDocument/publishDiagnostics", |params| {
        params["uri"] == json!(uri)
    });
    let diagnostics = params["diagnostics"].as_array().expect("a list").iter();
    let diagnostics = diagnostics.filter(|one| one["code"].is_null());
    let shown = diagnostics.map(|one| {
        let line = one["range"]["start"]["line"].as_u64().expect("a line");
        let message = one["message"].as_str().expect("a message");
        (line, message.to_owned())
    });
    shown.collect()
}

#[test]
fn missing_entry_of_kustomization_is_shown_at_its_line() {
    let text = "resources:\n  - web.yaml\n  - gone.yaml\n";
    let files = [("apps/kustomization.yaml", text), ("apps/web.yaml", WEB)];
    let mut client = Client::open_all(&files);
    let missing = "`gone.yaml` does not exist, so kustomize builds nothing of this folder";
    assert_eq!(
        without_rule(&mut client, "apps/kustomization.yaml"),
        [(2, missing.to_owned())]
    );
    client.edit("apps/kustomization.yaml", "resources:\n  - web.yaml\n");
    assert_eq!(without_rule(&mut client, "apps/kustomization.yaml"), []);
    client.end();
}

#[test]
fn missing_folder_of_flux_kustomization_is_shown_at_its_path() {
    let files = [
        ("clusters/sync.yaml", SYNC),
        ("clusters/apps.yaml", APPS),
        ("apps/web.yaml", WEB),
    ];
    let mut client = Client::open_all(&files);
    let missing = "this folder does not exist in the repository, so Flux applies nothing of it";
    assert_eq!(
        without_rule(&mut client, "clusters/apps.yaml"),
        [(4, missing.to_owned())]
    );
    client.edit("clusters/apps.yaml", &APPS.replace("./app", "./apps"));
    assert_eq!(without_rule(&mut client, "clusters/apps.yaml"), []);
    client.end();
}

#[test]
fn hover_on_a_name_says_what_its_deletion_deletes() {
    let scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web, namespace: shop}\nspec: {scaleTargetRef: {name: web}}\n";
    let mut client = Client::open_all(&[("scaled.yaml", scaled)]);
    let [name, kind] =
        ["web, namespace", "ScaledObject"].map(|at| client.hover("scaled.yaml", scaled, at));
    assert!(name.starts_with("Deleting `ScaledObject"), "{name}");
    assert_eq!(name, kind);
    client.end();
}

#[test]
fn annotations_that_ignore_rules_are_offered_last() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    ";
    let mut client = Client::open_all(&[("new.yaml", text)]);
    let params = json!({
        "textDocument": {"uri": client.uri("new.yaml")},
        "position": {"line": 5, "character": 4},
    });
    let items = client.request("textDocument/completion", params);
    let items = items.as_array().expect("a list").iter();
    let text = |item: &Value, key: &str| item[key].as_str().map(str::to_owned);
    let sorted: Vec<(String, bool)> = items
        .map(|item| {
            let label = text(item, "label").expect("a label");
            let is_ignore = label.starts_with("ignore.ownerlint/");
            (text(item, "sortText").unwrap_or(label), is_ignore)
        })
        .collect();
    assert!(sorted.is_sorted(), "{sorted:?}");
    let first = sorted.iter().position(|(_, is_ignore)| *is_ignore);
    let first = first.expect("they are offered");
    assert!(first > 5 && sorted[first..].iter().all(|(_, is_ignore)| *is_ignore));
    client.end();
}

#[test]
fn limit_of_findings_is_logged_once() {
    let many = "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n---\n".repeat(10_002);
    let mut client = Client::open_all(&[("many.yaml", &many)]);
    let logged = |params: &Value| {
        let message = params["message"].as_str().unwrap_or_default();
        message.contains("found 2 more: at most 10000 findings are reported per rule")
    };
    client.notification("window/logMessage", logged);
    client.edit("many.yaml", &format!("{many}# end\n"));
    client.request("workspace/symbol", json!({"query": "nothing"}));
    let is_log = |message: &lsp_server::Message| match message {
        lsp_server::Message::Notification(it) => it.method == "window/logMessage",
        _ => false,
    };
    assert!(!client.waiting.iter().any(is_log), "once");
    client.end();
}

#[test]
fn opened_folder_has_its_repository_as_context() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: gadgets.example.com\n  \
                      labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: gadgets-1.0.0}\nspec:\n  group: example.com\n  scope: Namespaced\n  \
                      names: {plural: gadgets, kind: Gadget}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n";
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: gadgets, namespace: argocd}\nspec:\n  project: default\n  \
                       source: {repoURL: 'https://git.example.com/shop.git', path: crds, targetRevision: main}\n  \
                       destination: {server: 'https://kubernetes.default.svc', namespace: shop}\n";
    let rules = |marker: &str| {
        let files = [
            ("crds/gadgets.yaml", definition),
            ("argocd/gadgets.yaml", application),
            (marker, ""),
        ];
        let mut client = Client::without_folder(&files);
        let root = json!([{"uri": client.uri("crds"), "name": "crds"}]);
        let greeting = json!({"capabilities": {}, "workspaceFolders": root});
        client.request("initialize", greeting);
        client.notify("initialized", json!({}));
        client.open("crds/gadgets.yaml", definition);
        let rules = client.rules("crds/gadgets.yaml");
        let symbols = client.request("workspace/symbol", json!({"query": ""}));
        assert_eq!(symbols.as_array().map(Vec::len), Some(1), "{symbols}");
        client.end();
        rules
    };
    assert_eq!(rules("notes.txt"), ["crd-without-keep"]);
    assert_eq!(rules(".git/HEAD"), [""; 0]);
}
