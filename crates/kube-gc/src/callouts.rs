//! Services that the API server calls (callouts): webhooks that admit requests, and aggregated APIs. Whether one
//! answers depends on its Service and Pods, and can change during a simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use typed_index_collections::TiVec;

use crate::cluster::Cluster;
use crate::ids::{CalloutId, NONE, ObjectId};
use crate::kinds::KindId;
use crate::names::ObjectKey;
use crate::object::Verb;

/// A webhook or an aggregated API.
#[derive(Debug, Clone)]
pub(super) struct Callout {
    /// The webhook configuration or APIService. [`NONE`] if it stays for the whole simulation.
    pub(super) object: ObjectId,
    /// The Service. [`NONE`] if there is no backend from the start.
    pub(super) service: ObjectId,
    /// The Pods behind the Service: the backend answers while one of them exists. `None` if they are unknown.
    pub(super) pods: Option<Vec<ObjectId>>,
    pub(super) role: CalloutRole,
    /// Key of the Service, for display.
    pub(super) called: Arc<ObjectKey>,
}

/// The purpose of a call.
#[derive(Debug, Clone)]
pub(super) enum CalloutRole {
    /// Admits requests.
    Webhook { name: Arc<str>, url: Arc<str> },
    /// Serves a version of a group, such as `metrics.k8s.io/v1beta1`.
    Api { group_version: Arc<str> },
}

#[derive(Debug, Clone, Default)]
pub(super) struct Callouts {
    all: TiVec<CalloutId, Callout>,
    /// By object: the webhooks that are called for requests on it, each with the verb.
    webhooks_of: BTreeMap<ObjectId, Vec<(CalloutId, Verb)>>,
    /// The kinds of the objects in `webhooks_of`.
    object_kinds: BTreeSet<KindId>,
    /// By webhook: the objects that it is called for.
    objects_of: TiVec<CalloutId, Vec<ObjectId>>,
    /// The aggregated APIs without a backend from the start.
    silent_apis: Vec<CalloutId>,
    /// By object: the callouts that depend on it as their configuration, APIService, Service or Pod.
    by_dependency: BTreeMap<ObjectId, Vec<CalloutId>>,
}

impl Callout {
    /// Returns whether there is never a backend.
    fn is_silent(&self) -> bool {
        self.service == NONE || self.pods.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether its Service exists; `live` says whether an object exists.
    pub(super) fn has_service(&self, live: impl Fn(ObjectId) -> bool) -> bool {
        self.service != NONE && live(self.service)
    }

    /// Returns whether the callout exists without a backend; `live` says whether an object exists.
    pub(super) fn fails(&self, live: impl Fn(ObjectId) -> bool) -> bool {
        (self.object == NONE || live(self.object)) && !self.has_backend(live)
    }

    fn has_backend(&self, live: impl Fn(ObjectId) -> bool) -> bool {
        let pods = self.pods.as_ref();
        self.has_service(&live) && pods.is_none_or(|pods| pods.iter().any(|pod| live(*pod)))
    }

    /// Returns all objects that decide whether the callout exists and has a backend.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let pods = self.pods.iter().flatten().copied();
        [self.object, self.service]
            .into_iter()
            .chain(pods)
            .filter(|id| *id != NONE)
    }
}

impl Callouts {
    /// Adds a callout, with the objects and verbs that it is called for.
    pub(super) fn add(
        &mut self,
        cluster: &Cluster,
        callout: Callout,
        requests: &[(ObjectId, &[Verb])],
    ) {
        let number = self.all.next_key();
        for part in callout.dependencies() {
            self.by_dependency.entry(part).or_default().push(number);
        }
        self.object_kinds.extend(
            requests
                .iter()
                .map(|(object, _)| cluster.nodes[*object].kind),
        );
        for (object, verbs) in requests {
            self.webhooks_of
                .entry(*object)
                .or_default()
                .extend(verbs.iter().map(|verb| (number, *verb)));
        }
        if matches!(callout.role, CalloutRole::Api { .. }) && callout.is_silent() {
            self.silent_apis.push(number);
        }
        self.objects_of
            .push(requests.iter().map(|(object, _)| *object).collect());
        self.all.push(callout);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, callout: CalloutId) -> &Callout {
        &self.all[callout]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (CalloutId, &Callout)> {
        self.all.iter_enumerated()
    }

    /// Returns the webhooks that are called for requests on an object, each with the verb.
    pub(super) fn webhooks_of(&self, object: ObjectId) -> &[(CalloutId, Verb)] {
        self.webhooks_of.get(&object).map_or(&[], Vec::as_slice)
    }

    /// Returns the objects from `first` to `last` that webhooks are called for, the last one first.
    pub(super) fn objects_between(
        &self,
        first: ObjectId,
        last: ObjectId,
    ) -> impl Iterator<Item = ObjectId> + '_ {
        self.webhooks_of
            .range(first..=last)
            .rev()
            .map(|(id, _)| *id)
    }

    /// Whether a webhook is called for any object of a kind.
    pub(super) fn concerns_kind(&self, kind: KindId) -> bool {
        self.object_kinds.contains(&kind)
    }

    /// Returns the objects that a webhook is called for.
    pub(super) fn objects_of(&self, callout: CalloutId) -> &[ObjectId] {
        &self.objects_of[callout]
    }

    /// Counts the pairs of a webhook and an object that it is called for.
    pub(super) fn pairs(&self) -> usize {
        self.objects_of.iter().map(Vec::len).sum()
    }

    /// Returns the callouts that depend on an object as their configuration, APIService, Service or Pod.
    pub(super) fn depending_on(&self, part: ObjectId) -> &[CalloutId] {
        self.by_dependency.get(&part).map_or(&[], Vec::as_slice)
    }

    /// Restricts the callouts to `part`, the cluster of `objects`; `local` maps an object to its id
    /// there. A callout is in one part with everything that decides whether it has a backend. It
    /// cannot change in other parts, which contain it only if it never has a backend. Takes time
    /// linear in the objects of the part and in the webhooks that are called for them.
    pub(super) fn within(
        &self,
        part: &Cluster,
        objects: &[ObjectId],
        local: impl Fn(ObjectId) -> Option<ObjectId>,
    ) -> Self {
        let mut by_callout: BTreeMap<CalloutId, Vec<(ObjectId, Vec<Verb>)>> = BTreeMap::new();
        for &whole in objects {
            for number in self.depending_on(whole) {
                by_callout.entry(*number).or_default();
            }
            let Some(object) = local(whole) else { continue };
            for &(number, verb) in self.webhooks_of(whole) {
                if !self.all[number].is_silent() && local(self.all[number].object).is_none() {
                    continue;
                }
                let about = by_callout.entry(number).or_default();
                match about.last_mut() {
                    Some((last, verbs)) if *last == object => verbs.push(verb),
                    _ => about.push((object, vec![verb])),
                }
            }
        }
        for number in &self.silent_apis {
            by_callout.entry(*number).or_default();
        }
        let mut callouts = Self::default();
        for (number, requests) in by_callout {
            let callout = &self.all[number];
            let restricted = Callout {
                object: local(callout.object).unwrap_or(NONE),
                service: local(callout.service).unwrap_or(NONE),
                pods: callout
                    .pods
                    .as_ref()
                    .map(|pods| pods.iter().filter_map(|pod| local(*pod)).collect()),
                ..callout.clone()
            };
            let requests: Vec<(ObjectId, &[Verb])> = requests
                .iter()
                .map(|(object, verbs)| (*object, &verbs[..]))
                .collect();
            callouts.add(part, restricted, &requests);
        }
        callouts
    }
}
