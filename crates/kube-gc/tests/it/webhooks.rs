//! Webhooks and aggregated APIs without a backend.
//!
//! In the sketches, the Service `Service/n/hook` and its Pod `Pod/n/hook` (if there is one) answer the callouts.

use kube_gc::names::Policy;
use kube_gc::{
    ApiServiceFacts, Cluster, Facts, Object, ServiceBackend, SimulationOptions, Step, Verb,
    WEBHOOK_FAILED, WebhookFacts, WebhookRequests, simulate,
};

use crate::support::{
    cluster, delete, key, outcomes, planned, present, sketch_key, sketch_object, sketch_objects,
};

const CONFIGURATION: &str = "ValidatingWebhookConfiguration.admissionregistration.k8s.io//hooks";
const API_SERVICE: &str = "APIService.apiregistration.k8s.io//v1.broken.example.com";
const SERVICE: &str = "Service/n/hook";
const POD: &str = "Pod/n/hook";

fn backend(pods: Option<&[&str]>) -> ServiceBackend {
    let pods = pods.map(|pods| pods.iter().map(|pod| sketch_key(pod)).collect());
    ServiceBackend {
        service: key(SERVICE),
        pods,
    }
}

/// Builds a configuration with one webhook that is called for `verb` on `objects`.
fn webhook(verb: Verb, objects: &[&str], pods: Option<&[&str]>) -> Object {
    let objects = objects.iter().map(|object| sketch_key(object)).collect();
    let webhook = WebhookFacts {
        name: "a.example.net".to_owned(),
        url: "https://hook.n.svc:443/?timeout=10s".to_owned(),
        backend: backend(pods),
        requests: vec![WebhookRequests {
            verbs: vec![verb],
            objects,
        }],
    };
    Object {
        facts: Facts::Webhooks(vec![webhook]),
        ..sketch_object(CONFIGURATION)
    }
}

fn api_service(pods: Option<&[&str]>) -> Object {
    let facts = ApiServiceFacts {
        group_version: "broken.example.com/v1".to_owned(),
        backend: backend(pods),
    };
    Object {
        facts: Facts::ApiService(Box::new(facts)),
        ..sketch_object(API_SERVICE)
    }
}

fn with(client: Object, lines: &[&str]) -> Cluster {
    cluster(sketch_objects(lines).into_iter().chain([client]).collect())
}

/// A sketch with a webhook that is called for `verb` on `objects`.
fn refusing(verb: Verb, objects: &[&str], lines: &[&str]) -> Cluster {
    with(webhook(verb, objects, None), lines)
}

fn background(names: &[&str]) -> Step {
    delete(names, Some(Policy::Background))
}

/// Returns the HTTP codes of the last step.
fn codes(cluster: &Cluster, steps: &[Step]) -> Vec<u16> {
    let plan = planned(cluster, steps);
    plan.steps.last().expect("a step").responses.clone()
}

/// Returns the remaining objects in the verdict of the last step, without the configuration.
fn left(cluster: &Cluster, steps: &[Step]) -> Vec<String> {
    let mut left = outcomes(cluster, steps).remove(0);
    left.retain(|object| object != CONFIGURATION);
    left
}

/// Returns the objects that remain after the deletion of their namespace.
fn without_namespace(cluster: &Cluster) -> Vec<String> {
    left(cluster, &[background(&["Namespace//n"])])
}

/// Returns reason and message of the conditions with status True of a namespace that stays Terminating.
fn true_conditions(cluster: &Cluster, steps: &[Step], namespace: &str) -> Vec<(String, String)> {
    let conditions = present(cluster, steps, namespace).conditions;
    let failing = conditions
        .expect("a Terminating namespace has conditions")
        .into_iter()
        .filter(|condition| condition.status == "True");
    failing
        .map(|condition| (condition.reason, condition.message))
        .collect()
}

#[test]
fn webhook_with_running_backend_rejects_nothing() {
    let cluster = with(
        webhook(Verb::Delete, &["a"], Some(&[POD])),
        &["a", SERVICE, POD],
    );
    assert_eq!(left(&cluster, &[background(&["a"])]), [POD, SERVICE]);
}

