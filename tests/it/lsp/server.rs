//! The language server, tested by a client over an in-memory connection.

use std::sync::Arc;

use lsp_server::{Connection, Message, RequestId, Response};
use ownerlint::Session;
use ownerlint::inventory::OnDisk;
use ownerlint::lsp::serve;
use ownerlint::manifest::Object;
use serde_json::{Value, json};

use super::client::Client;
use crate::support::Repository;

const DRIVER: &str = "\
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata:
  name: disk
  ownerReferences:
    - apiVersion: apps/v1
      kind: Deployment
      name: operator
      uid: 1e5a2b7c-0000-4000-8000-000000000001
  namespaze: shop
";
const OWNED: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
  finalizers: [cephcluster.ceph.rook.io]
  ownerReferences:
    - apiVersion: apps/v1
      kind: Deployment
      name: operator
      uid: ''
";
const OWNER: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: operator\n  namespace: shop\n";

const CAKES: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cakes.example.com}
spec:
  group: example.com
  names: {kind: Cake, plural: cakes}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
";

#[test]
fn open_files_get_diagnostics_and_closing_clears_them() {
    let mut client = Client::open_all(&[("driver.yaml", DRIVER)]);
    assert_eq!(
        client.rules("driver.yaml"),
        ["owner-of-cluster-scoped", "metadata-unknown-field"]
    );
    client.notify(
        "textDocument/didClose",
        json!({"textDocument": {"uri": client.uri("driver.yaml")}}),
    );
    assert!(client.rules("driver.yaml").is_empty());
    client.end();
}

#[test]
fn unsaved_edit_updates_diagnostics_of_another_file() {
    let mut client = Client::new(&[("a.yaml", OWNED), ("b.yaml", OWNER)], json!({}));
    client.open("a.yaml", OWNED);
    let whole = client.rules("a.yaml");
    assert!(
        !whole.contains(&"owner-cross-namespace".to_owned()),
        "{whole:?}"
    );
    client.open("b.yaml", OWNER);
    client.edit(
        "b.yaml",
        &OWNER.replace("namespace: shop", "namespace: elsewhere"),
    );
    assert!(
        client
            .rules("a.yaml")
            .contains(&"owner-cross-namespace".to_owned())
    );
    client.edit("b.yaml", OWNER);
    assert_eq!(client.rules("a.yaml"), whole);
    client.end();
}

#[test]
fn hover_shows_owner_finalizer_remover_and_deletions() {
    let mut client = Client::open_all(&[("a.yaml", OWNED), ("b.yaml", OWNER)]);
    let owner = client.hover("a.yaml", OWNED, "operator");
    assert!(
        owner.contains("`Deployment operator` owns `ConfigMap/shop/settings`"),
        "{owner}"
    );
    let finalizer = client.hover("a.yaml", OWNED, "cephcluster");
    assert!(finalizer.contains("by the Rook operator"), "{finalizer}");
    let object = client.hover("b.yaml", OWNER, "operator");
    assert!(
        object.starts_with("Deleting `Deployment.apps/shop/operator` deletes "),
        "{object}"
    );
    assert!(
        object.contains("`ConfigMap/shop/settings` **stays Terminating**"),
        "{object}"
    );
    assert_eq!(
        client.at("textDocument/hover", "b.yaml", OWNER, "metadata"),
        Value::Null
    );
    let dependent = client.hover("a.yaml", OWNED, "settings");
    assert!(
        dependent.ends_with("\n\nOwned by `Deployment.apps/shop/operator`."),
        "{dependent}"
    );
    client.end();
}

#[test]
fn hover_on_owner_reference_explains_collector_lookup() {
    const BLOCKING: &str = "      blockOwnerDeletion: true\n";
    let hover = |dependent: &str, others: &[(&str, &str)]| {
        let mut client = Client::open_all(&[&[("a.yaml", dependent)], others].concat());
        let says = client.hover("a.yaml", dependent, "name: operator");
        let object = client.hover("a.yaml", dependent, "ConfigMap");
        client.end();
        (says, object)
    };
    let says = |dependent: &str, others: &[(&str, &str)]| hover(dependent, others).0;
    let own = &[("b.yaml", OWNER)][..];
    let found = "`Deployment operator` owns `ConfigMap/shop/settings`: when the owner is deleted, the object is deleted ";
    let kept = "the garbage collector never finds the owner, and never deletes the object with it.";
    let driver = |rest: &str| {
        // The test also needs a hover on the kind.
        let text = DRIVER.replace("  namespaze: shop\n", rest);
        let mut client = Client::open_all(&[("a.yaml", &text), ("b.yaml", OWNER)]);
        let said = (
            client.hover("a.yaml", &text, "name: operator"),
            client.hover("a.yaml", &text, "CSIDriver"),
        );
        client.end();
        said
    };
    let (owner, identity) = driver("");
    let expected = "`Deployment operator` is namespaced and `CSIDriver.storage.k8s.io//disk` is cluster-scoped: ";
    assert!(
        owner.starts_with(&format!("{expected}{kept}\n\nDeleting ")),
        "{owner}"
    );
    assert!(!identity.contains("Owned by"), "{identity}");
    let (owner, _) = driver(BLOCKING);
    let waits = " The reference blocks: a Foreground deletion of the owner waits for the object forever.\n\n";
    assert!(
        owner.starts_with(&format!("{expected}{kept}{waits}")),
        "{owner}"
    );

    assert!(
        says(OWNED, own).starts_with(&format!("{found}with it.\n\n")),
        "{}",
        says(OWNED, own)
    );
    let blocking = format!("{OWNED}{BLOCKING}");
    let waits = "with it. A Foreground deletion of the owner waits for the object.\n\n";
    assert!(
        says(&blocking, own).starts_with(&format!("{found}{waits}")),
        "{}",
        says(&blocking, own)
    );
    let literal = OWNED.replace("uid: ''", "uid: 1e5a2b7c-0000-4000-8000-000000000001");
    let literal = says(&literal, own);
    assert!(
        literal.contains("owns `ConfigMap/shop/settings` if it has this uid in the cluster: "),
        "{literal}"
    );
    let second = "    - {apiVersion: v1, kind: ConfigMap, name: second, uid: ''}\n";
    let two = says(&format!("{OWNED}{second}"), own);
    assert!(
        two.starts_with(&format!("{found}once it has no other owner.\n\n")),
        "{two}"
    );

    let elsewhere = OWNER.replace("namespace: shop", "namespace: other");
    let (owner, identity) = hover(OWNED, &[("b.yaml", &elsewhere)]);
    let expected = "`Deployment operator` is in namespace `other`, and the garbage collector looks for it in the namespace of \
                    `ConfigMap/shop/settings`: it treats the owner as deleted. The object is deleted.";
    assert_eq!(owner, expected);
    assert!(!identity.contains("Owned by"), "{identity}");

    let absent = "`Deployment operator` is not in the input. If the cluster has no such owner either, the object is deleted";
    assert_eq!(says(OWNED, &[]), format!("{absent}."));
    assert_eq!(
        says(&format!("{OWNED}{second}"), &[]),
        format!("{absent}, unless it has another owner.")
    );
    let unknown = OWNED.replace("apps/v1", "example.com/v1");
    let doubt = ". It is kept if the cluster does not serve the owner's kind, or if the owner is namespaced and the object is not.";
    assert_eq!(says(&unknown, &[]), format!("{absent}{doubt}"));

    let removed = OWNED.replace("apps/v1", "apps/v1beta1");
    let expected = "The API server does not serve the kind of `Deployment operator`: the garbage collector never decides";
    assert!(
        says(&removed, own).starts_with(expected),
        "{}",
        says(&removed, own)
    );
    let undecided = "    - {apiVersion: apps/v1beta1, kind: Deployment, name: second, uid: ''}\n";
    let undecided = says(&format!("{OWNED}{undecided}"), own);
    let expected = "`Deployment operator` owns `ConfigMap/shop/settings`. The garbage collector never deletes the object, \
                    because it cannot look up another of its owners.\n\n";
    assert!(undecided.starts_with(expected), "{undecided}");
    let itself = OWNED.replace(
        "kind: Deployment\n      name: operator",
        "kind: ConfigMap\n      name: settings # name: operator",
    );
    let itself = itself.replace("apps/v1", "v1");
    let mut client = Client::open_all(&[("a.yaml", &itself)]);
    let said = client.hover("a.yaml", &itself, "name: settings # name");
    let expected =
        "`ConfigMap/shop/settings` names itself as its owner. The reference deletes nothing.";
    assert!(said.starts_with(expected), "{said}");
    client.end();
}

