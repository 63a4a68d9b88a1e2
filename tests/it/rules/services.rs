//! Clients of a Service (such as webhooks), the Pods behind it, and the requests sent to a webhook.

use ownerlint::inventory::Inventory;
use ownerlint::kube::{GroupKind, Namespace};
use ownerlint::manifest::{Labels, Webhook};
use ownerlint::ownership::{
    Absence, AdmissionOperation, Backend, Interception, Purpose, RequestedKind, RequestedObject,
    Selected, Serves,
};

use crate::support::inventory_of;

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: guard}\nspec: {selector: {app: hook, tier: x}}\n";

/// Returns a workload in namespace `guard` whose Pods have these labels.
fn workload(kind: &str, labels: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w, namespace: guard}}\nspec: {{template: {{metadata: {{labels: {{{labels}}}}}}}}}\n"
    )
}

/// Returns a configuration with one webhook.
fn configuration(fields: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: hooks}}\n\
         webhooks: [{{name: a.example.net, clientConfig: {{service: {{name: hook, namespace: guard}}}}, {fields}}}]\n"
    )
}

fn inventory(documents: &[&str]) -> Inventory {
    inventory_of("all.yaml", &documents.join("---\n"))
}

/// Returns the backend of the only client.
fn backend(documents: &[&str]) -> Backend {
    let [client] = &Serves::of(&inventory(documents)).clients[..] else {
        panic!("one client")
    };
    client.backend.clone()
}

fn behind(documents: &[&str]) -> Selected {
    match backend(documents) {
        Backend::Service { pods, .. } => pods,
        Backend::Absent(absence) => panic!("{absence:?}"),
    }
}

fn absence(documents: &[&str]) -> Absence {
    match backend(documents) {
        Backend::Absent(absence) => absence,
        Backend::Service { pods, .. } => panic!("{pods:?}"),
    }
}

#[test]
fn services_serve_webhooks_aggregated_apis_and_conversions() {
    let api = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x.example.net}\nspec: {group: x.example.net, version: v1, service: {name: hook, namespace: guard}}\n";
    let local = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.apps}\nspec: {group: apps, version: v1}\n";
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: cakes.x.example.net}\n\
               spec: {group: x.example.net, scope: Namespaced, names: {kind: Cake, plural: cakes}, versions: [{name: v1, served: true}], \
               conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hook, namespace: guard}}}}}\n";
    let url = configuration("rules: []").replace(
        "service: {name: hook, namespace: guard}",
        "url: 'https://x.example.net'",
    );
    let serves = Serves::of(&inventory(&[&configuration(""), &url, api, local, crd]));
    let purposes = serves.clients.iter().map(|client| match &client.purpose {
        Purpose::Webhook(webhook) => webhook.name.value.clone(),
        Purpose::Api { group, version } => format!("{group}/{version}"),
        Purpose::Conversion => "conversion".to_owned(),
    });
    assert_eq!(
        purposes.collect::<Vec<_>>(),
        ["a.example.net", "x.example.net/v1", "conversion"]
    );
}

#[test]
fn service_selects_workloads_by_pod_template_labels() {
    let configuration = configuration("");
    for kind in ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] {
        let matching = workload(kind, "app: hook, tier: x, more: y");
        let serves = Serves::of(&inventory(&[&configuration, SERVICE, &matching]));
        let Backend::Service {
            pods: Selected::Workloads(selected),
            ..
        } = serves.clients[0].backend
        else {
            panic!("{kind}")
        };
        assert_eq!(serves.workloads(selected).len(), 1, "{kind}");
    }
    let other = workload("Deployment", "app: hook");
    assert_eq!(behind(&[&configuration, SERVICE, &other]), Selected::NoPods);
    let elsewhere =
        workload("Deployment", "app: hook, tier: x").replace("namespace: guard", "namespace: shop");
    assert_eq!(
        behind(&[&configuration, SERVICE, &elsewhere]),
        Selected::NoPods
    );
}

#[test]
fn service_selects_pods_by_label_but_not_jobs() {
    let configuration = configuration("");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: guard, labels: {app: hook, tier: x}}\n";
    assert!(matches!(
        behind(&[&configuration, SERVICE, pod]),
        Selected::Workloads(_)
    ));
    let job = workload("Job", "app: hook, tier: x").replace("apps/v1", "batch/v1");
    assert_eq!(behind(&[&configuration, SERVICE, &job]), Selected::NoPods);
}

#[test]
fn certainty_of_missing_service_depends_on_the_input() {
    let configuration = configuration("");
    assert_eq!(absence(&[&configuration]), Absence::Unknown);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: guard}\n";
    assert_eq!(absence(&[&configuration, namespace]), Absence::Unplaced);
    let live = configuration.replace(
        "{name: hooks}",
        "{name: hooks, uid: u1, resourceVersion: '1'}",
    );
    let other = "apiVersion: v1\nkind: Service\nmetadata: {name: kubernetes, namespace: default, uid: u2, resourceVersion: '1'}\n";
    assert_eq!(absence(&[&live, other]), Absence::Dumped);
}

/// Returns the webhook with these fields.
fn webhook(fields: &str) -> Webhook {
    let serves = Serves::of(&inventory(&[&configuration(fields)]));
    let (_, webhook) = serves.webhooks().next().expect("a webhook");
    webhook.clone()
}

