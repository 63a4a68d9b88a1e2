//! Ties other than owner references: generated objects, and used objects.

use ownerlint::finding::Certainty;
use ownerlint::inventory::Inventory;
use ownerlint::knowledge::{DataFate, Tables};
use ownerlint::ownership::{DeliveryObject, Tie, TieKind, Ties, data_loss, instances_of};

use serde_json::{Value, json};

use crate::support::{inventory_of, ownerlint};

fn ties(inventory: &Inventory) -> Ties {
    Ties::of(inventory, &Tables::bundled())
}

/// Returns the ties as lines `from -> to [kind]`.
fn lines(inventory: &Inventory, ties: &[Tie]) -> Vec<String> {
    let tell = |tie: &Tie| {
        let word = match tie.kind {
            TieKind::Generates { owned: true } => "generates and owns",
            TieKind::Generates { owned: false } => "generates",
            TieKind::Uses => "uses",
        };
        let here = if tie.to.id.is_some() {
            ""
        } else {
            " (in no file)"
        };
        let certainty = match tie.certainty {
            Certainty::Certain => String::new(),
            other => format!(" [{}]", other.as_str()),
        };
        format!(
            "{} {word} {}{here}{certainty}",
            inventory.member(tie.from).key,
            tie.to.key
        )
    };
    ties.iter().map(tell).collect()
}

fn all(text: &str) -> Vec<String> {
    let inventory = inventory_of("a.yaml", text);
    lines(&inventory, ties(&inventory).all())
}

#[test]
fn use_of_an_account_names_its_field() {
    let workload = |kind: &str, spec: &str| {
        let account = "{spec: {serviceAccountName: web, volumes: [{secret: {secretName: tls}}]}}";
        let text = format!(
            "apiVersion: {kind}\nmetadata: {{name: web, namespace: shop}}\nspec: {}\n",
            spec.replace("TEMPLATE", account)
        );
        let inventory = inventory_of("a.yaml", &text);
        let ties = ties(&inventory);
        let fields = ties.all().iter().map(|tie| tie.evidence.field.to_string());
        fields.collect::<Vec<_>>()
    };
    assert_eq!(
        workload("apps/v1\nkind: Deployment", "{template: TEMPLATE}"),
        [
            "spec.template.spec.volumes[].secret.secretName",
            "spec.template.spec.serviceAccountName"
        ]
    );
}

#[test]
fn external_secret_owns_its_secret_unless_policy_is_orphan() {
    let secret = |spec: &str| {
        all(&format!(
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {{name: db, namespace: shop}}\nspec: {spec}\n"
        ))
    };
    let owner = "ExternalSecret.external-secrets.io/shop/db";
    assert_eq!(
        secret("{}"),
        [format!(
            "{owner} generates and owns Secret/shop/db (in no file)"
        )]
    );
    let named = secret("{target: {name: db-login}}");
    assert_eq!(
        named,
        [format!(
            "{owner} generates and owns Secret/shop/db-login (in no file)"
        )]
    );
    let kept = secret("{target: {creationPolicy: Orphan}}");
    assert_eq!(
        kept,
        [format!("{owner} generates Secret/shop/db (in no file)")]
    );
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
fn pod_templates_are_found_in_workloads_and_custom_resources() {
    let template = "{spec: {containers: [{name: a, envFrom: [{secretRef: {name: login}}]}]}}";
    for (api_version, kind, spec) in [
        (
            "v1",
            "Pod",
            "{containers: [{name: a, envFrom: [{secretRef: {name: login}}]}]}".to_owned(),
        ),
        (
            "v1",
            "ReplicationController",
            format!("{{template: {template}}}"),
        ),
        (
            "apps/v1",
            "StatefulSet",
            format!("{{template: {template}}}"),
        ),
        ("apps/v1", "DaemonSet", format!("{{template: {template}}}")),
        ("apps/v1", "ReplicaSet", format!("{{template: {template}}}")),
        ("batch/v1", "Job", format!("{{template: {template}}}")),
        (
            "batch/v1",
            "CronJob",
            format!("{{jobTemplate: {{spec: {{template: {template}}}}}}}"),
        ),
        (
            "argoproj.io/v1alpha1",
            "Rollout",
            format!("{{template: {template}}}"),
        ),
        (
            "serving.knative.dev/v1",
            "Service",
            format!("{{template: {template}}}"),
        ),
        (
            "kubeflow.org/v1",
            "PyTorchJob",
            format!("{{pytorchReplicaSpecs: {{Master: {{template: {template}}}}}}}"),
        ),
    ] {
        let text = format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a, namespace: shop}}\nspec: {spec}\n"
        );
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
fn generated_secret_has_generators_and_users_without_a_file() {
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
        lines(&inventory, &generators),
        [
            "ExternalSecret.external-secrets.io/shop/login generates and owns Secret/shop/login (in no file)"
        ]
    );
    let row = generators[0].evidence.row.as_ref().expect("a row");
    assert_eq!(
        row.to_string(),
        "generators/ExternalSecret.external-secrets.io"
    );
    let users: Vec<Tie> = ties.users_of(&secret).cloned().collect();
    assert_eq!(
        lines(&inventory, &users),
        ["Pod/shop/web uses Secret/shop/login (in no file)"]
    );
    assert_eq!(
        &*users[0].evidence.field,
        "spec.containers[].envFrom[].secretRef.name"
    );
    let source = &inventory.sources.iter().next().expect("one file").1;
    assert_eq!(source.slice(users[0].evidence.span), "login");
}