#[test]
fn hover_on_namespace_and_crd_lists_deleted_objects() {
    let cake =
        "apiVersion: example.com/v1\nkind: Cake\nmetadata:\n  name: one\n  namespace: shop\n";
    let mut client =
        Client::open_all(&[("a.yaml", OWNED), ("cake.yaml", cake), ("crd.yaml", CAKES)]);
    // The Namespace is not in the input but is assumed to exist.
    let namespace = client.hover("a.yaml", OWNED, "shop");
    assert!(
        namespace.starts_with("Deleting `Namespace//shop` deletes 1 object; 2 may get stuck."),
        "{namespace}"
    );
    let stuck = "\n- `ConfigMap/shop/settings` **stays Terminating** until a controller removes `cephcluster.ceph.rook.io`;";
    assert!(namespace.contains(stuck), "{namespace}");
    let definition = client.hover("crd.yaml", CAKES, "cakes.example.com");
    assert!(definition.contains("deletes 2 objects"), "{definition}");
    assert!(
        definition.contains("\n- `Cake.example.com/shop/one`"),
        "{definition}"
    );
    client.end();
}

#[test]
fn references_of_namespace_and_crd_list_their_objects() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    let cake = "apiVersion: example.com/v1\nkind: Cake\nmetadata: {name: one, namespace: other}\n";
    let files = [
        ("b.yaml", OWNER),
        ("cake.yaml", cake),
        ("crd.yaml", CAKES),
        ("ns.yaml", namespace),
    ];
    let mut client = Client::open_all(&files);
    let mut found = |path: &str, text: &str, needle: &str| {
        let found = client.at("textDocument/references", path, text, needle);
        let uris = found
            .as_array()
            .expect("a list")
            .iter()
            .map(|place| place["uri"].as_str().expect("a URI").to_owned());
        uris.map(|uri| uri.rsplit('/').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("ns.yaml", namespace, "shop"), ["b.yaml"]);
    assert_eq!(found("crd.yaml", CAKES, "cakes.example.com"), ["cake.yaml"]);
    client.end();
}

#[test]
fn hover_on_application_lists_delivered_objects_and_their_fate() {
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  namespace: argocd
  finalizers: [resources-finalizer.argocd.argoproj.io]
spec:
  project: default
  source: {repoURL: 'https://example.com/git', path: shop}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
";
    let kept = application.replace(
        "  finalizers: [resources-finalizer.argocd.argoproj.io]\n",
        "",
    );
    let says = |application: &str| {
        let mut client = Client::open_all(&[("app.yaml", application), ("shop/b.yaml", OWNER)]);
        let says = client.hover("app.yaml", application, "Application");
        client.end();
        says
    };
    let deleted = says(application);
    let expected =
        "It delivers 1 object in the input, deleted with it:\n- `Deployment.apps/shop/operator`";
    assert!(deleted.contains(expected), "{deleted}");
    assert!(
        says(&kept).contains("kept when it is deleted"),
        "{}",
        says(&kept)
    );
}

#[test]
fn hover_and_lens_use_the_cluster_of_the_object() {
    let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: \
        flux-system}\nspec: {interval: 10m, path: ./apps, prune: true, targetNamespace: shop, sourceRef: {kind: GitRepository, \
        name: flux-system}}\n";
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: left, namespace: shop}\n";
    let mut client = Client::open_all(&[
        ("clusters/prod/apps.yaml", kustomization),
        ("apps/web.yaml", config),
        ("left/kustomization.yaml", "resources: [secret.yaml]\n"),
        ("left/secret.yaml", secret),
    ]);
    assert_eq!(
        client.hover("apps/web.yaml", config, "ConfigMap"),
        "Deleting `ConfigMap/shop/web` deletes 1 object."
    );
    assert_eq!(
        client.hover("left/secret.yaml", secret, "Secret"),
        "Deleting `Secret/shop/left` deletes 1 object. Nothing in the folder applies it."
    );
    let document = json!({"textDocument": {"uri": client.uri("clusters/prod/apps.yaml")}});
    let lenses = client.request("textDocument/codeLens", document);
    let lens = client.request("codeLens/resolve", lenses[0].clone());
    // The Kustomization, and the object that Flux then deletes.
    assert_eq!(lens["command"]["title"], json!("deletes 2 objects"));
    client.end();
}

