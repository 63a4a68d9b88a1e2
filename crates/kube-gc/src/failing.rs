//! Callouts without a backend: derived from object flags, and cached, as every request needs them.

use typed_index_collections::TiVec;

use crate::callouts::{Callout, CalloutRole};
use crate::cluster::Cluster;
use crate::ids::{CalloutId, ObjectId};

/// The callouts without a backend in a state.
#[derive(Debug, Clone)]
pub(super) struct Failing {
    now: TiVec<CalloutId, bool>,
    webhooks: usize,
    apis: usize,
}

impl Failing {
    /// Returns the failing callouts of a cluster; `live` says whether an object exists.
    pub(super) fn new(cluster: &Cluster, live: impl Fn(ObjectId) -> bool) -> Self {
        let callouts = &cluster.links.callouts;
        let mut failing = Self {
            now: callouts.iter().map(|_| false).collect(),
            webhooks: 0,
            apis: 0,
        };
        for (number, callout) in callouts.iter() {
            failing.set(number, callout, callout.fails(&live));
        }
        failing
    }

    pub(super) fn note_removal(
        &mut self,
        cluster: &Cluster,
        id: ObjectId,
        live: impl Fn(ObjectId) -> bool,
    ) {
        let callouts = &cluster.links.callouts;
        for number in callouts.depending_on(id) {
            let callout = callouts.get(*number);
            self.set(*number, callout, callout.fails(&live));
        }
    }

    fn set(&mut self, number: CalloutId, callout: &Callout, fails: bool) {
        let count = match callout.role {
            CalloutRole::Webhook { .. } => &mut self.webhooks,
            CalloutRole::Api { .. } => &mut self.apis,
        };
        *count = *count + usize::from(fails) - usize::from(self.now[number]);
        self.now[number] = fails;
    }

    /// Returns whether a callout exists without a backend.
    pub(super) fn contains(&self, callout: CalloutId) -> bool {
        self.now[callout]
    }

    /// Whether a webhook has no backend.
    pub(super) fn has_webhooks(&self) -> bool {
        self.webhooks > 0
    }

    /// Whether an aggregated API has no backend.
    pub(super) fn has_apis(&self) -> bool {
        self.apis > 0
    }
}