#[test]
fn namespace_content_and_crd_instances_are_found() {
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
    let keys = |ids: &[ownerlint::inventory::ObjectId]| -> Vec<String> {
        ids.iter()
            .map(|id| inventory.member(*id).key.to_string())
            .collect()
    };
    assert_eq!(keys(inventory.in_namespace("shop")), ["Secret/shop/a"]);
    assert_eq!(keys(inventory.in_namespace("nowhere")), [""; 0]);
    let widget = ownerlint::kube::GroupKind::new("example.com", "Widget");
    let instances = |kind| {
        instances_of(&inventory, kind)
            .map(|member| member.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&instances(widget)), ["Widget.example.com/other/b"]);
    // A CRD with the name of a built-in kind defines nothing [CRD-3].
    assert_eq!(
        keys(&instances(ownerlint::kube::GroupKind::new("", "Secret"))),
        [""; 0]
    );
}

/// Returns the JSON plan of a deletion.
fn plan(target: &str, manifests: &str) -> Value {
    let arguments = [
        "plan", "delete", target, "-n", "shop", "-o", "json", "-f", "-",
    ];
    let output = ownerlint()
        .args(arguments)
        .write_stdin(manifests)
        .output()
        .expect("it runs");
    serde_json::from_slice(&output.stdout).expect("a plan")
}

fn of_login(plan: &Value) -> Vec<Value> {
    let implied = plan["implied"].as_array().expect("a list").iter();
    implied
        .filter(|object| object["key"] == "Secret/shop/login")
        .cloned()
        .collect()
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
fn deleting_a_generator_deletes_its_implied_secret() {
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
    assert_eq!(
        objects["Secret/shop/login"],
        Value::Null,
        "implied objects are never listed among the objects"
    );
}

#[test]
fn secret_not_owned_by_its_generator_is_kept() {
    let orphan = format!("{MOUNTED}spec: {{target: {{creationPolicy: Orphan}}}}\n");
    assert_eq!(
        of_login(&plan("externalsecret/login", &orphan))[0]["outcomes"][0]["terminating"],
        false
    );
}

#[test]
fn unused_secret_is_deleted_with_its_generator() {
    let (_, generator) = MOUNTED.split_once("---\n").expect("two documents");
    let implied = of_login(&plan("externalsecret/login", generator));
    assert_eq!(implied.len(), 1);
    assert_eq!(implied[0]["outcomes"], serde_json::json!(["gone"]));
}

#[test]
fn plan_counts_deleted_data() {
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
    let output = ownerlint()
        .args(arguments)
        .write_stdin(manifests)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("Data deleted: 1 claim, 1 KafkaTopic."),
        "{text}"
    );
}

fn delivery_objects(text: &str) -> Vec<DeliveryObject> {
    ownerlint::ownership::delivery_objects(&inventory_of("a.yaml", text))
}

/// Returns the folder of an object's first source.
fn folder(object: &DeliveryObject) -> &str {
    object.sources[0].folder.as_deref().expect("no chart")
}