#[test]
fn hover_counts_unread_documents_that_may_depend_on_object() {
    let owned = "apiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: shop, ownerReferences: [{name: tokens]\n";
    let template = "apiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: {{ .Release.Namespace }}}\n";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: tokens, namespace: shop}\n";
    let other = secret.replace("tokens", "other");
    let mut client = Client::open_all(&[
        ("a.yaml", secret),
        ("b.yaml", &other),
        ("owned.yaml", owned),
        ("template.yaml", template),
    ]);
    let unread = "Not read, because of errors or as templates: ";
    assert_eq!(
        client.hover("a.yaml", secret, "Secret"),
        format!("Deleting `Secret/shop/tokens` deletes 1 object.\n\n{unread}1 document.")
    );
    assert_eq!(
        client.hover("b.yaml", &other, "Secret"),
        "Deleting `Secret/shop/other` deletes 1 object."
    );
    // A Namespace may contain any of them.
    let namespace = client.hover("a.yaml", secret, "shop");
    assert!(
        namespace.ends_with(&format!("{unread}2 documents.")),
        "{namespace}"
    );
    client.end();
}

#[test]
fn definition_finds_owner_in_another_namespace() {
    let owner = OWNER.replace("namespace: shop", "namespace: other");
    let mut client = Client::open_all(&[("a.yaml", OWNED), ("b.yaml", &owner)]);
    let definition = client.at("textDocument/definition", "a.yaml", OWNED, "operator");
    assert_eq!(definition["uri"], json!(client.uri("b.yaml")));
    client.end();
}

#[test]
fn hover_on_default_namespace_says_deletion_is_rejected() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n";
    let mut client = Client::open_all(&[("a.yaml", namespace)]);
    assert_eq!(
        client.hover("a.yaml", namespace, "Namespace"),
        "Deleting `Namespace//default` deletes 0 objects: the API server rejects the request."
    );
    client.end();
}

#[test]
fn definition_and_references_link_owner_and_dependent() {
    let mut client = Client::open_all(&[("a.yaml", OWNED), ("b.yaml", OWNER)]);
    let definition = client.at("textDocument/definition", "a.yaml", OWNED, "operator");
    assert_eq!(definition["uri"], json!(client.uri("b.yaml")));
    assert_eq!(
        definition["range"]["start"],
        json!({"line": 3, "character": 8})
    );
    let references = client.at("textDocument/references", "b.yaml", OWNER, "operator");
    assert_eq!(references.as_array().map(Vec::len), Some(1), "{references}");
    assert_eq!(references[0]["uri"], json!(client.uri("a.yaml")));
    client.end();
}

#[test]
fn hover_on_claim_counts_its_volume_and_data() {
    let volume = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk}\nspec:\n  \
        persistentVolumeReclaimPolicy: Delete\n  claimRef: {namespace: shop, name: data}\n";
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec:\n  \
        volumeName: disk\n";
    let mut client = Client::open_all(&[("claim.yaml", claim), ("volume.yaml", volume)]);
    assert_eq!(
        client.hover("claim.yaml", claim, "PersistentVolumeClaim"),
        "Deleting `PersistentVolumeClaim/shop/data` deletes 2 objects, 2 of them with data.\n- `PersistentVolume//disk`"
    );
    client.end();
}

#[test]
fn objects_have_symbols_and_a_deletion_lens() {
    let mut client = Client::open_all(&[("a.yaml", OWNED), ("b.yaml", OWNER)]);
    let document = json!({"textDocument": {"uri": client.uri("b.yaml")}});
    let symbols = client.request("textDocument/documentSymbol", document.clone());
    assert_eq!(symbols[0]["detail"], json!("Deployment.apps/shop/operator"));
    let found = client.request("workspace/symbol", json!({"query": "SETT"}));
    assert_eq!(found[0]["name"], json!("ConfigMap/shop/settings"));
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    let lenses = client.request("textDocument/codeLens", document);
    let lens = client.request("codeLens/resolve", lenses[0].clone());
    assert_eq!(
        lens["command"]["title"],
        json!("deletes 3 objects; 1 may get stuck")
    );
    client.end();
}

#[test]
fn suppress_action_removes_the_finding() {
    let mut client = Client::open_all(&[("driver.yaml", DRIVER)]);
    let uri = client.uri("driver.yaml");
    let shown = client.notification("textDocument/publishDiagnostics", |params| {
        params["uri"] == json!(uri)
    });
    let diagnostic = &shown["diagnostics"][0];
    let actions = client.actions(
        "driver.yaml",
        &diagnostic["range"],
        json!({"diagnostics": [diagnostic]}),
    );
    let titles: Vec<_> = actions
        .iter()
        .map(|action| action["title"].clone())
        .collect();
    assert_eq!(
        titles,
        [
            "remove the reference",
            "Suppress owner-of-cluster-scoped here, with a reason",
            "Open the page of owner-of-cluster-scoped"
        ]
    );
    let edit = &actions[1]["edit"]["changes"][&uri][0];
    let line = edit["range"]["start"]["line"].as_u64().expect("a line") as usize;
    let lines: Vec<_> = DRIVER.split_inclusive('\n').collect();
    let text =
        lines[..line].concat() + edit["newText"].as_str().expect("text") + &lines[line..].concat();
    client.edit("driver.yaml", &text);
    assert_eq!(client.rules("driver.yaml"), ["metadata-unknown-field"]);
    client.end();
}