/// Whether a rule matches the deletion of a Cake of group `x.example.net`, served as v1 and v1beta1.
fn matched(rule: &str, more: &str, subresource: &str) -> Interception {
    let webhook = webhook(&format!("rules: [{{{rule}}}]{more}"));
    let versions = ["v1".to_owned(), "v1beta1".to_owned()];
    let kind = RequestedKind {
        kind: GroupKind::new("x.example.net", "Cake"),
        resources: &["cakes".to_owned()],
        versions: &versions,
        namespaced: true,
    };
    kind.matched_by(&webhook, AdmissionOperation::Delete, subresource)
}

#[test]
fn webhook_rule_matches_operation_group_version_resource_and_scope() {
    let rule = |operations: &str, group: &str, version: &str, resource: &str| {
        format!(
            "operations: [{operations}], apiGroups: ['{group}'], apiVersions: ['{version}'], resources: ['{resource}']"
        )
    };
    for (operations, group, version, resource, expected) in [
        ("DELETE", "x.example.net", "v1", "cakes", Interception::Yes),
        ("'*'", "*", "*", "*", Interception::Yes),
        (
            "CREATE, UPDATE",
            "x.example.net",
            "v1",
            "cakes",
            Interception::No,
        ),
        ("DELETE", "", "v1", "cakes", Interception::No),
        ("DELETE", "x.example.net", "v2", "cakes", Interception::No),
        ("DELETE", "x.example.net", "v1", "cookies", Interception::No),
        (
            "DELETE",
            "x.example.net",
            "v1",
            "cakes/status",
            Interception::No,
        ),
        ("DELETE", "x.example.net", "v1", "*/*", Interception::Yes),
    ] {
        let rule = rule(operations, group, version, resource);
        assert_eq!(matched(&rule, "", ""), expected, "{rule}");
    }
    let cakes = rule("DELETE", "x.example.net", "v1", "cakes");
    assert_eq!(
        matched(&format!("{cakes}, scope: Namespaced"), "", ""),
        Interception::Yes
    );
    assert_eq!(
        matched(&format!("{cakes}, scope: Cluster"), "", ""),
        Interception::No
    );
    // The request may use the other version.
    assert_eq!(
        matched(&cakes, ", matchPolicy: Exact", ""),
        Interception::Maybe
    );
    assert_eq!(matched(&cakes, "", "status"), Interception::No);
    assert_eq!(
        matched(&rule("DELETE", "*", "*", "*/*"), "", "status"),
        Interception::Yes
    );
    assert_eq!(
        matched(&rule("DELETE", "*", "*", "*"), "", "status"),
        Interception::No
    );
}

#[test]
fn webhooks_do_not_intercept_webhook_configurations() {
    let webhook = webhook(
        "rules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*']}]",
    );
    let kind = RequestedKind {
        kind: GroupKind::new(
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration",
        ),
        resources: &["validatingwebhookconfigurations".to_owned()],
        versions: &["v1".to_owned()],
        namespaced: false,
    };
    assert_eq!(
        kind.matched_by(&webhook, AdmissionOperation::Delete, ""),
        Interception::No
    );
}

/// Whether the selectors select an object without labels in `namespace`, whose labels are known or not.
fn selected(fields: &str, namespace: &Namespace, namespace_labels_are_known: bool) -> Interception {
    let none = Labels::default();
    let object = RequestedObject {
        namespace,
        labels: Some(none),
        namespace_labels: namespace_labels_are_known.then_some(none),
    };
    object.selected_by(&webhook(fields))
}

#[test]
fn namespace_selectors_know_names_but_not_labels() {
    let shop = Namespace::Named("shop".into());
    let by_name = |operator: &str| {
        format!(
            "namespaceSelector: {{matchExpressions: [{{key: kubernetes.io/metadata.name, operator: {operator}, values: [shop]}}]}}"
        )
    };
    assert_eq!(selected(&by_name("In"), &shop, false), Interception::Yes);
    assert_eq!(selected(&by_name("NotIn"), &shop, false), Interception::No);
    assert_eq!(
        selected(&by_name("In"), &Namespace::Unwritten, false),
        Interception::Maybe
    );
    let by_label = "namespaceSelector: {matchExpressions: [{key: ignore, operator: DoesNotExist}]}";
    assert_eq!(selected(by_label, &shop, true), Interception::Yes);
    assert_eq!(selected(by_label, &shop, false), Interception::Maybe);
    // A `namespaceSelector` never excludes cluster-scoped objects.
    assert_eq!(
        selected(&by_name("In"), &Namespace::None, false),
        Interception::Yes
    );
    assert_eq!(
        selected("objectSelector: {matchLabels: {a: b}}", &shop, true),
        Interception::No
    );
    assert_eq!(
        selected(
            "matchConditions: [{name: x, expression: 'false'}]",
            &shop,
            true
        ),
        Interception::Maybe
    );
}

#[test]
fn v1beta1_webhooks_default_to_ignore_and_exact_match() {
    let new = webhook("");
    assert!(new.fails_closed && new.any_version);
    let old = configuration("").replace(
        "admissionregistration.k8s.io/v1",
        "admissionregistration.k8s.io/v1beta1",
    );
    let serves = Serves::of(&inventory(&[&old]));
    let (_, old) = serves.webhooks().next().expect("a webhook");
    assert!(!old.fails_closed && !old.any_version);
    assert_eq!((webhook("").timeout_seconds, old.timeout_seconds), (10, 30));
}