#[test]
fn application_cascades_only_with_its_finalizer() {
    let application = |finalizers: &str, policy: &str| {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd, finalizers: {finalizers}}}\n\
             spec:\n  source: {{repoURL: https://git.example.com/apps, path: apps/web}}\n  \
             destination: {{server: https://kubernetes.default.svc, namespace: web}}\n  syncPolicy: {policy}\n"
        );
        delivery_objects(&text).remove(0)
    };
    let plain = application("[]", "{}");
    assert_eq!(
        (folder(&plain), plain.deletes(), plain.prunes),
        ("apps/web", false, false)
    );
    assert_eq!(
        (
            plain.destination.cluster,
            plain.destination.namespace.as_deref()
        ),
        (None, Some("web"))
    );
    let cascading = application(
        "[resources-finalizer.argocd.argoproj.io]",
        "{automated: {prune: true}}",
    );
    assert_eq!((cascading.cascades, cascading.prunes), (true, true));
    let background = application(
        "[resources-finalizer.argocd.argoproj.io/background]",
        "{automated: {}}",
    );
    assert_eq!((background.cascades, background.prunes), (true, false));
}

#[test]
fn application_set_folders_end_before_their_parameters() {
    let set = |policy: &str| {
        delivery_objects(&format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  \
             generators: [{{git: {{repoURL: 'https://git.example.com/a', directories: [{{path: 'charts/*/prod'}}]}}}}, \
             {{list: {{elements: [{{folder: base/web}}]}}}}]\n  \
             syncPolicy: {policy}\n  template:\n    metadata: {{name: 'web-{{{{cluster}}}}'}}\n    spec:\n      \
             source: {{repoURL: r, path: 'apps/{{{{ .cluster }}}}/web'}}\n      destination: {{server: '{{{{url}}}}'}}\n"
        ))
        .remove(0)
    };
    let all = set("{}");
    let folders = all.sources.iter().map(|source| source.folder.as_deref());
    let folders: Vec<&str> = folders.flatten().collect();
    assert_eq!(folders, ["apps", "charts", "base/web"], "URLs are none");
    assert!(all.deletes());
    assert!(!set("{preserveResourcesOnDeletion: true}").deletes());
}

#[test]
fn kustomization_deletes_according_to_prune_and_policy() {
    let kustomization = |spec: &str| {
        let text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: apps, namespace: flux-system}}\n\
             spec: {{path: ./apps, sourceRef: {{kind: GitRepository, name: flux-system}}, {spec}}}\n"
        );
        delivery_objects(&text).remove(0)
    };
    let pruning = kustomization("prune: true");
    assert_eq!(
        (folder(&pruning), pruning.prunes, pruning.deletes()),
        ("./apps", true, true)
    );
    assert_eq!(
        pruning.sources[0].repository.as_deref(),
        Some("GitRepository/flux-system/flux-system")
    );
    assert!(!kustomization("prune: false").deletes());
    assert!(kustomization("prune: false, deletionPolicy: Delete").deletes());
    assert!(!kustomization("prune: true, deletionPolicy: Orphan").deletes());
    assert!(
        !kustomization("prune: true, suspend: true").deletes(),
        "a suspended one does nothing"
    );
}

#[test]
fn deleting_a_helm_release_object_uninstalls_it() {
    let release = |spec: &str| {
        let text = format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: redis, namespace: cache}}\nspec: {{{spec}}}\n"
        );
        delivery_objects(&text).remove(0)
    };
    let chart = "chart: {spec: {chart: redis, sourceRef: {kind: HelmRepository, name: bitnami}}}";
    let plain = release(chart);
    assert_eq!(plain.destination.namespace.as_deref(), Some("cache"));
    assert!(plain.cascades);
    assert_eq!(plain.sources[0].folder, None);
    let elsewhere = release(&format!(
        "{chart}, targetNamespace: data, uninstall: {{deletionPropagation: foreground}}"
    ));
    assert_eq!(elsewhere.destination.namespace.as_deref(), Some("data"));
    assert!(elsewhere.cascades);
}