#[test]
fn fix_action_removes_the_finding() {
    let mut client = Client::open_all(&[("driver.yaml", DRIVER)]);
    let uri = client.uri("driver.yaml");
    let shown = client.notification("textDocument/publishDiagnostics", |params| {
        params["uri"] == json!(uri)
    });
    let diagnostic = &shown["diagnostics"][1];
    assert_eq!(diagnostic["code"], json!("metadata-unknown-field"));
    // Some editors send diagnostics without their data, or none: only the range counts.
    let actions = client.actions(
        "driver.yaml",
        &diagnostic["range"],
        json!({"diagnostics": []}),
    );
    let fix = &actions[0];
    assert_eq!(
        (&fix["kind"], &fix["isPreferred"]),
        (&json!("quickfix"), &json!(true)),
        "{fix}"
    );
    let edit = &fix["edit"]["changes"][&uri][0];
    let place = |end: &str| edit["range"][end]["character"].as_u64().expect("a column") as usize;
    let line = edit["range"]["start"]["line"].as_u64().expect("a line") as usize;
    let mut lines: Vec<String> = DRIVER.lines().map(|line| format!("{line}\n")).collect();
    lines[line].replace_range(
        place("start")..place("end"),
        edit["newText"].as_str().expect("text"),
    );
    assert_eq!(lines[line], "  namespace: shop\n");
    client.edit("driver.yaml", &lines.concat());
    assert!(
        !client
            .rules("driver.yaml")
            .contains(&"metadata-unknown-field".to_owned())
    );
    client.end();
}

#[test]
fn request_for_other_code_action_kinds_returns_none() {
    let mut client = Client::open_all(&[("driver.yaml", DRIVER)]);
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let offered = |client: &mut Client, only: &str| {
        let context = json!({"diagnostics": [], "only": [only]});
        client.actions("driver.yaml", &whole, context).len()
    };
    assert_eq!(offered(&mut client, "source.organizeImports"), 0);
    assert_eq!(offered(&mut client, "quickfix"), 6);
    client.end();
}

#[test]
fn suppression_uses_the_line_ending_of_the_file() {
    let text = DRIVER.replace('\n', "\r\n");
    let mut client = Client::open_all(&[("driver.yaml", &text)]);
    let line = json!({"start": {"line": 9, "character": 2}, "end": {"line": 9, "character": 2}});
    let actions = client.actions("driver.yaml", &line, json!({"diagnostics": []}));
    let edit = &actions[1]["edit"]["changes"][&client.uri("driver.yaml")][0]["newText"];
    assert_eq!(
        edit,
        "  # ownerlint: ignore[metadata-unknown-field] TODO: say why\r\n"
    );
    client.end();
}

#[test]
fn request_after_edit_does_not_suppress_diagnostics() {
    let mut client = Client::open_all(&[("driver.yaml", DRIVER)]);
    assert_eq!(client.rules("driver.yaml").len(), 2);
    client.edit("driver.yaml", &DRIVER.replace("namespaze", "namespace"));
    client.request(
        "textDocument/documentSymbol",
        json!({"textDocument": {"uri": client.uri("driver.yaml")}}),
    );
    assert_eq!(
        client.rules("driver.yaml"),
        ["owner-of-cluster-scoped", "namespace-on-cluster-scoped"]
    );
    client.end();
}

#[test]
fn unsaved_crd_edit_updates_diagnostics_of_instances() {
    let cake = "apiVersion: example.com/v1\nkind: Cake\nmetadata: {name: one, namespace: shop}\n";
    let mut client = Client::open_all(&[("crd.yaml", CAKES), ("cake.yaml", cake)]);
    assert!(client.rules("cake.yaml").is_empty());
    client.edit("crd.yaml", &CAKES.replace("Namespaced", "Cluster"));
    assert_eq!(client.rules("cake.yaml"), ["namespace-on-cluster-scoped"]);
    client.end();
}

#[test]
fn open_page_command_accepts_only_project_urls() {
    let mut client = Client::new(
        &[("b.yaml", OWNER)],
        json!({"window": {"showDocument": {"support": true}}}),
    );
    let page = format!(
        "{}/blob/main/docs/rules/owner-cycle.md",
        env!("CARGO_PKG_REPOSITORY")
    );
    client.request(
        "workspace/executeCommand",
        json!({"command": "ownerlint.openPage", "arguments": [page]}),
    );
    let shown = client.take(|message| match message {
        Message::Request(request) if request.method == "window/showDocument" => {
            Some(request.params.clone())
        }
        _ => None,
    });
    assert_eq!(shown["uri"], json!(page));
    let elsewhere = json!({"command": "ownerlint.openPage", "arguments": ["https://example.com/"]});
    let id = client.ask("workspace/executeCommand", elsewhere);
    assert!(client.response(&id).error.is_some());
    client.end();
}

#[test]
fn changed_configuration_is_applied_and_its_errors_are_shown() {
    let mut client = Client::open_all(&[("driver.yaml", DRIVER)]);
    assert_eq!(client.rules("driver.yaml").len(), 2);
    let config = client.folder.path().join("ownerlint.yaml");
    let changed = json!({"changes": [{"uri": client.uri("ownerlint.yaml"), "type": 1}]});
    std::fs::write(
        &config,
        "version: 1\nrules: {metadata-unknown-field: {severity: off}}\n",
    )
    .expect("a file");
    client.notify("workspace/didChangeWatchedFiles", changed.clone());
    assert_eq!(client.rules("driver.yaml"), ["owner-of-cluster-scoped"]);
    std::fs::write(&config, "version: 1\nrulez: {}\n").expect("a file");
    client.notify("workspace/didChangeWatchedFiles", changed);
    let said = client.notification("window/showMessage", |_| true);
    assert!(
        said["message"]
            .as_str()
            .is_some_and(|message| message.contains("rulez")),
        "{said}"
    );
    client.end();
}

