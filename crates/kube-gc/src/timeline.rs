//! The order of requests and removals: whether an authority was certainly gone when an object was marked for deletion.
//!
//! Requests are numbered as they are sent; controllers have no clock. A request dooms an object if it marks the object,
//! or if controllers may mark the object from then on, however late. If the authority was removed before that request,
//! it was certainly gone when the object was marked. Otherwise, the two race.

use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use crate::cluster::Cluster;
use crate::ids::{NONE, ObjectId};

/// Number of a request, from 1. 0: before the first.
type Moment = u32;

/// No request has doomed the object.
const NEVER: Moment = Moment::MAX;

/// Part of a state. Empty if no controller outside of the control plane is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Timeline {
    now: Moment,
    /// The request that doomed each object.
    doomed: TiVec<ObjectId, Moment>,
    /// By object of an authority that is gone: the first request after its removal.
    revoked: BTreeMap<ObjectId, Moment>,
}

impl Timeline {
    pub(super) fn new(cluster: &Cluster) -> Self {
        let objects = if cluster.links.controllers.is_empty() {
            0
        } else {
            cluster.len()
        };
        Timeline {
            now: 0,
            doomed: vec![NEVER; objects].into(),
            revoked: BTreeMap::new(),
        }
    }

    /// Advances to the next request.
    pub(super) fn tick(&mut self) {
        if !self.doomed.is_empty() {
            self.now += 1;
        }
    }

    /// Records that an object is marked, or removed at once.
    pub(super) fn mark(&mut self, cluster: &Cluster, id: ObjectId) {
        if !self.doomed.is_empty() {
            self.doomed[id] = self.now.min(self.exposed(cluster, id));
        }
    }

    /// Returns the request from which on controllers may have marked the object: the earliest of those that doomed its
    /// namespace, its definition, and the last of its owners.
    fn exposed(&self, cluster: &Cluster, id: ObjectId) -> Moment {
        let owners = cluster
            .refs_of(id)
            .map(|index| cluster.refs[index].by_uid)
            .filter(|owner| *owner != NONE);
        let owners = owners.map(|owner| self.doomed[owner]).max();
        cluster
            .above(id)
            .map(|above| self.doomed[above])
            .chain(owners)
            .min()
            .unwrap_or(NEVER)
    }

    /// Records that an object is gone.
    pub(super) fn remove(&mut self, cluster: &Cluster, id: ObjectId) {
        if cluster.links.is_authority(id) {
            self.revoked.insert(id, self.now + 1);
        }
    }

    /// Whether the object `authority` was certainly gone when `marked` was marked.
    pub(super) fn was_revoked(&self, authority: ObjectId, marked: ObjectId) -> bool {
        self.revoked
            .get(&authority)
            .is_some_and(|revoked| *revoked <= self.doomed[marked])
    }
}
