//! The parts of `ownerlint.plan/1` about webhooks and APIs without a backend.

use schemars::JsonSchema;
use serde::Serialize;

use crate::gc::Verb;
use crate::kube::ObjectKey;
use crate::story::PlanView;

/// A request that a webhook rejects because it has no backend.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "rejection")]
pub(super) struct RejectionDocument {
    object: ObjectKey,
    operation: RejectedOperation,
    webhook: String,
    configuration: ObjectKey,
    service: ObjectKey,
    reason: NoBackend,
}

/// The removal of a finalizer or an owner reference is an `UPDATE`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "operation")]
enum RejectedOperation {
    Delete,
    Update,
}

/// An APIService without a backend.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "failingApi")]
pub(super) struct FailingApiDocument {
    api_service: ObjectKey,
    group_version: String,
    service: ObjectKey,
    reason: NoBackend,
}

/// Why there is no backend.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "silence")]
enum NoBackend {
    /// The Service does not exist.
    ServiceNotFound,
    /// None of the Pods that the Service selects exists.
    NoPods,
}

impl NoBackend {
    fn new(service_exists: bool) -> Self {
        if service_exists {
            Self::NoPods
        } else {
            Self::ServiceNotFound
        }
    }
}

/// Returns the requests that webhooks reject in a step.
pub(super) fn rejections(view: &PlanView<'_>, step: usize) -> Vec<RejectionDocument> {
    let cluster = view.plan.cluster();
    let rejections = view.plan.rejections(step).into_iter();
    let rejections = rejections.map(|rejection| RejectionDocument {
        object: cluster.key(rejection.object),
        operation: if rejection.verb == Verb::Delete {
            RejectedOperation::Delete
        } else {
            RejectedOperation::Update
        },
        webhook: rejection.webhook,
        configuration: cluster.key(rejection.configuration),
        service: rejection.service,
        reason: NoBackend::new(rejection.service_exists),
    });
    rejections.collect()
}

/// Returns the APIs that have no backend when a step is over.
pub(super) fn failing_apis(view: &PlanView<'_>, step: usize) -> Vec<FailingApiDocument> {
    let failing = view.plan.failing_apis(step).into_iter();
    let failing = failing.map(|api| FailingApiDocument {
        api_service: view.plan.cluster().key(api.object),
        group_version: api.group_version,
        service: api.service,
        reason: NoBackend::new(api.service_exists),
    });
    failing.collect()
}