#[test]
fn unsaved_configuration_errors_are_diagnosed_in_place() {
    let config = "version: 1\nrules: {metadata-unknown-field: {severity: off}}\n";
    let mut client = Client::open_all(&[("driver.yaml", DRIVER), ("ownerlint.yaml", config)]);
    assert_eq!(client.rules("driver.yaml"), ["owner-of-cluster-scoped"]);
    let uri = client.uri("ownerlint.yaml");
    let shown = |client: &mut Client| {
        client.notification("textDocument/publishDiagnostics", |params| {
            params["uri"] == json!(uri)
        })["diagnostics"]
            .take()
    };
    assert_eq!(shown(&mut client), json!([]));
    client.edit("ownerlint.yaml", &config.replace("rules", "# 😀\nrulez"));
    let mistakes = shown(&mut client);
    let place = json!({"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 5}});
    assert_eq!(
        (&mistakes[0]["range"], &mistakes[0]["severity"]),
        (&place, &json!(1)),
        "{mistakes}"
    );
    let message = mistakes[0]["message"].as_str().expect("text");
    assert!(
        message.contains("unknown key `rulez`") && message.ends_with("did you mean `rules`?"),
        "{message}"
    );
    // Meanwhile, other answers stay available, and unsaved text counts.
    let symbols = client.request("workspace/symbol", json!({"query": "CSIDriver"}));
    assert_eq!(symbols.as_array().map(Vec::len), Some(1));
    client.edit("ownerlint.yaml", "version: 1\n");
    assert_eq!(shown(&mut client), json!([]));
    assert_eq!(
        client.rules("driver.yaml"),
        ["owner-of-cluster-scoped", "metadata-unknown-field"]
    );
    client.end();
}

#[test]
fn errors_in_closed_configuration_are_shown_and_cleared() {
    let mut client = Client::new(
        &[
            ("driver.yaml", DRIVER),
            ("ownerlint.yaml", "exclude: ['[']\n"),
        ],
        json!({}),
    );
    client.open("driver.yaml", DRIVER);
    let uri = client.uri("ownerlint.yaml");
    let shown = |client: &mut Client| {
        client.notification("textDocument/publishDiagnostics", |params| {
            params["uri"] == json!(uri)
        })["diagnostics"]
            .take()
    };
    let message = |mistakes: Value| mistakes[0]["message"].as_str().expect("text").to_owned();
    assert!(message(shown(&mut client)).contains("has no `version`"));
    let write = |client: &mut Client, text: &str| {
        std::fs::write(client.folder.path().join("ownerlint.yaml"), text).expect("a file");
        let changed = json!({"changes": [{"uri": uri, "type": 2}]});
        client.notify("workspace/didChangeWatchedFiles", changed);
    };
    write(&mut client, "version: 1\nexclude: [a, '[']\n");
    let mistakes = shown(&mut client);
    assert_eq!(
        mistakes[0]["range"]["start"],
        json!({"line": 1, "character": 13})
    );
    assert!(message(mistakes).contains("has a malformed glob"));
    write(&mut client, "version: 1\n");
    assert_eq!(shown(&mut client), json!([]));
    assert_eq!(client.rules("driver.yaml").len(), 2);
    client.end();
}

#[test]
fn unused_configured_suppression_is_diagnosed_in_place() {
    let config = "version: 1\nrules:\n  owner-cycle:\n    ignore: [{object: 'Deployment.apps/shop/*', reason: none}]\n";
    let mut client = Client::open_all(&[("ownerlint.yaml", config), ("b.yaml", OWNER)]);
    assert_eq!(client.rules("ownerlint.yaml"), ["suppression-unused"]);
    client.end();
}

/// Applies the only edit of a list to a text; both are ASCII.
fn applied(text: &str, edits: &Value) -> String {
    assert_eq!(edits.as_array().map(Vec::len), Some(1), "{edits}");
    let offset = |place: &Value| {
        let (line, column) = (
            place["line"].as_u64().expect("a line"),
            place["character"].as_u64().expect("a column"),
        );
        text.split_inclusive('\n')
            .take(line as usize)
            .map(str::len)
            .sum::<usize>()
            + column as usize
    };
    let edit = &edits[0];
    let (start, end) = (
        offset(&edit["range"]["start"]),
        offset(&edit["range"]["end"]),
    );
    format!(
        "{}{}{}",
        &text[..start],
        edit["newText"].as_str().expect("text"),
        &text[end..]
    )
}

#[test]
fn fix_all_action_applies_all_safe_fixes_of_a_file() {
    let text = DRIVER.replace(
        "  namespaze: shop\n",
        "  lables: {a: b}\n  namespace: shop\n",
    );
    let mut client = Client::open_all(&[("driver.yaml", &text), ("other.yaml", DRIVER)]);
    client.rules("driver.yaml");
    let start = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let ask = |client: &mut Client, only: &str| {
        client.actions(
            "driver.yaml",
            &start,
            json!({"diagnostics": [], "only": [only]}),
        )
    };
    for only in ["source.fixAll", "source", "source.fixAll.ownerlint"] {
        let actions = ask(&mut client, only);
        let kinds: Vec<_> = actions
            .iter()
            .map(|action| action["kind"].clone())
            .collect();
        assert_eq!(kinds, ["source.fixAll.ownerlint"], "{only}");
        let changes = actions[0]["edit"]["changes"].as_object().expect("changes");
        // The suggested removal of the reference is not included.
        assert_eq!(
            changes.keys().collect::<Vec<_>>(),
            [&client.uri("driver.yaml")]
        );
        let fixed = text
            .replace("lables", "labels")
            .replace("  namespace: shop\n", "");
        assert_eq!(applied(&text, &changes[&client.uri("driver.yaml")]), fixed);
    }
    assert!(ask(&mut client, "source.fixAll.other").is_empty());
    // It is not offered at a position either.
    let offered = client.actions("driver.yaml", &start, json!({"diagnostics": []}));
    assert!(
        offered.iter().all(|action| action["kind"] == "quickfix"),
        "{offered:?}"
    );
    client.end();
}

#[test]
fn edit_rereads_files_only_if_the_editor_does_not_watch_them() {
    let watches = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    for (capabilities, read) in [(watches, false), (json!({}), true)] {
        let mut client = Client::new(&[("a.yaml", OWNED), ("b.yaml", OWNER)], capabilities);
        client.open("a.yaml", OWNED);
        let whole = client.rules("a.yaml");
        let elsewhere = OWNER.replace("namespace: shop", "namespace: elsewhere");
        std::fs::write(client.folder.path().join("b.yaml"), elsewhere).expect("a file");
        client.edit("a.yaml", &OWNED.replace("kind: ConfigMap", "kind: Secret"));
        let edited = client.rules("a.yaml");
        assert_eq!(
            edited.contains(&"owner-cross-namespace".to_owned()),
            read,
            "{edited:?}"
        );
        let changed = json!({"changes": [{"uri": client.uri("b.yaml"), "type": 2}]});
        client.notify("workspace/didChangeWatchedFiles", changed);
        client.edit("a.yaml", OWNED);
        let watched = client.rules("a.yaml");
        assert!(
            watched.contains(&"owner-cross-namespace".to_owned()),
            "{watched:?}, not {whole:?}"
        );
        client.end();
    }
}

#[test]
fn cancelled_request_gets_a_cancelled_error() {
    let mut client = Client::open_all(&[("b.yaml", OWNER)]);
    // The first request takes as long as reading the folder, and the second is cancelled meanwhile.
    let first = client.ask("workspace/symbol", json!({"query": ""}));
    let second = client.ask("workspace/symbol", json!({"query": ""}));
    assert_eq!(second, RequestId::from(3));
    client.notify("$/cancelRequest", json!({"id": 3}));
    assert!(client.response(&first).error.is_none());
    assert_eq!(
        client.response(&second).error.map(|error| error.code),
        Some(-32800)
    );
    client.end();
}

#[test]
fn requests_after_shutdown_fail_and_exit_without_it_is_unclean() {
    let mut client = Client::new(&[("b.yaml", OWNER)], json!({}));
    client.request("shutdown", Value::Null);
    let late = client.ask("workspace/symbol", json!({"query": ""}));
    assert_eq!(
        client.response(&late).error.map(|error| error.code),
        Some(-32600)
    );
    client.notify("exit", Value::Null);
    assert!(client.server.join().expect("no panic").expect("an end"));
    let client = Client::new(&[("b.yaml", OWNER)], json!({}));
    client.notify("exit", Value::Null);
    assert!(!client.server.join().expect("no panic").expect("an end"));
}

#[test]
fn columns_use_the_negotiated_position_encoding() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {x: '😀'}, namespaze: b}\n";
    let column = |capabilities: Value| {
        let mut client = Client::new(&[("e.yaml", text)], capabilities);
        client.open("e.yaml", text);
        let shown = client.notification("textDocument/publishDiagnostics", |_| true);
        client.end();
        shown["diagnostics"][0]["range"]["start"].clone()
    };
    let line = text.lines().nth(2).expect("a line");
    let before = &line[..line.find("namespaze").expect("it is there")];
    let (utf16, utf8) = (before.encode_utf16().count(), before.len());
    assert_eq!(column(json!({})), json!({"line": 2, "character": utf16}));
    let general = json!({"general": {"positionEncodings": ["utf-16", "utf-8"]}});
    assert_eq!(column(general), json!({"line": 2, "character": utf8}));
}

