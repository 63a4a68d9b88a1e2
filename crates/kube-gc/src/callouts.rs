//! Services that the API server calls: webhooks that admit requests, and aggregated APIs. Whether they answer changes
//! while a simulation runs, with the Service and the Pods behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use typed_index_collections::TiVec;

use crate::ids::{CalloutId, NONE, ObjectId};
use crate::kinds::KindId;
use crate::names::ObjectKey;
use crate::object::Verb;

/// A webhook or an aggregated API.
#[derive(Debug, Clone)]
pub(super) struct Callout {
    /// The configuration or APIService. [`NONE`]: it stays for the whole simulation.
    pub(super) object: ObjectId,
    /// The Service. [`NONE`]: there is no backend from the start.
    pub(super) service: ObjectId,
    /// The backend answers while one of these exists. `None`: the backends of the Service are unknown.
    pub(super) pods: Option<Vec<ObjectId>>,
    pub(super) role: CalloutRole,
    /// The Service, for people.
    pub(super) called: Arc<ObjectKey>,
}

/// The purpose of a call.
#[derive(Debug, Clone)]
pub(super) enum CalloutRole {
    /// It has to admit requests.
    Webhook { name: Arc<str>, url: Arc<str> },
    /// It serves a version of a group: `metrics.k8s.io/v1beta1`.
    Api { group_version: Arc<str> },
}

/// All callouts of a cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Callouts {
    all: TiVec<CalloutId, Callout>,
    /// The webhooks that are asked before something happens to an object.
    asked: BTreeMap<ObjectId, Vec<(CalloutId, Verb)>>,
    /// The kinds that webhooks are asked about.
    asked_kinds: BTreeSet<KindId>,
    /// The objects that each webhook is asked about.
    asks: TiVec<CalloutId, Vec<ObjectId>>,
    /// The aggregated APIs without a backend from the start.
    silent_apis: Vec<CalloutId>,
    /// The callouts that an object belongs to: their own, their Service, a Pod of it.
    by_part: BTreeMap<ObjectId, Vec<CalloutId>>,
}

impl Callout {
    /// Returns whether there is never a backend.
    fn is_silent(&self) -> bool {
        self.service == NONE || self.pods.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether its Service exists, if these objects do.
    pub(super) fn has_service(&self, live: impl Fn(ObjectId) -> bool) -> bool {
        self.service != NONE && live(self.service)
    }

    /// Returns whether the callout exists without a backend, if these objects exist.
    pub(super) fn fails(&self, live: impl Fn(ObjectId) -> bool) -> bool {
        let answers = || {
            self.has_service(&live)
                && self
                    .pods
                    .as_ref()
                    .is_none_or(|pods| pods.iter().any(|pod| live(*pod)))
        };
        (self.object == NONE || live(self.object)) && !answers()
    }

    /// All objects that decide whether it is a callout, and whether it has a backend.
    pub(super) fn parts(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let pods = self.pods.iter().flatten().copied();
        [self.object, self.service]
            .into_iter()
            .chain(pods)
            .filter(|id| *id != NONE)
    }
}

impl Callouts {
    /// Adds a callout, and what is asked about which objects.
    pub(super) fn add(
        &mut self,
        callout: Callout,
        asks: &[(ObjectId, &[Verb])],
        kind: impl Fn(ObjectId) -> KindId,
    ) {
        let number = self.all.next_key();
        for part in callout.parts() {
            self.by_part.entry(part).or_default().push(number);
        }
        self.asked_kinds
            .extend(asks.iter().map(|(object, _)| kind(*object)));
        for (object, verbs) in asks {
            self.asked
                .entry(*object)
                .or_default()
                .extend(verbs.iter().map(|verb| (number, *verb)));
        }
        if matches!(callout.role, CalloutRole::Api { .. }) && callout.is_silent() {
            self.silent_apis.push(number);
        }
        self.asks
            .push(asks.iter().map(|(object, _)| *object).collect());
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

    /// The webhooks that are asked before something happens to an object.
    pub(super) fn asked_about(&self, object: ObjectId) -> &[(CalloutId, Verb)] {
        self.asked.get(&object).map_or(&[], Vec::as_slice)
    }

    /// Whether a webhook is asked about any object of a kind.
    pub(super) fn asks_about_kind(&self, kind: KindId) -> bool {
        self.asked_kinds.contains(&kind)
    }

    /// The objects that a webhook is asked about.
    pub(super) fn asks(&self, callout: CalloutId) -> &[ObjectId] {
        &self.asks[callout]
    }

    /// How many objects all webhooks together are asked about, each counted as often as it is.
    pub(super) fn pairs(&self) -> usize {
        self.asks.iter().map(Vec::len).sum()
    }

    /// The callouts that an object, a Service or a Pod, decides about.
    pub(super) fn of_part(&self, part: ObjectId) -> &[CalloutId] {
        self.by_part.get(&part).map_or(&[], Vec::as_slice)
    }

    /// The callouts as a part of the cluster meets them, which `local` numbers the objects of. A callout is in a part with
    /// all objects that decide about it; where none of these changes, only a callout without a backend matters. Costs as much as
    /// the part has objects.
    pub(super) fn within(
        &self,
        objects: &[ObjectId],
        local: impl Fn(ObjectId) -> Option<ObjectId>,
        kind: impl Fn(ObjectId) -> KindId,
    ) -> Self {
        let mut asked: BTreeMap<CalloutId, Vec<(ObjectId, Vec<Verb>)>> = BTreeMap::new();
        for &whole in objects {
            for number in self.of_part(whole) {
                asked.entry(*number).or_default();
            }
            let Some(object) = local(whole) else { continue };
            for &(number, verb) in self.asked_about(whole) {
                if !self.all[number].is_silent() && local(self.all[number].object).is_none() {
                    continue;
                }
                let about = asked.entry(number).or_default();
                match about.last_mut() {
                    Some((last, verbs)) if *last == object => verbs.push(verb),
                    _ => about.push((object, vec![verb])),
                }
            }
        }
        for number in &self.silent_apis {
            asked.entry(*number).or_default();
        }
        let mut callouts = Self::default();
        for (number, asks) in asked {
            let callout = &self.all[number];
            let map = |id: ObjectId| {
                if id == NONE {
                    NONE
                } else {
                    local(id).unwrap_or(NONE)
                }
            };
            let restricted = Callout {
                object: map(callout.object),
                service: map(callout.service),
                pods: callout
                    .pods
                    .as_ref()
                    .map(|pods| pods.iter().filter_map(|pod| local(*pod)).collect()),
                ..callout.clone()
            };
            let asks: Vec<(ObjectId, &[Verb])> = asks
                .iter()
                .map(|(object, verbs)| (*object, &verbs[..]))
                .collect();
            callouts.add(restricted, &asks, &kind);
        }
        callouts
    }
}
