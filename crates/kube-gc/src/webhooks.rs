//! Webhooks that reject requests because they have no backend.
//!
//! A request is sent to every webhook that matches it. A webhook with `failurePolicy: Fail` that cannot be reached
//! rejects the request: the DELETE of a user, of the collector `[GC-29]` or of a namespace purge, and every patch that
//! removes a finalizer or an owner reference. Only the purge of a definition bypasses webhooks `[CRD-3]`. The backend
//! has to exist when the request is sent; the API server does not wait for it to come back.
//!
//! In the search ([`crate::search`]), an attempt of the collector is one move. Only the rounds of
//! the verdict model the removal of a Service between its reads and its writes.

use std::collections::BTreeMap;

use foldhash::HashSet;

use crate::callouts::{Callout, CalloutRole};
use crate::cluster::Cluster;
use crate::flags::{FOREGROUND, GRACEFUL, ORPHAN, TERMINATING};
use crate::ids::{CalloutId, ObjectId};
use crate::kinds::KindId;
use crate::links::Role;
use crate::names::ObjectKey;
use crate::object::Verb;
use crate::trace::Rejected;
use crate::view::View;
use crate::world::Simulation;

/// HTTP status of a request that is rejected because its webhook cannot be called: an internal error (k8s.io/apiserver
/// `admission/plugin/webhook/validating/dispatcher.go`).
pub const WEBHOOK_FAILED: u16 = 500;

/// A request that a webhook without a backend rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The object of the request.
    pub object: ObjectId,
    /// The verb of the request.
    pub verb: Verb,
    /// The webhook configuration.
    pub configuration: ObjectId,
    /// The name of the webhook in the configuration.
    pub webhook: String,
    /// The Service that is called.
    pub service: ObjectKey,
    /// Whether the Service exists, so that only its Pods are missing.
    pub service_exists: bool,
}

/// Ties by callouts that `View::tied_by_callouts` has already returned to the caller.
#[derive(Debug, Default)]
pub(super) struct ReturnedTies {
    /// Callouts whose deciding objects were returned.
    dependencies: HashSet<CalloutId>,
    /// Callouts whose requests' objects were returned.
    requested: HashSet<CalloutId>,
    /// Namespaces whose Pods with webhooks (`true`) or whose other content (`false`) were returned.
    purges: HashSet<(ObjectId, bool)>,
    /// Whether the aggregated APIs were returned.
    apis: bool,
}

