//! Names that builds give to objects, in definitions, references and hovers.

use serde_json::{Value, json};

use super::client::Client;

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cfg}\n";
const USER: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: cfg}}]}]}}}
";
const OWNED: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: owned
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: cfg, uid: ''}]
";
const FOLDER: &str = "resources: [cm.yaml, user.yaml, owned.yaml]\n";

/// Two builds of files with the same names, and a base that two overlays use.
fn builds() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["a", "b", "base"] {
        let built = if folder == "base" {
            FOLDER.to_owned()
        } else {
            format!("namespace: ns-{folder}\n{FOLDER}")
        };
        for (name, text) in [
            ("kustomization.yaml", built.as_str()),
            ("cm.yaml", CONFIG),
            ("user.yaml", USER),
            ("owned.yaml", OWNED),
        ] {
            files.push((format!("{folder}/{name}"), text.to_owned()));
        }
    }
    for overlay in ["dev", "prod"] {
        let text = format!("namespace: {overlay}\nresources: [../../base]\n");
        files.push((format!("overlays/{overlay}/kustomization.yaml"), text));
    }
    files
}

fn opened(files: &[(String, String)]) -> Client {
    let files = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()));
    Client::open_all(&files.collect::<Vec<_>>())
}

/// Returns the paths of places, relative to the folder of the client.
fn paths(client: &Client, found: &Value) -> Vec<String> {
    let root = client.uri("");
    let one = std::slice::from_ref(found);
    let places = found.as_array().map_or(one, Vec::as_slice).iter();
    let uris = places.filter_map(|place| place["uri"].as_str());
    uris.map(|uri| uri.replace(&root, "").trim_start_matches('/').to_owned())
        .collect()
}

fn definitions(client: &mut Client, path: &str, text: &str, needle: &str) -> Vec<String> {
    let found = client.at("textDocument/definition", path, text, needle);
    paths(client, &found)
}

fn references(client: &mut Client, path: &str, text: &str, needle: &str) -> Vec<String> {
    let found = client.at("textDocument/references", path, text, needle);
    paths(client, &found)
}

/// Returns the titles of the lenses of a file.
fn lenses(client: &mut Client, path: &str) -> Vec<Value> {
    let document = json!({"textDocument": {"uri": client.uri(path)}});
    let lenses = client.request("textDocument/codeLens", document);
    let lenses = lenses.as_array().expect("a list").iter();
    let titles = lenses.map(|lens| {
        let lens = client.request("codeLens/resolve", lens.clone());
        lens["command"]["title"].clone()
    });
    titles.collect()
}

#[test]
fn definition_stays_in_the_build_of_the_file() {
    let mut client = opened(&builds());
    for folder in ["a", "b", "base"] {
        let config = [format!("{folder}/cm.yaml")];
        let user = format!("{folder}/user.yaml");
        assert_eq!(definitions(&mut client, &user, USER, "cfg"), config);
        let owned = format!("{folder}/owned.yaml");
        assert_eq!(definitions(&mut client, &owned, OWNED, "cfg"), config);
    }
    client.end();
}

#[test]
fn references_stay_in_the_build_of_the_file() {
    let mut client = opened(&builds());
    for folder in ["a", "b", "base"] {
        let there = ["owned.yaml", "user.yaml"].map(|name| format!("{folder}/{name}"));
        let config = format!("{folder}/cm.yaml");
        assert_eq!(references(&mut client, &config, CONFIG, "cfg"), there);
        assert_eq!(references(&mut client, &there[1], USER, "cfg"), there);
        assert_eq!(references(&mut client, &there[0], OWNED, "cfg"), there);
    }
    client.end();
}