#[test]
fn symbols_are_found_among_two_thousand_documents() {
    let objects = (0..2000).map(|at| {
        format!(
            "---\n{}",
            OWNER.replace("operator", &format!("operator-{at}"))
        )
    });
    let many: String = objects.collect();
    let mut client = Client::new(
        &[("many.yaml", &many), ("a.yaml", OWNED), ("b.yaml", OWNER)],
        json!({}),
    );
    client.open("a.yaml", OWNED);
    client.rules("a.yaml");
    let definition = client.at("textDocument/definition", "a.yaml", OWNED, "operator");
    assert_eq!(definition["uri"], json!(client.uri("b.yaml")));
    assert_eq!(
        client
            .request("workspace/symbol", json!({"query": "operator-1999"}))
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    client.end();
}

#[test]
fn hover_escapes_hostile_names() {
    let text = OWNER.replace("name: operator", "name: \"a`**b**\\u001b[31m\\u202e\"");
    let mut client = Client::open_all(&[("b.yaml", &text)]);
    let hover = client.at("textDocument/hover", "b.yaml", &text, "Deployment");
    let shown = hover["contents"]["value"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(
        shown.contains("`Deployment.apps/shop/a'**b**␛[31m\u{fffd}`"),
        "{shown}"
    );
    client.end();
}

#[test]
fn file_without_workspace_folder_gets_diagnostics() {
    let mut client = Client::without_folder(&[("d r.yaml", DRIVER)]);
    client.request("initialize", json!({"capabilities": {}}));
    client.notify("initialized", json!({}));
    client.open("d%20r.yaml", DRIVER);
    assert_eq!(client.rules("d%20r.yaml").len(), 2);
    client.end();
}

#[test]
fn without_workspace_folder_only_siblings_are_read() {
    let files = [
        ("new.yaml", OWNER),
        ("a.yaml", OWNED),
        ("below/b.yaml", OWNED),
    ];
    let mut client = Client::without_folder(&files);
    // The file exists only in the editor.
    std::fs::remove_file(client.folder.path().join("new.yaml")).expect("a file");
    client.request("initialize", json!({"capabilities": {}}));
    client.notify("initialized", json!({}));
    client.open("new.yaml", OWNER);
    let found = client.request("workspace/symbol", json!({"query": ""}));
    let names: Vec<&str> = found
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|symbol| symbol["location"]["uri"].as_str()?.rsplit_once('/'))
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["a.yaml", "new.yaml"]);
    client.end();
}

#[test]
fn unchanged_file_is_not_parsed_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.yaml"), OWNED).expect("a file");
    std::fs::write(path("b.yaml"), OWNER).expect("a file");
    let request = ownerlint::Request::new([folder.path().display().to_string()]);
    let objects = |session: &Session| -> Vec<*const Object> {
        session.bundles()[0]
            .inventory
            .members
            .iter()
            .map(|member| Arc::as_ptr(&member.object))
            .collect()
    };
    let first = Session::open(&request).expect("a session");
    std::fs::write(path("b.yaml"), format!("{OWNER}# changed\n")).expect("a file");
    let second = Session::open_after(Some(&first), OnDisk::MayDiffer, &request).expect("a session");
    let (first, second) = (objects(&first), objects(&second));
    assert_eq!(first[0], second[0]);
    assert_ne!(first[1], second[1]);
}

#[test]
fn handshake_survives_unexpected_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let (connection, other) = Connection::memory();
    let server = std::thread::spawn(move || serve(&other));
    let mut client = Client {
        connection,
        server,
        folder,
        asked: 0,
        waiting: Vec::new(),
    };
    client.send(Response::new_ok(
        RequestId::from("nobody asked".to_owned()),
        Value::Null,
    ));
    client.notify("textDocument/didOpen", json!([]));
    let id = client.ask("textDocument/hover", json!({}));
    assert_eq!(
        client.response(&id).error.map(|error| error.code),
        Some(-32002)
    );
    let id = client.ask("initialize", json!({"capabilities": 5}));
    assert_eq!(
        client.response(&id).error.map(|error| error.code),
        Some(-32602)
    );
    client.request("initialize", json!({"capabilities": {}}));
    // The next message need not be `initialized`.
    client.notify("textDocument/didChange", json!({"nonsense": true}));
    let id = client.ask("textDocument/hover", json!({"nonsense": true}));
    assert_eq!(
        client.response(&id).error.map(|error| error.code),
        Some(-32602)
    );
    client.notify("initialized", json!({}));
    client.end();
}