impl View<'_> {
    pub(super) fn service_exists(&self, callout: &Callout) -> bool {
        callout.has_service(|id| self.state.live(id))
    }

    /// Returns a webhook that rejects requests with `verb` on `object` now.
    pub(super) fn rejecting(&self, object: ObjectId, verb: Verb) -> Option<CalloutId> {
        let failing = &self.state.failing;
        if !failing.has_webhooks() {
            return None;
        }
        let mut asked = self.cluster.links.callouts.webhooks_of(object).iter();
        asked
            .find(|(callout, asked)| *asked == verb && failing.contains(*callout))
            .map(|(callout, _)| *callout)
    }

    pub(super) fn rejects(&self, object: ObjectId, verb: Verb) -> bool {
        self.rejecting(object, verb).is_some()
    }

    /// Returns the objects of `batch` that a namespace purge deletes. The deletion of a collection stops at its first
    /// rejected object (`registry/generic/registry/store.go` `DeleteCollection`, with the default of one worker), so
    /// the rest of that kind stays.
    pub(super) fn purged<'b>(&self, batch: &'b [ObjectId]) -> impl Iterator<Item = ObjectId> + 'b
    where
        Self: 'b,
    {
        let view = *self;
        let mut ended: Option<KindId> = None;
        batch.iter().copied().filter(move |id| {
            let kind = view.cluster.nodes[*id].kind;
            if view.state.gone(*id) || ended == Some(kind) {
                return false;
            }
            if view.rejects(*id, Verb::Delete) {
                ended = Some(kind);
            }
            ended != Some(kind)
        })
    }

    /// Returns, by kind, the first object whose deletion is rejected, which ends the purge of that kind.
    pub(super) fn ends_of_purge(
        &self,
        batch: &[ObjectId],
    ) -> BTreeMap<KindId, (ObjectId, CalloutId)> {
        let mut ends = BTreeMap::new();
        if !self.state.failing.has_webhooks() {
            return ends;
        }
        for &id in batch.iter().filter(|id| self.state.live(**id)) {
            if let Some(callout) = self.rejecting(id, Verb::Delete) {
                ends.entry(self.cluster.nodes[id].kind)
                    .or_insert((id, callout));
            }
        }
        ends
    }

    /// Returns the objects that the namespace controller deletes next: Pods first; the rest when no
    /// Pod is left `[NS-17]`, or when the deletion of Pods fails `[NS-8]`.
    pub(super) fn purge_batch<'b>(
        &self,
        pods: &'b [ObjectId],
        content: &'b [ObjectId],
    ) -> [&'b [ObjectId]; 2] {
        let left = pods.iter().any(|pod| self.state.live(*pod));
        if left && !self.keeps_some_of(pods) {
            [pods, &[]]
        } else {
            [pods, content]
        }
    }

    /// Whether the deletion of Pods fails `[NS-8]`.
    pub(super) fn keeps_some_of(&self, pods: &[ObjectId]) -> bool {
        self.state.failing.has_webhooks()
            && self.cluster.asks_about_kind_of(pods)
            && pods
                .iter()
                .any(|id| self.state.live(*id) && self.rejects(*id, Verb::Delete))
    }

    /// Whether a purge deletes an object: neither it nor an earlier object of its kind is rejected.
    pub(super) fn is_purged(&self, id: ObjectId, content: &[ObjectId]) -> bool {
        if !self.state.failing.has_webhooks() || !self.cluster.asks_about_kind_of(&[id]) {
            return true;
        }
        // Objects are sorted by kind, then by namespace.
        let kind = self.cluster.kind_of(id).group_kind();
        let first =
            content.partition_point(|other| self.cluster.kind_of(*other).group_kind() < kind);
        let callouts = &self.cluster.links.callouts;
        // A range that ends before it starts panics.
        let first = content.get(first).filter(|first| **first <= id);
        let mut asked = first
            .into_iter()
            .flat_map(|first| callouts.objects_between(*first, id));
        !asked.any(|other| self.state.live(other) && self.rejects(other, Verb::Delete))
    }

    /// Whether an orphaning deletion that a webhook stopped can make progress.
    pub(super) fn may_orphan(&self, owner: ObjectId) -> bool {
        if !self.state.live(owner) || !self.state.has(owner, TERMINATING | ORPHAN) {
            return false;
        }
        let mut dependents = self.state.dependents(self.cluster, owner).peekable();
        match dependents.peek() {
            None => !self.rejects(owner, Verb::Update),
            Some(_) => dependents.any(|dependent| !self.rejects(dependent.holder, Verb::Update)),
        }
    }

    /// Returns the objects that callouts tie to `id`: those that decide whether the webhooks that
    /// are called for `id` have a backend, and those whose requests depend on `id` in this way.
    /// Omits those already in `returned`.
    pub(super) fn tied_by_callouts(
        &self,
        id: ObjectId,
        returned: &mut ReturnedTies,
    ) -> Vec<ObjectId> {
        let callouts = &self.cluster.links.callouts;
        let mut tied: Vec<ObjectId> = Vec::new();
        if callouts.is_empty() {
            return tied;
        }
        for (callout, _) in callouts.webhooks_of(id) {
            if returned.dependencies.insert(*callout) {
                tied.extend(callouts.get(*callout).dependencies());
            }
        }
        for callout in callouts.depending_on(id) {
            if !returned.requested.insert(*callout) {
                continue;
            }
            tied.extend(callouts.objects_of(*callout));
            if matches!(callouts.get(*callout).role, CalloutRole::Api { .. }) {
                tied.extend(&self.cluster.links.namespaces);
            }
        }
        tied.extend(self.tied_by_purge(id, returned));
        if self.cluster.links.is_namespace(id) && !std::mem::replace(&mut returned.apis, true) {
            let apis = callouts
                .iter()
                .filter(|(_, callout)| matches!(callout.role, CalloutRole::Api { .. }));
            tied.extend(apis.flat_map(|(_, callout)| callout.dependencies()));
        }
        tied
    }

    /// Returns the objects whose purge depends on whether that of `id` is rejected, or the reverse:
    /// its neighbours of the same kind in the order of the purge. As other content waits for Pods,
    /// also the Pods that webhooks are called for or, for such a Pod, all other content.
    fn tied_by_purge(&self, id: ObjectId, returned: &mut ReturnedTies) -> Vec<ObjectId> {
        let links = &self.cluster.links;
        let callouts = &links.callouts;
        let Some(home) = links.home_of(id) else {
            return Vec::new();
        };
        let Some((pods, content)) = links.content_of(home) else {
            return Vec::new();
        };
        let is_content = content.binary_search(&id).is_ok();
        let (batch, others) = if is_content {
            (content, pods)
        } else {
            (pods, content)
        };
        let ties = is_content || !callouts.webhooks_of(id).is_empty();
        let others: &[ObjectId] = if ties && returned.purges.insert((home, is_content)) {
            others
        } else {
            &[]
        };
        let others = others
            .iter()
            .filter(|other| !is_content || !callouts.webhooks_of(**other).is_empty());
        let nodes = &self.cluster.nodes;
        let place = batch.binary_search(&id).ok();
        let before = place.and_then(|place| batch.get(place.checked_sub(1)?));
        let beside = before
            .into_iter()
            .chain(place.and_then(|place| batch.get(place + 1)));
        let beside = beside.filter(|_| callouts.concerns_kind(nodes[id].kind));
        beside
            .filter(|other| nodes[**other].kind == nodes[id].kind)
            .chain(others)
            .copied()
            .collect()
    }

    /// Returns the API server's error for a webhook that cannot be called; `None` for an aggregated API.
    pub(super) fn error_of(&self, callout: &Callout) -> Option<String> {
        let CalloutRole::Webhook { name, url } = &callout.role else {
            return None;
        };
        let service = &callout.called.name;
        let why = if self.service_exists(callout) {
            format!("no endpoints available for service \"{service}\"")
        } else {
            format!("service \"{service}\" not found")
        };
        Some(format!(
            "Internal error occurred: failed calling webhook \"{name}\": failed to call webhook: Post \"{url}\": {why}"
        ))
    }
}

