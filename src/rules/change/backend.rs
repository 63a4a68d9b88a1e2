//! Services that the API server calls and that a change removes although head still names them.

use std::collections::BTreeSet;

use super::places::{left_in_head, on_name, related_in_base};
use crate::finding::Severity;
use crate::manifest::Spanned;
use crate::merge::{LostBackend, Merge, Surprise, severity};
use crate::ownership::{Purpose, instances_of};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::{listed, named};

pub(in crate::rules) static CONVERSION_WEBHOOK_REMOVED: Rule = rule!(
    Change,
    "conversion-webhook-removed",
    Error,
    Stuck,
    "The Service that converts the objects of a kind is removed, and its CustomResourceDefinition stays",
    change conversion_webhook_removed
);

pub(in crate::rules) static WEBHOOK_BACKEND_REMOVED: Rule = rule!(
    Change,
    "webhook-backend-removed",
    Error,
    Stuck,
    "The Service behind a webhook or an APIService is removed, and the object that names it stays",
    change webhook_backend_removed
);

fn conversion_webhook_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for unanswered in merge.lost_backends() {
        if let Purpose::Conversion = unanswered.clients[0].purpose {
            sink.push(conversion(merge, unanswered));
        }
    }
}

fn webhook_backend_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for unanswered in merge.lost_backends() {
        match &unanswered.clients[0].purpose {
            Purpose::Webhook(_) => sink.push(webhook(merge, unanswered)),
            Purpose::Api { group, version } => sink.push(api(merge, unanswered, group, version)),
            Purpose::Conversion => {}
        }
    }
}

/// Builds a finding on the removed object, with the severity of losing something that head still needs.
fn draft(merge: &Merge<'_>, unanswered: &LostBackend<'_>, message: String) -> Draft {
    let (left, object) = (unanswered.left, unanswered.object);
    let name = unanswered.clients[0].service.name.span;
    let mut draft = on_name(merge, left, message)
        .label("is the backend")
        .target(object.key.to_string());
    if let Some(severity) = severity(Surprise::needed(unanswered.certain)) {
        draft = draft.severity(severity);
    }
    let file = merge.part.sides.head_file(merge.part.at, object.file);
    left_in_head(
        draft.related(file, name, "still names the Service"),
        merge,
        left,
    )
}

fn webhook(merge: &Merge<'_>, unanswered: &LostBackend<'_>) -> Draft {
    let clients = unanswered.clients.iter();
    let webhooks = clients.filter_map(|client| match &client.purpose {
        Purpose::Webhook(webhook) => Some(webhook),
        _ => None,
    });
    let rules = webhooks.clone().flat_map(|webhook| &webhook.rules);
    let operations = rules.flat_map(|rule| &rule.operations);
    let operations: BTreeSet<&str> = operations.map(Spanned::as_str).collect();
    let stuck = if operations.contains("DELETE") || operations.contains("*") {
        ", deletions included: a namespace with such objects stays Terminating"
    } else {
        ""
    };
    let (left, object) = (named(unanswered.left), named(unanswered.object));
    let names = listed(webhooks.map(|webhook| webhook.name.as_str()));
    draft(merge, unanswered, format!("removing {left} breaks {object}, which still calls it"))
        .reason(format!(
            "{names} has `failurePolicy: Fail`. Without a backend the API server rejects every request for which it has to call \
             the webhook ({}){stuck}.",
            operations.iter().map(|operation| format!("`{operation}`")).collect::<Vec<_>>().join(", ")
        ))
        .help(format!("remove {object} in the same change or before, or set `failurePolicy: Ignore` and merge that first"))
}

fn api(merge: &Merge<'_>, unanswered: &LostBackend<'_>, group: &str, version: &str) -> Draft {
    let (left, object) = (named(unanswered.left), named(unanswered.object));
    draft(
        merge,
        unanswered,
        format!("removing {left} breaks {object}, which still registers `{group}/{version}`"),
    )
    .reason(
        "The API group no longer has a backend. The namespace controller lists the kinds of every \
         API group before it finishes a namespace: every Namespace in the cluster that is deleted \
         from then on stays Terminating.",
    )
    .help(format!("remove {object} in the same change or before"))
}

fn conversion(merge: &Merge<'_>, unanswered: &LostBackend<'_>) -> Draft {
    let (left, object) = (named(unanswered.left), named(unanswered.object));
    let definition = unanswered.object.object.definition();
    let kind = definition.map_or("", |crd| crd.group_kind().kind);
    let draft = draft(merge, unanswered, format!("removing {left} breaks {object}, which still uses it as its conversion webhook"))
        .reason(format!(
            "The API server cannot read objects of kind {kind} that are stored in another version: reading, deleting and garbage-collecting \
             them fails, and namespaces with such objects stay Terminating."
        ))
        .help(format!(
            "keep it; or, once all objects are stored in one version, set `spec.conversion.strategy: None` in {object}, remove \
             `spec.conversion.webhook`, and merge that first"
        ));
    // An object stored in the only version is never converted.
    let draft = match definition.map(|crd| crd.versions.len()) {
        Some(1) => draft.severity(Severity::Info).reason(format!(
            "{kind} has one version, so nothing is converted yet. Once it has a second version, \
             the API server cannot read, delete or garbage-collect objects that are stored in the \
             other one."
        )),
        _ => draft,
    };
    let inventory = merge.part.analysis.inventory();
    let instances = definition
        .into_iter()
        .flat_map(|crd| instances_of(inventory, crd.group_kind()));
    instances.take(3).fold(draft, |draft, instance| {
        related_in_base(draft, merge, instance, "is converted by this webhook")
    })
}