#[test]
fn hover_uses_the_names_of_the_build() {
    let mut client = opened(&builds());
    let deletion = |namespace: &str| {
        format!(
            "Deleting `ConfigMap/{namespace}/cfg` deletes 2 objects.\n- `Secret/{namespace}/owned`"
        )
    };
    assert_eq!(
        client.hover("b/user.yaml", USER, "cfg"),
        format!(
            "`ConfigMap/ns-b/cfg` is used by `Deployment.apps/ns-b/web`.\n\n{}",
            deletion("ns-b")
        )
    );
    let owner = client.hover("b/owned.yaml", OWNED, "cfg");
    let owned = "`ConfigMap cfg` owns `Secret/ns-b/owned`: ";
    assert!(
        owner.starts_with(owned) && owner.ends_with(&deletion("ns-b")),
        "{owner}"
    );
    assert_eq!(
        client.hover("base/cm.yaml", CONFIG, "cfg"),
        format!(
            "{}\n\nAlso applied as `ConfigMap/prod/cfg`.\n\nIt is used by `Deployment.apps/dev/web`.",
            deletion("dev")
        )
    );
    client.end();
}

#[test]
fn definition_of_a_base_leads_to_each_overlay() {
    let overlay = |name: &str| format!("namespace: {name}\nresources: [../base, cm.yaml]\n");
    let (dev, prod) = (overlay("dev"), overlay("prod"));
    let mut client = Client::open_all(&[
        ("base/kustomization.yaml", "resources: [user.yaml]\n"),
        ("base/user.yaml", USER),
        ("dev/kustomization.yaml", &dev),
        ("dev/cm.yaml", CONFIG),
        ("prod/kustomization.yaml", &prod),
        ("prod/cm.yaml", CONFIG),
    ]);
    assert_eq!(
        definitions(&mut client, "base/user.yaml", USER, "cfg"),
        ["dev/cm.yaml", "prod/cm.yaml"]
    );
    let hover = client.hover("base/user.yaml", USER, "cfg");
    assert!(
        hover.ends_with("\n\nIn other builds: `ConfigMap/prod/cfg`."),
        "{hover}"
    );
    assert_eq!(
        references(&mut client, "prod/cm.yaml", CONFIG, "cfg"),
        ["base/user.yaml"]
    );
    client.end();
}

#[test]
fn renamed_and_generated_objects_are_found_under_their_written_names() {
    let user = USER.replace("envFrom: [", "envFrom: [{configMapRef: {name: made}}, ");
    let built = "namePrefix: dev-\nnamespace: shop\nresources: [cm.yaml, user.yaml]\nconfigMapGenerator:\n  \
        - {name: made, literals: [a=b]}\n";
    let mut client = Client::open_all(&[
        ("kustomization.yaml", built),
        ("cm.yaml", CONFIG),
        ("user.yaml", &user),
    ]);
    assert_eq!(
        definitions(&mut client, "user.yaml", &user, "cfg"),
        ["cm.yaml"]
    );
    let hover = client.hover("user.yaml", &user, "cfg");
    assert!(
        hover
            .starts_with("`ConfigMap/shop/dev-cfg` is used by `Deployment.apps/shop/dev-web`.\n\n"),
        "{hover}"
    );
    assert_eq!(
        references(&mut client, "cm.yaml", CONFIG, "cfg"),
        ["user.yaml"]
    );
    let place = client.at("textDocument/definition", "user.yaml", &user, "made");
    assert_eq!(paths(&client, &place), ["kustomization.yaml"]);
    assert_eq!(place["range"]["start"]["line"], json!(4));
    let hover = client.hover("user.yaml", &user, "made");
    assert!(
        hover.starts_with("`ConfigMap/shop/dev-made-") && !hover.contains("not in the input"),
        "{hover}"
    );
    client.end();
}

