//! Services that the API server calls, and that a change takes away while what names them stays.

use std::collections::{BTreeMap, BTreeSet};

use super::places::{left_in_head, on_base, related_in_base};
use crate::finding::Certainty;
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;
use crate::manifest::Webhook;
use crate::merge::{Merge, Surprise, severity};
use crate::ownership::{Backend, Purpose, Selected, ServedClient, Serves};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::{listed, named};

pub(in crate::rules) static CONVERSION_WEBHOOK_REMOVED: Rule = rule!(
    "conversion-webhook-removed",
    Error,
    Stuck,
    "The Service that converts the objects of a kind leaves, and its CustomResourceDefinition stays",
    change conversion_webhook_removed
);

pub(in crate::rules) static WEBHOOK_BACKEND_REMOVED: Rule = rule!(
    "webhook-backend-removed",
    Error,
    Stuck,
    "The Service behind a webhook or an APIService leaves, and what names it stays",
    change webhook_backend_removed
);

fn conversion_webhook_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for unanswered in unanswered(merge) {
        if let Purpose::Conversion = unanswered.clients[0].purpose {
            sink.push(conversion(merge, &unanswered));
        }
    }
}

fn webhook_backend_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for unanswered in unanswered(merge) {
        match &unanswered.clients[0].purpose {
            Purpose::Webhook(_) => sink.push(webhook(merge, &unanswered)),
            Purpose::Api { group, version } => sink.push(api(merge, &unanswered, group, version)),
            Purpose::Conversion => {}
        }
    }
}

/// An object of head, a Service that it names, and what took that away.
struct LostBackend<'a> {
    /// What names the Service, in head.
    object: &'a Member,
    /// For what, all by one Service.
    clients: Vec<ServedClient>,
    /// What left, in base: the Service, or the only workload behind it.
    left: &'a Member,
    /// Whether that certainly happens.
    certain: bool,
}

/// What head leaves without an answer although base answered it.
fn unanswered<'a>(merge: &Merge<'a>) -> Vec<LostBackend<'a>> {
    let Some(head) = merge.part.head else { return Vec::new() };
    if merge.effects.is_empty() {
        return Vec::new();
    }
    let (before, after) = (&merge.part.analysis.ownership().serves, Serves::of(&head.inventory));
    let mut answered: BTreeMap<(&ObjectKey, ObjectKey), &ServedClient> = BTreeMap::new();
    for client in &before.clients {
        let object = &merge.part.base.inventory.member(client.object).key;
        answered.entry((object, client.service_key())).or_insert(client);
    }
    let mut found: BTreeMap<(ObjectId, ObjectKey), LostBackend<'a>> = BTreeMap::new();
    for client in after.clients.iter().filter(|client| is_needed(&client.purpose)) {
        let object = head.inventory.member(client.object);
        let Some(was) = answered.get(&(&object.key, client.service_key())) else { continue };
        if !head.applies(object) || answers(&client.backend) {
            continue;
        }
        let Some((left, certain)) = what_left(merge, &was.backend) else { continue };
        let unanswered = LostBackend { object, clients: Vec::new(), left, certain };
        found.entry((object.id, client.service_key())).or_insert(unanswered).clients.push(client.clone());
    }
    found.into_values().collect()
}

/// Whether anything fails when nobody answers.
fn is_needed(purpose: &Purpose) -> bool {
    match purpose {
        Purpose::Webhook(webhook) => webhook.fails_closed && !webhook.rules.is_empty(),
        Purpose::Api { .. } | Purpose::Conversion => true,
    }
}

/// Whether somebody answers, or may do so: a Service without a selector is answered by others.
fn answers(backend: &Backend) -> bool {
    match backend {
        Backend::Service { pods, .. } => *pods != Selected::Nobody,
        Backend::Absent(_) => false,
    }
}

/// Of what answered in base, what is deleted: the Service, else every workload behind it.
fn what_left<'a>(merge: &Merge<'a>, backend: &Backend) -> Option<(&'a Member, bool)> {
    let Backend::Service { id, certainty, pods } = backend else { return None };
    let inventory = &merge.part.base.inventory;
    let (service, known) = (inventory.member(*id), *certainty == Certainty::Certain);
    if let Some(certain) = merge.takes_away(&service.key) {
        return Some((service, certain && known));
    }
    let Selected::Workloads(workloads) = pods else { return None };
    let ends: Option<Vec<bool>> = workloads.iter().map(|id| merge.takes_away(&inventory.member(*id).key)).collect();
    let certain = ends?.into_iter().all(|certain| certain);
    Some((inventory.member(*workloads.first()?), certain && known))
}

