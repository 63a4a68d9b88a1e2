//! Failures of a step because a Service that the API server calls has no backend, and the remedies.

use std::collections::BTreeMap;

use super::command;
use super::telling::Story;
use super::words;
use crate::gc::{FailingApi, Hold, Rejection, Verb};
use crate::kube::kubectl;
use crate::text::plain;

/// A webhook that rejects requests of a step, or an API whose failure blocks the deletion of every Namespace.
#[derive(Debug)]
pub(crate) struct Unanswered {
    /// The effect, as a sentence.
    pub(crate) what: String,
    pub(crate) citations: &'static [&'static str],
    /// The remedy, as a sentence that precedes the command.
    pub(crate) help: String,
    pub(crate) command: String,
}

/// Returns the webhooks that reject requests, then the failing APIs, unless a stuck Namespace shows them.
pub(crate) fn unanswered(story: &Story<'_>) -> Vec<Unanswered> {
    let mut by_webhook: BTreeMap<_, Vec<Rejection>> = BTreeMap::new();
    for rejection in story.view.plan.rejections(story.step) {
        by_webhook
            .entry((rejection.configuration, rejection.webhook.clone()))
            .or_default()
            .push(rejection);
    }
    let webhooks = by_webhook.into_values();
    let webhooks = webhooks.map(|rejections| webhook(story, &rejections));
    let mut holds = story.stuck.iter().flat_map(|held| &held.holds);
    let is_shown = holds.any(|hold| matches!(hold, Hold::Discovery(_)));
    let apis = story.view.plan.failing_apis(story.step);
    let apis = apis.iter().filter(|_| !is_shown);
    webhooks
        .chain(apis.map(|api| failing_api(story, api)))
        .collect()
}

fn webhook(story: &Story<'_>, rejections: &[Rejection]) -> Unanswered {
    let cluster = story.view.plan.cluster();
    let Rejection {
        configuration,
        webhook,
        service,
        service_exists,
        ..
    } = &rejections[0];
    let keyed = rejections
        .iter()
        .map(|rejection| (rejection.verb, cluster.key(rejection.object)));
    let (deletions, updates): (Vec<_>, Vec<_>) = keyed.partition(|(verb, _)| *verb == Verb::Delete);
    let mut rejected = Vec::new();
    if !deletions.is_empty() {
        let deletions = words::keys(deletions.iter().map(|(_, key)| key));
        rejected.push(format!("the deletion of {deletions}"));
    }
    if !updates.is_empty() {
        let updates = words::keys(updates.iter().map(|(_, key)| key));
        rejected.push(format!("updates that would release {updates}"));
    }
    Unanswered {
        what: format!(
            "Webhook {} of {} rejects {}, because it has no backend: {}",
            plain::one_line(webhook),
            words::key(&cluster.key(*configuration)),
            rejected.join(" and "),
            words::missing_backend(service, *service_exists)
        ),
        citations: &["GC-29"],
        help: format!(
            "Bring {} back, or delete the configuration first:",
            words::key(service)
        ),
        command: kubectl::delete(&command::target(cluster, *configuration), &[]),
    }
}

fn failing_api(story: &Story<'_>, api: &FailingApi) -> Unanswered {
    Unanswered {
        what: format!(
            "Every namespace that is deleted from now on gets stuck: {}",
            words::silent_api(api)
        ),
        citations: &["NS-11"],
        help: format!(
            "Bring {} back, or delete the APIService:",
            words::key(&api.service)
        ),
        command: kubectl::delete(&command::target(story.view.plan.cluster(), api.object), &[]),
    }
}
