//! The cost of webhooks and aggregated APIs, which tie many objects to a Service and its Pods.

use super::support::{checked, deleted, documents, namespace, within_limits, within_limits_in};
use crate::support::Repository;

/// Returns a webhook whose backend is a Service.
fn webhook(number: usize, service: &str, group: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: web-{number}}}\nwebhooks: \
         [{{name: web.example.com, clientConfig: {{service: {{name: {service}, namespace: shop}}}}, rules: [{{apiGroups: ['{group}'], \
         apiVersions: ['*'], resources: ['*'], operations: ['*']}}]}}]"
    )
}

/// Returns a Service that selects every [`pod`].
fn service(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{selector: {{app: web}}}}"
    )
}

fn pod(number: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: web-{number}, namespace: shop, labels: {{app: web}}}}"
    )
}

fn config_map(number: usize) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop}}")
}

#[test]
fn webhooks_that_match_all_objects() {
    let pair = |number| {
        format!(
            "{}\n---\n{}",
            webhook(number, "hook", "*"),
            config_map(number)
        )
    };
    let content = format!(
        "---\n{}\n---\n{}\n{}",
        service("hook"),
        pod(0),
        documents(2_000, pair)
    );
    checked(&namespace(&content));
    deleted(&content);
    let inside = Repository::new();
    inside.write("input.yaml", &namespace(&content));
    inside.write("head/empty.yaml", "");
    within_limits_in(&inside, "diff --base @ --head head --fail-on never");
}

/// There is one object of each kind.
#[test]
fn webhooks_and_kinds() {
    let pair = |number| {
        let group = format!("example-{number}.com");
        format!(
            "{}\n---\napiVersion: {group}/v1\nkind: Cake\nmetadata: {{name: web, namespace: shop}}",
            webhook(number, "hook", &group)
        )
    };
    checked(&namespace(&format!(
        "---\n{}\n---\n{}\n{}",
        service("hook"),
        pod(0),
        documents(10_000, pair)
    )));
}

/// Each webhook has its own Service, and all Services select all Pods.
#[test]
fn services_that_select_the_same_pods() {
    let one = |number| {
        let name = format!("hook-{number}");
        format!(
            "{}\n---\n{}\n---\n{}",
            webhook(number, &name, "example.com"),
            service(&name),
            pod(number)
        )
    };
    checked(&namespace(&documents(8_000, one)));
    deleted(&documents(2_000, one));
}

#[test]
fn webhooks_of_one_service_with_many_pods() {
    let pair = |number| {
        format!(
            "{}\n---\n{}",
            webhook(number, "hook", "example.com"),
            pod(number)
        )
    };
    deleted(&format!(
        "---\n{}\n{}",
        service("hook"),
        documents(3_000, pair)
    ));
}

/// As long as Pods are being deleted, every other deletion depends on whether a Pod is left.
#[test]
fn webhook_that_matches_its_own_pods() {
    let pair = |number| format!("{}\n---\n{}", pod(number), config_map(number));
    let (service, webhook) = (service("hook"), webhook(0, "hook", "*"));
    let text = namespace(&format!(
        "---\n{service}\n---\n{webhook}\n{}",
        documents(500, pair)
    ));
    within_limits(&text, "plan teardown --by kubectl --fail-on never @");
    within_limits(
        &text,
        "plan teardown --by namespace -n shop --fail-on never @",
    );
}

/// No Namespace is finished while the API is unavailable, so after each move it is checked which ones are empty.
#[test]
fn unavailable_api_and_many_waiting_namespaces() {
    let api = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.example.com}\nspec: {group: example.com, \
               version: v1, service: {name: hook, namespace: shop}}";
    let namespaces = documents(4_000, |number| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop-{number}}}")
    });
    let text = namespace(&format!(
        "---\n{}\n---\n{}\n---\n{api}\n{namespaces}",
        service("hook"),
        pod(0)
    ));
    within_limits(&text, "plan teardown --by namespace --fail-on never @");
}

/// The purge of a kind ends at its first object, which the webhook rejects.
#[test]
fn webhook_that_matches_one_of_many_objects() {
    let selected = webhook(0, "missing", "*").replace(
        "clientConfig",
        "objectSelector: {matchLabels: {app: first}}, clientConfig",
    );
    let first = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, labels: {app: first}}";
    let printed = within_limits(
        &namespace(&format!(
            "---\n{selected}\n---\n{first}\n{}",
            documents(8_000, config_map)
        )),
        "plan delete ns/shop -f @",
    );
    assert!(printed.contains("webhook"), "{printed}");
}