#[test]
fn webhook_without_service_rejects_only_matching_requests() {
    let cluster = refusing(Verb::Delete, &["a"], &["a", "b"]);
    assert_eq!(
        codes(&cluster, &[background(&["a", "b"])]),
        [WEBHOOK_FAILED, 200]
    );
    assert_eq!(left(&cluster, &[background(&["a", "b"])]), ["a"]);
}

#[test]
fn requests_after_service_deletion_are_rejected() {
    let cluster = refusing(Verb::Delete, &["a", "b"], &["a", "b", SERVICE]);
    let steps = [background(&["a", SERVICE, "b"])];
    assert_eq!(codes(&cluster, &steps), [200, 200, WEBHOOK_FAILED]);
    assert_eq!(left(&cluster, &steps), ["b"]);
}

#[test]
fn service_with_deleted_pods_rejects_requests() {
    let cluster = with(
        webhook(Verb::Delete, &["a"], Some(&[POD])),
        &["a", SERVICE, POD],
    );
    assert_eq!(
        left(&cluster, &[background(&[POD]), background(&["a"])]),
        ["a", SERVICE]
    );
}

#[test]
fn service_selecting_no_pods_rejects_requests() {
    let cluster = with(webhook(Verb::Delete, &[SERVICE], Some(&[])), &[SERVICE]);
    assert_eq!(left(&cluster, &[background(&[SERVICE])]), [SERVICE]);
}

#[test]
fn deleted_webhook_configuration_rejects_nothing() {
    let cluster = refusing(Verb::Delete, &["a"], &["a"]);
    assert_eq!(
        left(&cluster, &[background(&[CONFIGURATION, "a"])]),
        [""; 0]
    );
}

#[test]
fn rejected_updates_prevent_finalizer_removal() {
    let cluster = refusing(Verb::Update, &["a"], &["a{x/y}"]);
    let patch = Step::RemoveFinalizer {
        targets: vec![sketch_key("a")],
        finalizer: "x/y".to_owned(),
        wait: kube_gc::names::Wait::Settled,
    };
    assert_eq!(
        codes(&cluster, &[background(&["a"]), patch.clone()]),
        [WEBHOOK_FAILED]
    );
    assert_eq!(left(&cluster, &[background(&["a"]), patch]), ["a{T,x/y}"]);
}

#[test]
fn collector_retries_after_webhook_configuration_is_deleted() {
    let cluster = refusing(Verb::Delete, &["c"], &["o", "c -> o"]);
    assert_eq!(left(&cluster, &[background(&["o"])]), ["c -> o"]);
    assert_eq!(
        left(
            &cluster,
            &[background(&["o"]), background(&[CONFIGURATION])]
        ),
        [""; 0]
    );
}

#[test]
fn a_foreground_owner_waits_for_a_dependent_that_cannot_be_deleted() {
    let cluster = refusing(Verb::Delete, &["c"], &["o", "c -> !o"]);
    let foreground = delete(&["o"], Some(Policy::Foreground));
    assert_eq!(
        left(&cluster, &[foreground]),
        ["c -> !o", "o{T,foregroundDeletion}"]
    );
}

#[test]
fn rejected_updates_keep_foreground_owner() {
    let cluster = refusing(Verb::Update, &["o"], &["o", "c -> !o"]);
    let foreground = delete(&["o"], Some(Policy::Foreground));
    assert_eq!(left(&cluster, &[foreground]), ["o{T,foregroundDeletion}"]);
}

#[test]
fn rejected_dependent_updates_block_orphaning() {
    let cluster = refusing(Verb::Update, &["c"], &["o", "c -> o", "d -> o"]);
    let steps = [
        delete(&["o"], Some(Policy::Orphan)),
        background(&[CONFIGURATION]),
    ];
    assert_eq!(left(&cluster, &steps[..1]), ["c -> o", "d", "o{T,orphan}"]);
    assert_eq!(left(&cluster, &steps), ["c", "d"]);
}

