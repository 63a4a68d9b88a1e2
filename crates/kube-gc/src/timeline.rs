//! The order of settled states and requests: whether an authority was gone for certain when an object was marked.
//!
//! Requests are numbered as they are sent; controllers have no clock. An object may be marked from the request on that dooms it,
//! however late the controller that does so. An object of an authority is gone for certain only for the requests that follow its
//! removal. Everything between the two is a race.

use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use crate::cluster::Cluster;
use crate::ids::{NONE, ObjectId};

/// Number of a request, from 1. 0: before the first.
type Moment = u32;

/// No request has doomed the object.
const NEVER: Moment = Moment::MAX;

/// Part of a state. Empty where no controller outside of the control plane is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Timeline {
    now: Moment,
    /// By which request each object was doomed.
    doomed: TiVec<ObjectId, Moment>,
    /// The first request that found this object of an authority gone.
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

    /// The next request is sent.
    pub(super) fn tick(&mut self) {
        if !self.doomed.is_empty() {
            self.now += 1;
        }
    }

    /// The object is marked, or removed at once.
    pub(super) fn mark(&mut self, cluster: &Cluster, id: ObjectId) {
        if !self.doomed.is_empty() {
            self.doomed[id] = self.now.min(self.exposed(cluster, id));
        }
    }

    /// From which request on controllers may have marked the object: that of its namespace or its definition, or of its last
    /// owner.
    fn exposed(&self, cluster: &Cluster, id: ObjectId) -> Moment {
        let definition = cluster.links.definition_of.get(&cluster.nodes[id].kind);
        let above = cluster
            .links
            .home_of(id)
            .into_iter()
            .chain(definition.copied());
        let owners = cluster
            .refs_of(id)
            .map(|index| cluster.reference(index).by_uid)
            .filter(|owner| *owner != NONE);
        let owners = owners.map(|owner| self.doomed[owner]).max();
        above
            .map(|above| self.doomed[above])
            .chain(owners)
            .min()
            .unwrap_or(NEVER)
    }

    /// The object is gone.
    pub(super) fn remove(&mut self, cluster: &Cluster, id: ObjectId) {
        if cluster.links.is_authority(id) {
            self.revoked.insert(id, self.now + 1);
        }
    }

    /// Whether an object of an authority was gone for certain when this one was marked.
    pub(super) fn was_revoked(&self, authority: ObjectId, marked: ObjectId) -> bool {
        self.revoked
            .get(&authority)
            .is_some_and(|revoked| *revoked <= self.doomed[marked])
    }
}