#[test]
fn malformed_message_does_not_end_server() {
    let folder = Repository::new();
    folder.write("b.yaml", OWNER);
    let frame = |message: &str| format!("Content-Length: {}\r\n\r\n{message}", message.len());
    let root = format!("file://{}", folder.path().display());
    let input = [
        "Content-Length: many\r\n\r\n".to_owned(),
        frame(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "rootUri": root}}).to_string()),
        frame("{\"jsonrpc\": \"2.0\", "),
        frame(r#"{"jsonrpc":"2.0","id":2,"method":[]}"#),
        frame(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#),
        frame(r#"{"jsonrpc":"2.0","id":3,"method":"workspace/symbol","params":{"query":""}}"#),
        frame(r#"{"jsonrpc":"2.0","id":4,"method":"shutdown"}"#),
        frame(r#"{"jsonrpc":"2.0","method":"exit"}"#),
    ];
    let (status, out, error) = folder.run(&["lsp"], &input.concat());
    assert_eq!(status, 0, "{out}{error}");
    let codes: Vec<_> = out
        .matches("\"code\":-32700")
        .chain(out.matches("\"code\":-32600"))
        .collect();
    assert_eq!(codes.len(), 3, "{out}");
    assert!(out.contains("\"id\":3,\"result\":[{"), "{out}");
}

#[test]
fn invalid_params_and_unknown_methods_get_errors() {
    let mut client = Client::new(&[("b.yaml", OWNER)], json!({}));
    let id = client.ask("textDocument/hover", json!({"nonsense": true}));
    assert_eq!(
        client.response(&id).error.map(|error| error.code),
        Some(-32602)
    );
    let id = client.ask("textDocument/unknown", json!({}));
    assert_eq!(
        client.response(&id).error.map(|error| error.code),
        Some(-32601)
    );
    client.end();
}

/// A Pod that mounts a ConfigMap.
const POD: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers: [{name: web, image: nginx}]
  volumes:
    - name: data
      configMap:
        name: settings
";

fn folder(client: &Client, name: &str) -> Value {
    json!({"uri": client.uri(name), "name": name})
}

#[test]
fn workspace_folders_use_their_own_configurations() {
    let off = "version: 1\nrules: {metadata-unknown-field: {severity: off}}\n";
    let files = [
        ("one/a.yaml", DRIVER),
        ("two/a.yaml", DRIVER),
        ("two/ownerlint.yaml", off),
    ];
    let mut client = Client::without_folder(&files);
    let folders = json!([folder(&client, "one"), folder(&client, "two")]);
    client.request(
        "initialize",
        json!({"capabilities": {}, "workspaceFolders": folders}),
    );
    client.notify("initialized", json!({}));
    client.open("one/a.yaml", DRIVER);
    client.open("two/a.yaml", DRIVER);
    let (one, two) = (client.rules("one/a.yaml"), client.rules("two/a.yaml"));
    assert!(one.len() > two.len(), "{one:?} {two:?}");
    let found = client.request("workspace/symbol", json!({"query": "disk"}));
    assert_eq!(found.as_array().map(Vec::len), Some(2), "{found}");
    client.end();
}

#[test]
fn open_document_moves_to_added_workspace_folder() {
    let off = "version: 1\nrules: {metadata-unknown-field: {severity: off}}\n";
    let files = [
        ("two/a.yaml", DRIVER),
        ("two/ownerlint.yaml", off),
        ("one/b.yaml", OWNER),
    ];
    let mut client = Client::without_folder(&files);
    let folders = json!([folder(&client, "one")]);
    client.request(
        "initialize",
        json!({"capabilities": {}, "workspaceFolders": folders}),
    );
    client.notify("initialized", json!({}));
    client.open("two/a.yaml", DRIVER);
    let alone = client.rules("two/a.yaml");
    // Neovim 0.7 sends an empty array as an entry.
    let removed = [json!([]), folder(&client, "one")];
    let change = json!({"added": [folder(&client, "two")], "removed": removed});
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": change}),
    );
    assert!(client.rules("two/a.yaml").is_empty(), "withdrawn");
    assert_eq!(client.rules("two/a.yaml"), alone);
    let found = client.request("workspace/symbol", json!({"query": "operator"}));
    assert_eq!(found.as_array().map(Vec::len), Some(0), "{found}");
    client.end();
}

#[test]
fn untitled_document_is_checked_alone() {
    let mut client = Client::open_all(&[("a.yaml", OWNED), ("b.yaml", OWNER)]);
    // The second URI is that of an unnamed buffer in Neovim.
    for uri in ["untitled:Untitled-1", "file://"] {
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": DRIVER});
        client.notify("textDocument/didOpen", json!({"textDocument": document}));
        let shown = client.notification("textDocument/publishDiagnostics", |params| {
            params["uri"] == json!(uri)
        });
        assert_eq!(
            shown["diagnostics"].as_array().map(Vec::len),
            Some(2),
            "{shown}"
        );
        let document = json!({"textDocument": {"uri": uri}});
        let symbols = client.request("textDocument/documentSymbol", document.clone());
        assert_eq!(symbols[0]["name"], json!("disk"));
        client.notify("textDocument/didClose", document.clone());
        let shown = client.notification("textDocument/publishDiagnostics", |params| {
            params["uri"] == json!(uri)
        });
        assert_eq!(shown["diagnostics"], json!([]));
        assert_eq!(
            client.request("textDocument/documentSymbol", document),
            Value::Null
        );
    }
    client.end();
}

#[test]
fn excluded_file_gets_no_diagnostics() {
    let files = [
        ("ownerlint.yaml", "exclude: [out/**]\n"),
        ("out/a.yaml", DRIVER),
    ];
    let mut client = Client::open_all(&files);
    let document = json!({"textDocument": {"uri": client.uri("out/a.yaml")}});
    assert_eq!(
        client.request("textDocument/documentSymbol", document),
        Value::Null
    );
    let uri = json!(client.uri("out/a.yaml"));
    let is_about_it = |message: &&Message| matches!(message, Message::Notification(it) if it.params["uri"] == uri);
    assert_eq!(client.waiting.iter().find(is_about_it).map(|_| ()), None);
    client.end();
}

#[test]
fn definition_of_a_use_is_the_used_object() {
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n";
    let mut client = Client::open_all(&[("pod.yaml", POD), ("settings.yaml", settings)]);
    let needle = "settings";
    let definition = client.at("textDocument/definition", "pod.yaml", POD, needle);
    assert_eq!(definition["uri"], json!(client.uri("settings.yaml")));
    assert_eq!(
        client.hover("pod.yaml", POD, needle),
        "`ConfigMap/shop/settings` is used by `Pod/shop/web`.\n\nDeleting `ConfigMap/shop/settings` deletes 1 object."
    );
    client.end();
}

#[test]
fn code_lens_command_opens_the_plan_page() {
    let files = [("a.yaml", OWNED), ("b.yaml", OWNER)];
    let mut client = Client::new(
        &files,
        json!({"window": {"showDocument": {"support": true}}}),
    );
    client.open("b.yaml", OWNER);
    let document = json!({"textDocument": {"uri": client.uri("b.yaml")}});
    let lenses = client.request("textDocument/codeLens", document);
    let lens = client.request("codeLens/resolve", lenses[0].clone());
    let (command, arguments) = (&lens["command"]["command"], &lens["command"]["arguments"]);
    client.request(
        "workspace/executeCommand",
        json!({"command": command, "arguments": arguments}),
    );
    let shown = client.take(|message| match message {
        Message::Request(it) if it.method == "window/showDocument" => Some(it.params.clone()),
        _ => None,
    });
    assert_eq!(shown["external"], json!(true));
    let uri = shown["uri"].as_str().expect("an address");
    let page =
        std::fs::read_to_string(uri.strip_prefix("file://").expect("a file")).expect("a page");
    assert!(page.contains("ConfigMap/shop/settings"), "{page}");
    client.end();
}

/// Returns the labels of the completions at the end of `text`.
fn offered(files: &[(&str, &str)], text: &str) -> Vec<String> {
    let mut client = Client::open_all(files);
    client.open("new.yaml", text);
    let line = text.matches('\n').count();
    let character = text.rsplit('\n').next().unwrap_or_default().len();
    let params = json!({
        "textDocument": {"uri": client.uri("new.yaml")},
        "position": {"line": line, "character": character},
    });
    let items = client.request("textDocument/completion", params);
    client.end();
    let items = items.as_array().cloned().unwrap_or_default();
    items
        .iter()
        .map(|item| item["label"].as_str().expect("a label").to_owned())
        .collect()
}

#[test]
fn completion_offers_builtin_and_custom_kinds() {
    let kinds = offered(&[("cakes.yaml", CAKES)], "kind: C");
    for kind in ["ConfigMap", "CronJob", "Cake"] {
        assert!(kinds.iter().any(|offered| offered == kind), "{kinds:?}");
    }
    let kinds = offered(
        &[("cakes.yaml", CAKES)],
        "apiVersion: example.com/v1\nkind: ",
    );
    assert_eq!(kinds, ["Cake"]);
    let versions = offered(&[("cakes.yaml", CAKES)], "kind: Cake\napiVersion: ");
    assert_eq!(versions, ["example.com/v1"]);
    // No CRD defines the kind, but another file has such an object.
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\n";
    let releases = [("release.yaml", release)];
    let kinds = offered(&releases, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: ");
    assert_eq!(kinds, ["HelmRelease"]);
    let versions = offered(&releases, "kind: HelmRelease\napiVersion: ");
    assert_eq!(versions, ["helm.toolkit.fluxcd.io/v2"]);
    let kinds = offered(&[], "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: ");
    assert_eq!(kinds, [""; 0]);
}

#[test]
fn completion_offers_finalizers_of_the_kind_and_annotations_of_tools() {
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: a\n";
    let finalizers = offered(&[], &format!("{application}  finalizers:\n    - r"));
    assert!(
        finalizers.contains(&"resources-finalizer.argocd.argoproj.io".to_owned()),
        "{finalizers:?}"
    );
    // Controllers add the other finalizers, so no manifest needs them.
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: a\n";
    let used = format!("{claim}  finalizers: [example.com/ours]\n").replace("name: a", "name: b");
    let finalizers = offered(
        &[("b.yaml", &used)],
        &format!("{claim}  finalizers:\n    - k"),
    );
    assert_eq!(finalizers, ["example.com/ours"]);
    let annotations = offered(&[], &format!("{claim}  annotations:\n    helm"));
    for key in [
        "helm.sh/resource-policy",
        "ignore.ownerlint/owner-duplicate",
    ] {
        assert!(
            annotations.iter().any(|offered| offered == key),
            "{annotations:?}"
        );
    }
}

#[test]
fn completion_omits_names_with_line_breaks() {
    let owner =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: \"a\\n  evil: b\", namespace: shop}\n";
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  ownerReferences:\n    - kind: Secret\n      name: ";
    assert_eq!(offered(&[("b.yaml", owner)], text), [""; 0]);
    let owner = owner.replace("\\n  evil: b", "");
    assert_eq!(offered(&[("b.yaml", &owner)], text), ["a"]);
}

#[test]
fn completion_offers_owners_in_the_namespace() {
    let other = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: far, namespace: other}\n";
    let files = [("b.yaml", OWNER), ("c.yaml", other)];
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  ownerReferences:\n    - ";
    let entries = [
        "apiVersion",
        "blockOwnerDeletion",
        "controller",
        "kind",
        "name",
        "uid",
    ];
    assert_eq!(offered(&files, text), entries);
    assert_eq!(
        offered(&files, &format!("{text}kind: Deployment\n      na")),
        entries
            .into_iter()
            .filter(|entry| *entry != "kind")
            .collect::<Vec<_>>()
    );
    assert_eq!(
        offered(&files, &format!("{text}kind: ")),
        ["ConfigMap", "Deployment"]
    );
    assert_eq!(
        offered(&files, &format!("{text}kind: Deployment\n      name: ")),
        ["operator"]
    );
}