/// Every row of the table of generators, for an object: kind, spec, and its products; `!` marks owned ones.
const GENERATED: [(&str, &str, &str); 19] = [
    (
        "BitwardenSecret.k8s.bitwarden.com",
        "{secretName: a}",
        "!Secret/shop/a",
    ),
    (
        "Certificate.cert-manager.io",
        "{secretName: tls}",
        "Secret/shop/tls",
    ),
    (
        "Cluster.postgresql.cnpg.io",
        "{instances: 3, bootstrap: {initdb: {secret: {name: own}}}, certificates: {serverTLSSecret: own}}",
        "!Secret/shop/x-replication !Secret/shop/x-ca !Service/shop/x-rw !Service/shop/x-r !Service/shop/x-ro",
    ),
    (
        "ClusterExternalSecret.external-secrets.io",
        "{externalSecretName: a, namespaces: [one, two]}",
        "!ExternalSecret.external-secrets.io/one/a !ExternalSecret.external-secrets.io/two/a",
    ),
    (
        "DopplerSecret.secrets.doppler.com",
        "{managedSecret: {name: a, namespace: web}}",
        "Secret/web/a",
    ),
    (
        "ExternalSecret.external-secrets.io",
        "{target: {creationPolicy: Merge}}",
        "Secret/shop/x",
    ),
    (
        "HCPVaultSecretsApp.secrets.hashicorp.com",
        "{destination: {name: a, create: true}}",
        "!Secret/shop/a",
    ),
    (
        "InfisicalSecret.secrets.infisical.com",
        "{managedSecretReference: {secretName: a, secretNamespace: web}}",
        "Secret/web/a",
    ),
    (
        "InfisicalSecret.secrets.infisical.com",
        "{managedSecretReference: {secretName: a, secretNamespace: shop, creationPolicy: Owner}}",
        "!Secret/shop/a",
    ),
    ("KafkaUser.kafka.strimzi.io", "{}", "!Secret/shop/x"),
    (
        "OnePasswordItem.onepassword.com",
        "{itemPath: vaults/a/items/b}",
        "!Secret/shop/x",
    ),
    (
        "RabbitmqCluster.rabbitmq.com",
        "{replicas: 3}",
        "!Secret/shop/x-default-user !Service/shop/x !Service/shop/x-nodes",
    ),
    (
        "SealedSecret.bitnami.com",
        "{encryptedData: {a: b}}",
        "!Secret/shop/x",
    ),
    (
        "SealedSecret.bitnami.com",
        "{template: {metadata: {annotations: {sealedsecrets.bitnami.com/skip-set-owner-references: 'true'}}}}",
        "Secret/shop/x",
    ),
    (
        "VaultDynamicSecret.secrets.hashicorp.com",
        "{destination: {name: a, create: true}}",
        "!Secret/shop/a",
    ),
    (
        "VaultPKISecret.secrets.hashicorp.com",
        "{destination: {name: a}}",
        "Secret/shop/a",
    ),
    (
        "VaultStaticSecret.secrets.hashicorp.com",
        "{destination: {name: a, create: false}}",
        "Secret/shop/a",
    ),
    (
        "Instance.rds.aws.upbound.io",
        "{writeConnectionSecretToRef: {name: a, namespace: web}}",
        "!Secret/web/a",
    ),
    (
        "Database.platform.example.com",
        "{writeConnectionSecretToRef: {name: a}}",
        "!Secret/shop/a",
    ),
];

