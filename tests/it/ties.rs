//! Ties that no manifest writes as owner references: what generates what, and what uses what.

use ownerlint::finding::Certainty;
use ownerlint::inventory::Inventory;
use ownerlint::ownership::{DeliveryObject, OnDeletion, SourceContent, Tables, Tie, TieKind, Ties};

use serde_json::{Value, json};

use crate::support::{inventory_of, ownerlint};

fn ties(inventory: &Inventory) -> Ties {
    Ties::of(inventory, &Tables::bundled())
}

/// `from -> to [kind]`, one line for each tie.
fn told(inventory: &Inventory, ties: &[Tie]) -> Vec<String> {
    let tell = |tie: &Tie| {
        let word = match tie.kind {
            TieKind::Generates { owned: true } => "generates and owns",
            TieKind::Generates { owned: false } => "generates",
            TieKind::Uses => "uses",
        };
        let here = if tie.to.id.is_some() { "" } else { " (in no file)" };
        let certainty = match tie.certainty {
            Certainty::Certain => String::new(),
            other => format!(" [{}]", other.as_str()),
        };
        format!("{} {word} {}{here}{certainty}", inventory.member(tie.from).key, tie.to.key)
    };
    ties.iter().map(tell).collect()
}

fn all(text: &str) -> Vec<String> {
    let inventory = inventory_of("a.yaml", text);
    told(&inventory, ties(&inventory).all())
}

#[test]
fn an_external_secret_owns_the_secret_it_creates_unless_its_policy_says_otherwise() {
    let secret = |spec: &str| {
        all(&format!(
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {{name: db, namespace: shop}}\nspec: {spec}\n"
        ))
    };
    let owner = "ExternalSecret.external-secrets.io/shop/db";
    assert_eq!(secret("{}"), [format!("{owner} generates and owns Secret/shop/db (in no file)")]);
    let named = secret("{target: {name: db-login}}");
    assert_eq!(named, [format!("{owner} generates and owns Secret/shop/db-login (in no file)")]);
    let kept = secret("{target: {creationPolicy: Orphan}}");
    assert_eq!(kept, [format!("{owner} generates Secret/shop/db (in no file)")]);
}

#[test]
fn pods_use_what_they_mount_and_read() {
    let pod = "
      serviceAccountName: web
      imagePullSecrets: [{name: registry}]
      volumes:
        - {name: a, secret: {secretName: tls}}
        - {name: b, configMap: {name: settings, optional: true}}
        - {name: c, persistentVolumeClaim: {claimName: data}}
        - {name: d, projected: {sources: [{secret: {name: token}}, {configMap: {name: ca}}]}}
        - {name: e, emptyDir: {}}
      containers:
        - name: web
          env: [{name: A, valueFrom: {secretKeyRef: {name: login, key: a}}}, {name: B, value: b}]
          envFrom: [{configMapRef: {name: env}}]";
    let text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  template:\n    spec:{pod}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: env, namespace: shop}}\n"
    );
    let to = |kind: &str, rest: &str| format!("Deployment.apps/shop/web uses {kind}/shop/{rest}");
    assert_eq!(
        all(&text),
        [
            to("Secret", "tls (in no file)"),
            to("ConfigMap", "settings (in no file) [possible]"),
            to("PersistentVolumeClaim", "data (in no file)"),
            to("Secret", "token (in no file)"),
            to("ConfigMap", "ca (in no file)"),
            to("Secret", "registry (in no file)"),
            to("Secret", "login (in no file)"),
            to("ConfigMap", "env"),
            to("ServiceAccount", "web (in no file)"),
        ]
    );
}

#[test]
fn every_workload_kind_has_pods_and_so_have_custom_resources_with_containers() {
    let template = "{spec: {containers: [{name: a, envFrom: [{secretRef: {name: login}}]}]}}";
    for (api_version, kind, spec) in [
        ("v1", "Pod", "{containers: [{name: a, envFrom: [{secretRef: {name: login}}]}]}".to_owned()),
        ("v1", "ReplicationController", format!("{{template: {template}}}")),
        ("apps/v1", "StatefulSet", format!("{{template: {template}}}")),
        ("apps/v1", "DaemonSet", format!("{{template: {template}}}")),
        ("apps/v1", "ReplicaSet", format!("{{template: {template}}}")),
        ("batch/v1", "Job", format!("{{template: {template}}}")),
        ("batch/v1", "CronJob", format!("{{jobTemplate: {{spec: {{template: {template}}}}}}}")),
        ("argoproj.io/v1alpha1", "Rollout", format!("{{template: {template}}}")),
        ("serving.knative.dev/v1", "Service", format!("{{template: {template}}}")),
        ("kubeflow.org/v1", "PyTorchJob", format!("{{pytorchReplicaSpecs: {{Master: {{template: {template}}}}}}}")),
    ] {
        let text =
            format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a, namespace: shop}}\nspec: {spec}\n");
        let all = all(&text);
        assert_eq!(all.len(), 1, "{kind}: {all:?}");
        assert!(all[0].contains("uses Secret/shop/login"), "{kind}: {all:?}");
    }
}