/// A finding on what left, as bad as what head still needs.
fn draft(merge: &Merge<'_>, unanswered: &LostBackend<'_>, message: String) -> Draft {
    let surprise = Surprise::needed(unanswered.certain);
    let client = &unanswered.clients[0];
    let left = unanswered.left;
    let mut draft = on_base(merge, left, left.object.name_span(), message)
        .label("answered until now")
        .field("metadata.name")
        .target(unanswered.object.key.to_string());
    if let Some(severity) = severity(surprise) {
        draft = draft.severity(severity);
    }
    let file = merge.part.sides.head_file(merge.part.at, unanswered.object.file);
    let draft = draft.related(file, client.service.name.span, "names the Service, and stays");
    left_in_head(draft, merge, left)
}

fn webhook(merge: &Merge<'_>, unanswered: &LostBackend<'_>) -> Draft {
    let webhooks = unanswered.clients.iter().filter_map(|client| match &client.purpose {
        Purpose::Webhook(webhook) => Some(webhook),
        _ => None,
    });
    let operations = |webhook: &Webhook| {
        let operations = webhook.rules.iter().flat_map(|rule| &rule.operations);
        operations.map(|operation| operation.value.clone()).collect::<Vec<_>>()
    };
    let operations: BTreeSet<String> = webhooks.clone().flat_map(|webhook| operations(webhook)).collect();
    let deletes = operations.iter().any(|operation| operation == "DELETE" || operation == "*");
    let stuck = match deletes {
        true => " That includes deletions: a namespace with such objects stays Terminating.",
        false => "",
    };
    let (left, object) = (named(unanswered.left), named(unanswered.object));
    let names = listed(webhooks.map(|webhook| webhook.name.as_str()));
    draft(merge, unanswered, format!("{left} leaves, and {object} still calls it"))
        .reason(format!(
            "{names} has `failurePolicy: Fail`: the API server rejects every request that it is asked about ({}) while nobody \
             answers.{stuck}",
            operations.iter().map(|operation| format!("`{operation}`")).collect::<Vec<_>>().join(", ")
        ))
        .help(format!("remove {object} in the same change or before, or set `failurePolicy: Ignore` and merge that first"))
}

fn api(merge: &Merge<'_>, unanswered: &LostBackend<'_>, group: &str, version: &str) -> Draft {
    let (left, object) = (named(unanswered.left), named(unanswered.object));
    draft(merge, unanswered, format!("{left} leaves, and {object} still announces `{group}/{version}`"))
        .reason(
            "Nobody answers for the API group any more. The namespace controller asks every group before it finishes: every Namespace \
             that is deleted from then on stays Terminating, in the whole cluster.",
        )
        .help(format!("remove {object} in the same change or before"))
}

fn conversion(merge: &Merge<'_>, unanswered: &LostBackend<'_>) -> Draft {
    let (left, object) = (named(unanswered.left), named(unanswered.object));
    let kind = unanswered.object.object.definition().map(|crd| crd.group_kind().kind.to_owned()).unwrap_or_default();
    let instances =
        unanswered.object.object.definition().map(|crd| merge.part.analysis.ties().instances_of(crd.group_kind()));
    let instances = instances.unwrap_or_default();
    let draft = draft(merge, unanswered, format!("{left} leaves, and {object} still converts with it"))
        .reason(format!(
            "The API server cannot read objects of kind {kind} that are stored in another version: reading, deleting and collecting \
             them fails, and namespaces with such objects stay Terminating."
        ))
        .help(format!(
            "keep it, or set `spec.conversion.strategy: None` in {object} and merge that first, once all objects are stored in one \
             version"
        ));
    let instances = instances.iter().take(3).map(|id| merge.part.base.inventory.member(*id));
    instances.fold(draft, |draft, instance| related_in_base(draft, merge, instance, "is converted with it"))
}