impl Simulation<'_> {
    /// Whether no webhook rejects a request; a rejection is recorded for the plan.
    pub(super) fn admits(&mut self, object: ObjectId, verb: Verb) -> bool {
        let Some(callout) = self.view().rejecting(object, verb) else {
            return true;
        };
        let exists = self
            .view()
            .service_exists(self.cluster.links.callouts.get(callout));
        if let Some(trace) = &mut self.trace {
            trace.rejections.insert((object, verb), (callout, exists));
        }
        false
    }

    /// Whether a DELETE reaches validating admission: not if it changes nothing anyway `[NS-2]`, `[DEL-14]`.
    pub(super) fn validates_delete(&self, id: ObjectId, force: bool) -> bool {
        match self.cluster.links.roles.get(&id) {
            Some(Role::Namespace { .. }) => {
                !(self.state.has(id, TERMINATING) && self.has_spec_finalizers(id))
            }
            Some(Role::Pod { .. }) => force || !self.state.has(id, TERMINATING | GRACEFUL),
            _ => true,
        }
    }

    /// Records the requests of namespace purges that webhooks reject.
    pub(super) fn note_ends_of_purges(&mut self) {
        if self.trace.is_none() || !self.state.failing.has_webhooks() {
            return;
        }
        for &namespace in &self.cluster.links.namespaces {
            let Some((pods, content)) = self.cluster.links.content_of(namespace) else {
                continue;
            };
            if !self.purging(namespace) {
                continue;
            }
            for batch in self.view().purge_batch(pods, content) {
                for (object, _) in self.view().ends_of_purge(batch).into_values() {
                    self.admits(object, Verb::Delete);
                }
            }
            if self.state.purging.is_empty(self.cluster, namespace) {
                self.admits(namespace, Verb::Finalize);
            }
        }
    }

    /// Queues a failed item for another attempt.
    pub(super) fn retry(&mut self, item: ObjectId) {
        if self.state.has(item, TERMINATING | ORPHAN)
            && !self.state.has(item, TERMINATING | FOREGROUND)
        {
            self.state.orphans.insert(item);
        } else {
            self.state.queue.insert(item);
        }
    }
}

/// Builds the rejections of a step, in the order of the objects.
pub(super) fn rejections(cluster: &Cluster, noted: &Rejected) -> Vec<Rejection> {
    let each = noted
        .iter()
        .filter_map(|((object, verb), (callout, service_exists))| {
            let callout = cluster.links.callouts.get(*callout);
            let CalloutRole::Webhook { name, .. } = &callout.role else {
                return None;
            };
            Some(Rejection {
                object: *object,
                verb: *verb,
                configuration: callout.object,
                webhook: name.to_string(),
                service: (*callout.called).clone(),
                service_exists: *service_exists,
            })
        });
    each.collect()
}