#[test]
fn ingresses_service_accounts_and_gateways_use_secrets() {
    let text = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {tls: [{hosts: [a.b], secretName: web-tls}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: shop}
secrets: [{name: web-token}]
imagePullSecrets: [{name: registry}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {listeners: [{name: https, tls: {certificateRefs: [{name: edge-tls}, {name: other-tls, namespace: certs}]}}]}
";
    assert_eq!(
        all(text),
        [
            "Ingress.networking.k8s.io/shop/web uses Secret/shop/web-tls (in no file)",
            "ServiceAccount/shop/web uses Secret/shop/web-token (in no file)",
            "ServiceAccount/shop/web uses Secret/shop/registry (in no file)",
            "Gateway.gateway.networking.k8s.io/shop/edge uses Secret/shop/edge-tls (in no file)",
            "Gateway.gateway.networking.k8s.io/shop/edge uses Secret/certs/other-tls (in no file)",
        ]
    );
}

#[test]
fn a_product_has_its_generators_and_its_users_although_no_file_contains_it() {
    let text = "\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: login, namespace: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: a, envFrom: [{secretRef: {name: login}}]}]}
";
    let inventory = inventory_of("a.yaml", text);
    let ties = ties(&inventory);
    let secret = "Secret/shop/login".parse().expect("a key");
    let generators: Vec<Tie> = ties.generators_of(&secret).cloned().collect();
    assert_eq!(
        told(&inventory, &generators),
        ["ExternalSecret.external-secrets.io/shop/login generates and owns Secret/shop/login (in no file)"]
    );
    let row = generators[0].evidence.row.as_ref().expect("a row");
    assert_eq!(row.to_string(), "generators/ExternalSecret.external-secrets.io");
    let users: Vec<Tie> = ties.users_of(&secret).cloned().collect();
    assert_eq!(told(&inventory, &users), ["Pod/shop/web uses Secret/shop/login (in no file)"]);
    assert_eq!(users[0].evidence.field, "spec.containers[].envFrom[].secretRef.name");
    let source = &inventory.sources.iter().next().expect("one file").1;
    assert_eq!(source.slice(users[0].evidence.span), "login");
}

#[test]
fn a_namespace_contains_and_a_definition_defines_whatever_names_them() {
    let text = "\
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: shop}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b, namespace: other}
";
    let inventory = inventory_of("a.yaml", text);
    let ties = ties(&inventory);
    let keys = |ids: &[ownerlint::inventory::ObjectId]| -> Vec<String> {
        ids.iter().map(|id| inventory.member(*id).key.to_string()).collect()
    };
    assert_eq!(keys(ties.contained_in("shop")), ["Secret/shop/a"]);
    assert_eq!(keys(ties.contained_in("nowhere")), [""; 0]);
    let widget = ownerlint::kube::GroupKind::new("example.com", "Widget");
    assert_eq!(keys(ties.instances_of(widget)), ["Widget.example.com/other/b"]);
}

/// The plan of a deletion, as JSON.
fn plan(target: &str, manifests: &str) -> Value {
    let arguments = ["plan", "delete", target, "-n", "shop", "-o", "json", "-f", "-"];
    let output = ownerlint().args(arguments).write_stdin(manifests).output().expect("it runs");
    serde_json::from_slice(&output.stdout).expect("a plan")
}

fn of_login(plan: &Value) -> Vec<Value> {
    let implied = plan["implied"].as_array().expect("a list").iter();
    implied.filter(|object| object["key"] == "Secret/shop/login").cloned().collect()
}

const MOUNTED: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec: {containers: [{name: a, envFrom: [{secretRef: {name: login}}]}]}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: login, namespace: shop}
";

#[test]
fn deleting_a_generator_deletes_the_secret_that_a_deployment_uses_although_no_file_contains_it() {
    let owner = "ExternalSecret.external-secrets.io/shop/login";
    let plan = plan("externalsecret/login", MOUNTED);
    assert_eq!(
        of_login(&plan),
        [json!({
            "key": "Secret/shop/login",
            "owner": owner,
            "rule": "generators/ExternalSecret.external-secrets.io",
            "outcomes": ["gone"],
        })]
    );
    let objects = &plan["steps"][0]["outcomes"][0]["objects"];
    assert_eq!(objects[owner], "gone");
    assert_eq!(objects["Secret/shop/login"], Value::Null, "implied objects are never listed among the objects");
}

#[test]
fn a_secret_that_its_generator_does_not_own_is_kept() {
    let orphan = format!("{MOUNTED}spec: {{target: {{creationPolicy: Orphan}}}}\n");
    assert_eq!(of_login(&plan("externalsecret/login", &orphan))[0]["outcomes"][0]["terminating"], false);
}

#[test]
fn a_secret_that_nothing_uses_is_not_implied() {
    let (_, generator) = MOUNTED.split_once("---\n").expect("two documents");
    assert_eq!(of_login(&plan("externalsecret/login", generator)), [Value::Null; 0]);
}

#[test]
fn a_plan_says_which_data_is_deleted() {
    let manifests = "\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: orders, namespace: shop}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: kept, namespace: shop, annotations: {strimzi.io/managed: 'false'}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: retained, namespace: shop}
spec: {storageClassName: precious}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: precious}
reclaimPolicy: Retain
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
";
    let arguments = ["--color", "never", "plan", "delete", "ns/shop", "-f", "-"];
    let output = ownerlint().args(arguments).write_stdin(manifests).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("Data deleted: 1 claim, 1 KafkaTopic."), "{text}");
}