/// Every row of the table of data: kind, metadata besides the name, spec, and the fate of the data.
const DATA: [(&str, &str, &str, DataFate); 50] = [
    ("CephBlockPool.ceph.rook.io", "", "{}", DataFate::Unknown),
    ("CephCluster.ceph.rook.io", "", "{}", DataFate::Kept),
    (
        "CephCluster.ceph.rook.io",
        "",
        "{cleanupPolicy: {confirmation: yes-really-destroy-data}}",
        DataFate::Lost,
    ),
    (
        "CephFilesystem.ceph.rook.io",
        "",
        "{preserveFilesystemOnDelete: false}",
        DataFate::Unknown,
    ),
    (
        "CephFilesystem.ceph.rook.io",
        "",
        "{preserveFilesystemOnDelete: true}",
        DataFate::Kept,
    ),
    (
        "CephObjectStore.ceph.rook.io",
        "",
        "{preservePoolsOnDelete: true}",
        DataFate::Kept,
    ),
    ("Cluster.cluster.x-k8s.io", "", "{}", DataFate::Lost),
    ("Cluster.postgresql.cnpg.io", "", "{}", DataFate::Lost),
    ("Database.postgresql.cnpg.io", "", "{}", DataFate::Kept),
    (
        "Database.postgresql.cnpg.io",
        "",
        "{databaseReclaimPolicy: delete}",
        DataFate::Lost,
    ),
    (
        "Elasticsearch.elasticsearch.k8s.elastic.co",
        "",
        "{}",
        DataFate::Lost,
    ),
    (
        "Elasticsearch.elasticsearch.k8s.elastic.co",
        "",
        "{volumeClaimDeletePolicy: DeleteOnScaledownOnly}",
        DataFate::Kept,
    ),
    (
        "Kafka.kafka.strimzi.io",
        "",
        "{kafka: {storage: {type: persistent-claim}}}",
        DataFate::Kept,
    ),
    (
        "Kafka.kafka.strimzi.io",
        "",
        "{kafka: {storage: {type: persistent-claim, deleteClaim: true}}}",
        DataFate::Lost,
    ),
    (
        "Kafka.kafka.strimzi.io",
        "",
        "{kafka: {storage: {volumes: [{deleteClaim: false}, {deleteClaim: true}]}}}",
        DataFate::Lost,
    ),
    (
        "KafkaNodePool.kafka.strimzi.io",
        "",
        "{storage: {volumes: [{deleteClaim: false}]}}",
        DataFate::Kept,
    ),
    ("KafkaTopic.kafka.strimzi.io", "", "{}", DataFate::Lost),
    (
        "KafkaTopic.kafka.strimzi.io",
        "annotations: {strimzi.io/managed: 'false'}",
        "{}",
        DataFate::Kept,
    ),
    (
        "ObjectBucketClaim.objectbucket.io",
        "",
        "{}",
        DataFate::Unknown,
    ),
    (
        "PerconaServerMongoDB.psmdb.percona.com",
        "finalizers: [percona.com/delete-psmdb-pvc]",
        "{}",
        DataFate::Lost,
    ),
    (
        "PerconaServerMongoDB.psmdb.percona.com",
        "",
        "{}",
        DataFate::Kept,
    ),
    (
        "PerconaXtraDBCluster.pxc.percona.com",
        "finalizers: [percona.com/delete-pxc-pods-in-order]",
        "{}",
        DataFate::Kept,
    ),
    ("PersistentVolume", "", "{}", DataFate::Kept),
    (
        "PersistentVolume",
        "",
        "{persistentVolumeReclaimPolicy: Delete}",
        DataFate::Lost,
    ),
    ("PersistentVolumeClaim", "", "{}", DataFate::Unknown),
    ("Provider.pkg.crossplane.io", "", "{}", DataFate::Lost),
    ("PushSecret.external-secrets.io", "", "{}", DataFate::Kept),
    (
        "PushSecret.external-secrets.io",
        "",
        "{deletionPolicy: Delete}",
        DataFate::Lost,
    ),
    (
        "Stack.pulumi.com",
        "",
        "{destroyOnFinalize: true}",
        DataFate::Lost,
    ),
    ("StatefulSet.apps", "", "{}", DataFate::Kept),
    (
        "StatefulSet.apps",
        "",
        "{persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}, volumeClaimTemplates: [{metadata: {name: data}}]}",
        DataFate::Unknown,
    ),
    (
        "Terraform.infra.contrib.fluxcd.io",
        "",
        "{}",
        DataFate::Kept,
    ),
    ("Volume.longhorn.io", "", "{}", DataFate::Lost),
    (
        "VolumeSnapshot.snapshot.storage.k8s.io",
        "",
        "{}",
        DataFate::Unknown,
    ),
    (
        "VolumeSnapshotContent.snapshot.storage.k8s.io",
        "",
        "{deletionPolicy: Retain}",
        DataFate::Kept,
    ),
    (
        "VolumeSnapshotContent.snapshot.storage.k8s.io",
        "",
        "{deletionPolicy: Delete}",
        DataFate::Lost,
    ),
    ("Bucket.s3.services.k8s.aws", "", "{}", DataFate::Lost),
    (
        "Bucket.s3.services.k8s.aws",
        "annotations: {services.k8s.aws/deletion-policy: retain}",
        "{}",
        DataFate::Kept,
    ),
    (
        "ConfigConnector.core.cnrm.cloud.google.com",
        "",
        "{}",
        DataFate::Kept,
    ),
    (
        "SQLInstance.sql.cnrm.cloud.google.com",
        "",
        "{}",
        DataFate::Lost,
    ),
    (
        "SQLInstance.sql.cnrm.cloud.google.com",
        "annotations: {cnrm.cloud.google.com/deletion-policy: abandon}",
        "{}",
        DataFate::Kept,
    ),
    ("StorageAccount.storage.azure.com", "", "{}", DataFate::Lost),
    (
        "StorageAccount.storage.azure.com",
        "annotations: {serviceoperator.azure.com/reconcile-policy: skip}",
        "{}",
        DataFate::Kept,
    ),
    (
        "Bucket.s3.aws.crossplane.io",
        "",
        "{deletionPolicy: Orphan}",
        DataFate::Kept,
    ),
    (
        "Bucket.s3.aws.crossplane.io",
        "",
        "{managementPolicies: ['*']}",
        DataFate::Lost,
    ),
    (
        "Bucket.storage.gcp.crossplane.io",
        "",
        "{managementPolicies: [Observe]}",
        DataFate::Kept,
    ),
    (
        "Account.storage.azure.crossplane.io",
        "",
        "{}",
        DataFate::Lost,
    ),
    (
        "Bucket.s3.aws.upbound.io",
        "",
        "{managementPolicies: ['*'], deletionPolicy: Orphan}",
        DataFate::Kept,
    ),
    (
        "Bucket.s3.aws.upbound.io",
        "",
        "{managementPolicies: [Create, Delete]}",
        DataFate::Lost,
    ),
    ("Bucket.s3.aws.upbound.io", "", "{}", DataFate::Lost),
];

