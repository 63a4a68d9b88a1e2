//! The API server's answers to the requests of a step, and the search's unsent requests.

use std::collections::BTreeSet;

use crate::cause::Cause;
use crate::client::Stretch;
use crate::flags::{FOREGROUND, ORPHAN};
use crate::ids::{FinalizerId, ObjectId};
use crate::names::finalizers;
use crate::steps::{BoundOperation, BoundRequest};
use crate::webhooks::WEBHOOK_FAILED;
use crate::world::Simulation;

impl Simulation<'_> {
    /// Sends the requests of a step and returns the HTTP code of each.
    pub(super) fn request(&mut self, request: &BoundRequest<'_>) -> Vec<u16> {
        let targets = request.targets.iter();
        targets
            .map(|target| target.map_or(404, |id| self.request_one(id, request.operation)))
            .collect()
    }

    fn request_one(&mut self, id: ObjectId, operation: BoundOperation<'_>) -> u16 {
        if self.state.gone(id) {
            return 404;
        }
        self.state.timeline.tick();
        let slots = self.cluster.finalizers_of(id);
        let (slots, gc): (Vec<FinalizerId>, u16) = match operation {
            BoundOperation::Settle => return 200,
            BoundOperation::Delete { policy, force } => {
                return self.delete(id, policy, force, Cause::Requested.into());
            }
            BoundOperation::RemoveFinalizer(name) => {
                let gc = match name {
                    finalizers::ORPHAN => ORPHAN,
                    finalizers::FOREGROUND => FOREGROUND,
                    _ => 0,
                };
                let named = slots.filter(|slot| self.cluster.finalizer(*slot) == name);
                (named.collect(), gc)
            }
            BoundOperation::RemoveAllFinalizers => (slots.collect(), ORPHAN | FOREGROUND),
        };
        if self.remove_finalizers(id, &slots, gc, Cause::Unheld.into()) {
            200
        } else {
            WEBHOOK_FAILED
        }
    }
}

impl<'c> Simulation<'c> {
    fn next_request(&self, client: usize) -> Option<&'c BoundRequest<'c>> {
        self.stretch?.next(client, &self.state)
    }

    /// Returns the indexes of the clients with requests to send.
    pub(super) fn sending(&self) -> impl Iterator<Item = usize> + use<'_, 'c> {
        (self.state.silent..self.clients()).filter(|client| self.is_sending(*client))
    }

    pub(super) fn clients(&self) -> usize {
        self.stretch.map_or(0, Stretch::clients)
    }

    /// Whether the client at an index has requests to send.
    pub(super) fn is_sending(&self, client: usize) -> bool {
        self.next_request(client).is_some()
    }

    /// Returns the objects that the client at an index waits for before its next request.
    pub(super) fn awaited(&self, client: usize) -> impl Iterator<Item = ObjectId> + use<'_, 'c> {
        self.stretch
            .into_iter()
            .flat_map(move |stretch| stretch.awaited(client, &self.state))
    }

    /// Whether the client at an index has requests to send and waits for nothing.
    pub(super) fn may_send(&self, client: usize) -> bool {
        self.is_sending(client) && self.awaited(client).next().is_none()
    }

    /// Returns the objects that clients with requests to send wait for.
    pub(super) fn awaited_by_any(&self) -> BTreeSet<ObjectId> {
        self.sending()
            .flat_map(|client| self.awaited(client).collect::<Vec<_>>())
            .collect()
    }

    pub(super) fn next_targets(&self, client: usize) -> impl Iterator<Item = ObjectId> + use<'c> {
        self.next_request(client)
            .into_iter()
            .flat_map(|request| &request.targets)
            .flatten()
            .copied()
    }

    /// Returns the clients with an unsent request that names the object.
    pub(super) fn naming(&self, id: ObjectId) -> impl Iterator<Item = usize> + use<'_, 'c> {
        self.stretch
            .into_iter()
            .flat_map(move |stretch| stretch.naming(id, &self.state))
    }

    /// Whether an unsent request names the object.
    pub(super) fn is_pending(&self, id: ObjectId) -> bool {
        self.naming(id).next().is_some()
    }

    pub(super) fn send(&mut self, client: usize) {
        if let Some(request) = self.next_request(client) {
            self.state.sent[client] += 1;
            while self.state.silent < self.clients() && !self.is_sending(self.state.silent) {
                self.state.silent += 1;
            }
            self.request(request);
        }
    }
}