fn delivery_objects(text: &str) -> Vec<DeliveryObject> {
    ties(&inventory_of("a.yaml", text)).delivery_objects().to_vec()
}

/// The folder of an object's first source.
fn folder(object: &DeliveryObject) -> &str {
    match &object.sources[0].content {
        SourceContent::Folder(folder) => folder,
        SourceContent::Chart(chart) => panic!("{chart}"),
    }
}

#[test]
fn an_application_deletes_what_it_delivers_only_with_its_finalizer() {
    let application = |finalizers: &str, policy: &str| {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd, finalizers: {finalizers}}}\n\
             spec:\n  source: {{repoURL: https://git.example.com/apps, path: apps/web}}\n  \
             destination: {{server: https://kubernetes.default.svc, namespace: web}}\n  syncPolicy: {policy}\n"
        );
        delivery_objects(&text).remove(0)
    };
    let plain = application("[]", "{}");
    assert_eq!((folder(&plain), plain.deletes(), plain.prunes), ("apps/web", false, false));
    assert_eq!((plain.destination.cluster, plain.destination.namespace.as_deref()), (None, Some("web")));
    let cascading = application("[resources-finalizer.argocd.argoproj.io]", "{automated: {prune: true}}");
    assert_eq!((cascading.on_deletion, cascading.prunes), (OnDeletion::Deletes { background: false }, true));
    let background = application("[resources-finalizer.argocd.argoproj.io/background]", "{automated: {}}");
    assert_eq!((background.on_deletion, background.prunes), (OnDeletion::Deletes { background: true }, false));
}

#[test]
fn an_application_set_delivers_one_application_for_each_element_of_its_lists() {
    let set = |policy: &str| {
        delivery_objects(&format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  \
             generators: [{{list: {{elements: [{{cluster: prod, url: https://prod}}, {{cluster: dev, url: https://dev}}]}}}}, {{clusters: {{}}}}]\n  \
             syncPolicy: {policy}\n  template:\n    metadata: {{name: 'web-{{{{cluster}}}}'}}\n    spec:\n      \
             source: {{repoURL: r, path: 'apps/{{{{ .cluster }}}}'}}\n      destination: {{server: '{{{{url}}}}'}}\n"
        ))
    };
    let generated = set("{}");
    let told: Vec<_> = generated
        .iter()
        .map(|object| (object.name.as_str(), folder(object), object.destination.cluster.as_deref(), object.deletes()))
        .collect();
    assert_eq!(
        told,
        [("web-prod", "apps/prod", Some("https://prod"), true), ("web-dev", "apps/dev", Some("https://dev"), true)]
    );
    assert!(set("{preserveResourcesOnDeletion: true}").iter().all(|object| !object.deletes()));
}

#[test]
fn a_kustomization_deletes_as_its_policies_say() {
    let kustomization = |spec: &str| {
        let text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: apps, namespace: flux-system}}\n\
             spec: {{path: ./apps, sourceRef: {{kind: GitRepository, name: flux-system}}, {spec}}}\n"
        );
        delivery_objects(&text).remove(0)
    };
    let pruning = kustomization("prune: true");
    assert_eq!((folder(&pruning), pruning.prunes, pruning.deletes()), ("./apps", true, true));
    assert_eq!(pruning.sources[0].repository.as_deref(), Some("GitRepository/flux-system/flux-system"));
    assert!(!kustomization("prune: false").deletes());
    assert!(kustomization("prune: false, deletionPolicy: Delete").deletes());
    assert!(!kustomization("prune: true, deletionPolicy: Orphan").deletes());
    assert!(!kustomization("prune: true, suspend: true").deletes(), "a suspended one does nothing");
}

#[test]
fn a_helm_release_is_uninstalled_with_its_object() {
    let release = |spec: &str| {
        let text = format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: redis, namespace: cache}}\nspec: {{{spec}}}\n"
        );
        delivery_objects(&text).remove(0)
    };
    let chart = "chart: {spec: {chart: redis, sourceRef: {kind: HelmRepository, name: bitnami}}}";
    let plain = release(chart);
    assert_eq!((plain.name.as_str(), plain.destination.namespace.as_deref()), ("redis", Some("cache")));
    assert_eq!(plain.on_deletion, OnDeletion::Deletes { background: true });
    assert_eq!(plain.sources[0].content, SourceContent::Chart("redis".to_owned()));
    let elsewhere = release(&format!("{chart}, targetNamespace: data, uninstall: {{deletionPropagation: foreground}}"));
    assert_eq!((elsewhere.name.as_str(), elsewhere.destination.namespace.as_deref()), ("data-redis", Some("data")));
    assert_eq!(elsewhere.on_deletion, OnDeletion::Deletes { background: false });
}