#[test]
fn object_that_nothing_applies_finds_applied_objects() {
    let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: \
        flux-system}\nspec: {interval: 10m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    let new = USER.replace("{name: web}", "{name: new, namespace: shop}");
    let mut client = Client::open_all(&[
        ("clusters/prod/apps.yaml", kustomization),
        (
            "apps/kustomization.yaml",
            "namespace: shop\nresources: [ns.yaml, cm.yaml, user.yaml]\n",
        ),
        ("apps/ns.yaml", namespace),
        ("apps/cm.yaml", CONFIG),
        ("apps/user.yaml", USER),
    ]);
    client.open("apps/new.yaml", &new);
    assert_eq!(
        definitions(&mut client, "apps/new.yaml", &new, "cfg"),
        ["apps/cm.yaml"]
    );
    assert_eq!(
        client.hover("apps/new.yaml", &new, "cfg"),
        "`ConfigMap/shop/cfg` is used by 2 objects:\n- `Deployment.apps/shop/new`\n- `Deployment.apps/shop/web`\n\n\
         Deleting `ConfigMap/shop/cfg` deletes 1 object."
    );
    assert_eq!(
        references(&mut client, "apps/cm.yaml", CONFIG, "cfg"),
        ["apps/new.yaml", "apps/user.yaml"]
    );
    // The Namespace that the kustomization sets contains all of them.
    assert_eq!(
        definitions(&mut client, "apps/new.yaml", &new, "shop"),
        ["apps/ns.yaml"]
    );
    assert_eq!(
        references(&mut client, "apps/ns.yaml", namespace, "shop"),
        ["apps/cm.yaml", "apps/new.yaml", "apps/user.yaml"]
    );
    client.end();
}

#[test]
fn cluster_scoped_object_without_crd_is_found() {
    let issuer =
        "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: letsencrypt-prod}\n";
    let ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: web\n  namespace: shop\n  annotations:\n    \
        cert-manager.io/cluster-issuer: letsencrypt-prod\n";
    let mut client = Client::open_all(&[("ingress.yaml", ingress), ("issuer.yaml", issuer)]);
    assert_eq!(
        definitions(&mut client, "ingress.yaml", ingress, "letsencrypt-prod"),
        ["issuer.yaml"]
    );
    let hover = client.hover("ingress.yaml", ingress, "letsencrypt-prod");
    let used = "`ClusterIssuer.cert-manager.io/?/letsencrypt-prod` is used by `Ingress.networking.k8s.io/shop/web`.";
    assert!(
        hover.starts_with(used) && !hover.contains("not in the input"),
        "{hover}"
    );
    let issuer = client.hover("issuer.yaml", issuer, "ClusterIssuer");
    assert!(
        issuer.ends_with("\n\nIt is used by `Ingress.networking.k8s.io/shop/web`."),
        "{issuer}"
    );
    client.end();
}

#[test]
fn used_object_of_another_namespace_is_not_meant() {
    let here = CONFIG.replace("cfg}", "cfg, namespace: shop}");
    let user = USER.replace("web}", "web, namespace: other}");
    let mut client = Client::open_all(&[("cm.yaml", &here), ("user.yaml", &user)]);
    assert!(definitions(&mut client, "user.yaml", &user, "cfg").is_empty());
    assert_eq!(
        client.hover("user.yaml", &user, "cfg"),
        "`ConfigMap/other/cfg` is used by `Deployment.apps/other/web`.\n\nIt is not in the input."
    );
    // A Deployment without a namespace may be in any.
    client.edit("user.yaml", USER);
    assert_eq!(
        definitions(&mut client, "user.yaml", USER, "cfg"),
        ["cm.yaml"]
    );
    let hover = client.hover("user.yaml", USER, "cfg");
    let may_be = "`ConfigMap/?/cfg` may be `ConfigMap/shop/cfg` in the input. It is used by `Deployment.apps/?/web`.\n\n";
    assert!(hover.starts_with(may_be), "{hover}");
    client.end();
}

#[test]
fn secret_of_an_external_secret_leads_to_it() {
    let external = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: db, namespace: shop}\nspec: \
        {target: {name: db-password}}\n";
    let user = "apiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: shop}\nspec: {containers: [{name: c, image: x, \
        envFrom: [{secretRef: {name: db-password}}]}]}\n";
    let second = user.replace("name: one", "name: two");
    let mut client = Client::open_all(&[
        ("external.yaml", external),
        ("one.yaml", user),
        ("two.yaml", &second),
    ]);
    assert_eq!(
        definitions(&mut client, "one.yaml", user, "db-password"),
        ["external.yaml"]
    );
    let hover = client.hover("one.yaml", user, "db-password");
    let expected = "`Secret/shop/db-password` is used by 2 objects:\n- `Pod/shop/one`\n- `Pod/shop/two`\n\nIt is created by \
                    `ExternalSecret.external-secrets.io/shop/db`.\n\nDeleting `ExternalSecret.external-secrets.io/shop/db` ";
    assert!(hover.starts_with(expected), "{hover}");
    assert_eq!(
        references(&mut client, "one.yaml", user, "db-password"),
        ["one.yaml", "two.yaml"]
    );
    client.end();
}

