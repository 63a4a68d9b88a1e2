//! Discovery that fails because an aggregated API has no backend.
//!
//! The namespace controller discovers all kinds that can be in a namespace. While the discovery of
//! one group fails, it still deletes objects of the kinds it knows, but finalizes no namespace in
//! the cluster `[NS-11]`. Deleting the APIService ends that `[CRD-12]`.

use std::collections::BTreeSet;

use crate::callouts::CalloutRole;
use crate::flags::SPEC_KUBERNETES;
use crate::ids::ObjectId;
use crate::names::ObjectKey;
use crate::object::Verb;
use crate::view::View;

/// An APIService without a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingApi {
    /// The APIService.
    pub object: ObjectId,
    /// The API that it serves: `metrics.k8s.io/v1beta1`.
    pub group_version: String,
    /// The Service that is called.
    pub service: ObjectKey,
    /// Whether the Service exists, so that only its Pods are missing.
    pub service_exists: bool,
}

impl View<'_> {
    /// Returns the aggregated APIs that have no backend now, in the order of their APIServices.
    pub(super) fn failing_apis(&self) -> impl Iterator<Item = FailingApi> + '_ {
        let callouts = self.cluster.links.callouts.iter();
        callouts.filter_map(|(number, callout)| match &callout.role {
            CalloutRole::Api { group_version } if self.state.failing.contains(number) => {
                Some(FailingApi {
                    object: callout.object,
                    group_version: group_version.to_string(),
                    service: (*callout.called).clone(),
                    service_exists: self.service_exists(callout),
                })
            }
            _ => None,
        })
    }

    /// Whether the namespace controller can remove `kubernetes` from the `spec.finalizers` of an empty namespace.
    pub(super) fn can_be_finalized(&self, namespace: ObjectId) -> bool {
        self.state.has(namespace, SPEC_KUBERNETES)
            && !self.state.failing.has_apis()
            && !self.rejects(namespace, Verb::Finalize)
    }

    /// Returns the namespace controller's message about failing discovery, as recorded; `None` if discovery works.
    pub(super) fn discovery_error(&self) -> Option<String> {
        let failing: BTreeSet<String> = self.failing_apis().map(|api| api.group_version).collect();
        let each: Vec<String> = failing
            .iter()
            .map(|group| format!("{group}: stale GroupVersion discovery: {group}"))
            .collect();
        (!each.is_empty()).then(|| {
            format!(
                "Discovery failed for some groups, {} failing: unable to retrieve the complete list of server APIs: {}",
                each.len(),
                each.join(", ")
            )
        })
    }
}