#[test]
fn rejected_deletion_keeps_namespace_and_sets_condition() {
    let cluster = refusing(Verb::Delete, &["b"], &["Namespace//n", "a", "b"]);
    let step = [background(&["Namespace//n"])];
    assert_eq!(left(&cluster, &step), ["b", "Namespace//n{T}"]);
    let error = "Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook \
                 \"a.example.net\": failed to call webhook: Post \"https://hook.n.svc:443/?timeout=10s\": service \"hook\" not found";
    assert_eq!(
        true_conditions(&cluster, &step, "Namespace//n"),
        [("ContentDeletionFailed".to_owned(), error.to_owned())]
    );
}

#[test]
fn first_rejection_stops_namespace_deletion_of_its_kind() {
    let cluster = refusing(
        Verb::Delete,
        &["b"],
        &["Namespace//n", "a", "b", "c", "Secret/n/s"],
    );
    assert_eq!(without_namespace(&cluster), ["b", "c", "Namespace//n{T}"]);
}

#[test]
fn namespace_deletion_removes_webhook_pods_first() {
    let cluster = with(
        webhook(Verb::Delete, &["a"], Some(&[POD])),
        &["Namespace//n", "a", SERVICE, POD],
    );
    assert_eq!(without_namespace(&cluster), ["a", "Namespace//n{T}"]);
}

#[test]
fn rejected_pods_do_not_keep_other_namespace_content() {
    let cluster = refusing(
        Verb::Delete,
        &["Pod/n/p"],
        &["Namespace//n", "a", "Pod/n/p"],
    );
    assert_eq!(without_namespace(&cluster), ["Namespace//n{T}", "Pod/n/p"]);
}

#[test]
fn rejected_finalize_keeps_empty_namespace() {
    let cluster = refusing(Verb::Finalize, &["Namespace//n"], &["Namespace//n", "a"]);
    assert_eq!(without_namespace(&cluster), ["Namespace//n{T}"]);
}

#[test]
fn rejection_names_webhook_configuration_and_service() {
    let cluster = with(webhook(Verb::Delete, &["a"], Some(&[])), &["a", SERVICE]);
    let plan = planned(&cluster, &[background(&["a"])]);
    let [rejection] = &plan.rejections(0)[..] else {
        panic!("one rejection")
    };
    assert_eq!(
        (cluster.key(rejection.object), rejection.verb),
        (sketch_key("a"), Verb::Delete)
    );
    assert_eq!(cluster.key(rejection.configuration), key(CONFIGURATION));
    assert_eq!(
        (&*rejection.webhook, &rejection.service),
        ("a.example.net", &key(SERVICE))
    );
    assert!(rejection.service_exists);
}

#[test]
fn failing_api_service_keeps_every_namespace_but_not_content() {
    let cluster = with(
        api_service(Some(&[POD])),
        &[
            "Namespace//m",
            "ConfigMap/m/a",
            "Namespace//n",
            SERVICE,
            POD,
        ],
    );
    let released = [
        background(&["Namespace//n"]),
        background(&["Namespace//m"]),
        background(&[API_SERVICE]),
    ];
    let stuck = ["Namespace//m{T}", "Namespace//n{T}", API_SERVICE];
    assert_eq!(outcomes(&cluster, &released[..2]), [stuck]);
    assert_eq!(outcomes(&cluster, &released), [[""; 0]]);
}

#[test]
fn namespace_is_deleted_while_aggregated_apis_are_served() {
    let cluster = with(
        api_service(Some(&[POD])),
        &["Namespace//m", "ConfigMap/m/a", SERVICE, POD],
    );
    assert_eq!(
        outcomes(&cluster, &[background(&["Namespace//m"])]),
        [[POD, SERVICE, API_SERVICE]]
    );
}

/// Without reduction, the search follows every order. [`outcomes`] leaves out those that cannot matter.
#[test]
fn search_finds_both_orders_of_service_and_intercepted_object() {
    let owned = ["o", "a -> o", "Service/n/hook -> o"];
    let cluster = refusing(Verb::Delete, &["a"], &owned);
    let step = [background(&["o"])];
    let found = outcomes(&cluster, &step);
    assert_eq!(found.len(), 2, "{found:?}");
    let plain = SimulationOptions {
        kubelet: false,
        reduction: false,
        ..SimulationOptions::default()
    };
    assert_eq!(simulate(&cluster, &step, &plain).steps[0].outcomes.len(), 2);
}