#[test]
fn hover_counts_users_that_it_does_not_list() {
    let config = CONFIG.replace("cfg}", "cfg, namespace: shop}");
    let users = (10..22).map(|at| USER.replace("web}", &format!("web-{at}, namespace: shop}}")));
    let users = users.collect::<Vec<_>>().join("---\n");
    let mut client = Client::open_all(&[("cm.yaml", &config), ("users.yaml", &users)]);
    let own = client.hover("cm.yaml", &config, "ConfigMap");
    let listed = "\n- `Deployment.apps/shop/web-17`\n- and 4 more";
    assert!(
        own.contains("\n\nIt is used by 12 objects:\n- `Deployment.apps/shop/web-10`")
            && own.ends_with(listed),
        "{own}"
    );
    let used = client.hover("users.yaml", &users, "cfg");
    assert!(
        used.starts_with(
            "`ConfigMap/shop/cfg` is used by 12 objects:\n- `Deployment.apps/shop/web-10`\n"
        ),
        "{used}"
    );
    client.end();
}

#[test]
fn hover_counts_stuck_objects_that_it_does_not_list() {
    let objects = (10..20).map(|at| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c-{at}, namespace: shop, finalizers: [example.com/x]}}\n"
        )
    });
    let objects = objects.collect::<Vec<_>>().join("---\n");
    let mut client = Client::open_all(&[("a.yaml", &objects)]);
    let hover = client.hover("a.yaml", &objects, "shop");
    assert!(
        hover.contains("\n- and 3 more that may stay Terminating"),
        "{hover}"
    );
    client.end();
}

#[test]
fn object_with_an_error_has_no_lens() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n  uid: 1\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  \
        name: two\n";
    let mut client = Client::open_all(&[("a.yaml", text)]);
    assert_eq!(lenses(&mut client, "a.yaml"), [json!("deletes 1 object")]);
    assert_eq!(
        client.hover("a.yaml", text, "one"),
        "The effects of deleting `ConfigMap/?/one` are unknown: its metadata has an error."
    );
    // The editor may resolve a lens of a text that has changed.
    let stale = json!({
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}},
        "data": {"uri": client.uri("a.yaml"), "offset": 5000},
    });
    let resolved = client.request("codeLens/resolve", stale);
    assert_eq!(
        resolved["command"]["title"],
        json!("effects of a deletion unknown")
    );
    client.end();
}

#[test]
fn object_of_a_failing_build_has_no_lens() {
    let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: \
        flux-system}\nspec: {interval: 10m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";
    let built = "namespace: shop\nresources: [cm.yaml, user.yaml]\n";
    let mut client = Client::open_all(&[
        ("clusters/prod/apps.yaml", kustomization),
        ("apps/kustomization.yaml", built),
        ("apps/cm.yaml", CONFIG),
        ("apps/user.yaml", USER),
    ]);
    assert_eq!(
        lenses(&mut client, "apps/cm.yaml"),
        [json!("deletes 1 object")]
    );
    client.edit(
        "apps/kustomization.yaml",
        "namespace: shop\nresources: [cm.yaml\n",
    );
    assert_eq!(lenses(&mut client, "apps/cm.yaml"), [] as [Value; 0]);
    assert_eq!(
        client.hover("apps/cm.yaml", CONFIG, "ConfigMap"),
        "The effects of deleting `ConfigMap/?/cfg` are unknown: no build contains it, or its build fails.\n\n\
         It is used by `Deployment.apps/?/web`."
    );
    assert_eq!(
        definitions(&mut client, "apps/user.yaml", USER, "cfg"),
        ["apps/cm.yaml"]
    );
    client.end();
}