/// Returns a manifest of a kind.
fn manifest(kind: &str, metadata: &str, spec: &str) -> String {
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let version = if group.is_empty() {
        "v1".to_owned()
    } else {
        format!("{group}/v1")
    };
    let metadata = if metadata.is_empty() {
        String::new()
    } else {
        format!(", {metadata}")
    };
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x, namespace: shop{metadata}}}\nspec: {spec}\n"
    )
}

#[test]
fn generators_create_the_expected_products() {
    for (kind, spec, products) in GENERATED {
        let inventory = inventory_of("a.yaml", &manifest(kind, "", spec));
        let ties = ties(&inventory);
        let generated = ties.all().iter().filter(|tie| tie.kind != TieKind::Uses);
        let lines: Vec<_> = generated
            .map(|tie| format!("{}{}", if tie.owns() { "!" } else { "" }, tie.to.key))
            .collect();
        assert_eq!(lines.join(" "), products, "{kind} {spec}");
    }
}

#[test]
fn data_kinds_have_the_expected_fate() {
    let tables = Tables::bundled();
    for (kind, metadata, spec, fate) in DATA {
        let inventory = inventory_of("a.yaml", &manifest(kind, metadata, spec));
        let loss = data_loss(&inventory, &tables, &inventory.members[0]).expect(kind);
        assert_eq!(loss.fate, fate, "{kind} {metadata} {spec}");
    }
}

#[test]
fn rendered_secret_makes_the_generated_one_only_possible() {
    let text = format!(
        "{}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: x, namespace: shop}}\n",
        manifest("SealedSecret.bitnami.com", "", "{}")
    );
    assert_eq!(
        all(&text),
        ["SealedSecret.bitnami.com/shop/x generates and owns Secret/shop/x [possible]"]
    );
}

#[test]
fn references_in_custom_resources_are_only_possible() {
    let text = manifest(
        "Prometheus.monitoring.coreos.com",
        "",
        "{remoteWrite: [{basicAuth: {secretKeyRef: {name: login}}}], tls: {secretName: tls}}",
    );
    let user = "Prometheus.monitoring.coreos.com/shop/x";
    assert_eq!(
        all(&text),
        [
            format!("{user} uses Secret/shop/login (in no file) [possible]"),
            format!("{user} uses Secret/shop/tls (in no file) [possible]"),
        ]
    );
}
