//! What of `ownerlint.plan/1` is about webhooks and APIs that nobody answers for.

use serde::Serialize;

use crate::gc::Verb;
use crate::story::PlanView;

#[derive(Serialize)]
pub(super) struct RejectionDocument {
    object: String,
    operation: &'static str,
    webhook: String,
    configuration: String,
    service: String,
    reason: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FailingApiDocument {
    api_service: String,
    group_version: String,
    service: String,
    reason: &'static str,
}

/// What webhooks reject in a step.
pub(super) fn rejections(view: &PlanView<'_>, step: usize) -> Vec<RejectionDocument> {
    let cluster = view.plan.cluster();
    let rejections = view
        .plan
        .rejections(step)
        .into_iter()
        .map(|rejection| RejectionDocument {
            object: cluster.key(rejection.object).to_string(),
            operation: if rejection.verb == Verb::Delete {
                "DELETE"
            } else {
                "UPDATE"
            },
            webhook: rejection.webhook,
            configuration: cluster.key(rejection.configuration).to_string(),
            service: rejection.service.to_string(),
            reason: silence(rejection.service_exists),
        });
    rejections.collect()
}

/// The APIs that nobody serves when a step is over.
pub(super) fn failing_apis(view: &PlanView<'_>, step: usize) -> Vec<FailingApiDocument> {
    let failing = view
        .plan
        .failing_apis(step)
        .into_iter()
        .map(|api| FailingApiDocument {
            api_service: view.plan.cluster().key(api.object).to_string(),
            group_version: api.group_version,
            service: api.service.to_string(),
            reason: silence(api.service_exists),
        });
    failing.collect()
}

/// Why nobody answers.
fn silence(service_exists: bool) -> &'static str {
    if service_exists {
        "no-pods"
    } else {
        "service-not-found"
    }
}
