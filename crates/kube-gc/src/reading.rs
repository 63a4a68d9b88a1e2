//! Accessors of clusters and plans: resolved owner references, finalizers, kinds, and the objects stored before and
//! after a step.

use std::sync::Arc;

use crate::cause::Cause;
use crate::cluster::Cluster;
use crate::flags::TERMINATING;
use crate::ids::{NONE, ObjectId};
use crate::kinds::KindInfo;
use crate::names::GroupKind;
use crate::outcome::{self, Fate, Present};
use crate::plan::Plan;
use crate::state::State;
use crate::why;

/// A resolved owner reference of the initial cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The object with the reference's uid, which is all that the collector's graph uses `[GC-4]`.
    pub owner: Option<ObjectId>,
    /// The uid in the manifest; a rendered reference may be bound by another uid.
    pub uid: String,
    /// Whether `blockOwnerDeletion` is true.
    pub blocking: bool,
    /// Whether apiVersion and kind resolve `[GC-16]`.
    pub resolvable: bool,
}

impl Cluster {
    /// Returns the initial owner references of an object, in order.
    pub fn edges(&self, id: ObjectId) -> impl Iterator<Item = Edge> + '_ {
        self.refs_of(id).map(|index| {
            let reference = self.refs[index];
            Edge {
                owner: (reference.by_uid != NONE).then_some(reference.by_uid),
                uid: self.shown_uid(index).to_owned(),
                blocking: self.written[index].block == Some(true),
                resolvable: self.written[index].kind.is_some(),
            }
        })
    }

    /// Returns the initial finalizers of an object except the collector's; a definition always has its clean-up one.
    pub fn finalizer_names(&self, id: ObjectId) -> impl Iterator<Item = &str> {
        self.finalizers_of(id).map(|slot| self.finalizer(slot))
    }

    /// Returns the facts about a kind, if it is known.
    pub fn kind(&self, kind: GroupKind<&str>) -> Option<&KindInfo> {
        self.kinds.find(kind).map(|id| self.kinds.get(id))
    }
}

impl Plan<'_> {
    /// Returns the objects stored before a step: in the verdict of the previous step, or else in the initial cluster.
    pub fn stored_before(&self, step: usize) -> StoredObjects<'_> {
        let verdict = step
            .checked_sub(1)
            .and_then(|previous| self.stored_after(previous));
        verdict.unwrap_or_else(|| StoredObjects {
            cluster: self.cluster,
            state: Arc::new(State::new(self.cluster)),
        })
    }

    /// Returns the objects stored in a step's verdict; `None` if the step does not exist or does not settle.
    pub fn stored_after(&self, step: usize) -> Option<StoredObjects<'_>> {
        self.verdict_state(step).map(|state| StoredObjects {
            cluster: self.cluster,
            state,
        })
    }

    /// Returns the objects that are no longer stored in a step's verdict, in the order of their ids.
    pub fn gone_after(&self, step: usize) -> Vec<ObjectId> {
        self.verdict_state(step).map_or_else(Vec::new, |state| {
            let all = self.cluster.ids();
            all.filter(|id| state.gone(*id)).collect()
        })
    }

    /// Returns the finalizers of an object in a step's verdict, in the order in which a patch addresses them: those of
    /// its manifest, then the collector's, which a DELETE appends. If the manifest already had one of the collector's
    /// before others, the stored order differs.
    pub fn stored_finalizers(&self, step: usize, id: ObjectId) -> Vec<String> {
        let Some(state) = self.verdict_state(step) else {
            return Vec::new();
        };
        let names = state.finalizer_names(self.cluster, id);
        names.map(str::to_owned).collect()
    }

    /// Returns the objects that a step's verdict spares although one of their owners does not
    /// resolve, is out of scope or is Terminating, with the causes, in the order of the ids.
    pub fn spared(&self, step: usize) -> Vec<(ObjectId, Vec<Cause>)> {
        self.verdict_state(step)
            .map_or_else(Vec::new, |state| why::spared(self.cluster, &state))
    }
}

/// The objects at one moment of a simulation. Querying one object costs less than all fates.
#[derive(Debug, Clone)]
pub struct StoredObjects<'c> {
    cluster: &'c Cluster,
    state: Arc<State>,
}

impl StoredObjects<'_> {
    /// Returns an object as it is stored; `None` if it is gone.
    pub fn present(&self, id: ObjectId) -> Option<Present> {
        match outcome::fate(self.cluster, &self.state, id) {
            Fate::Present(present) => Some(present),
            Fate::Gone => None,
        }
    }

    /// Whether an object is stored.
    pub fn has(&self, id: ObjectId) -> bool {
        self.state.live(id)
    }

    /// Whether an object is stored and Terminating.
    pub fn terminating(&self, id: ObjectId) -> bool {
        self.has(id) && self.state.has(id, TERMINATING)
    }

    /// Whether an object has the same owner references here and in `other`, which both store it.
    pub fn same_references(&self, other: &Self, id: ObjectId) -> bool {
        self.cluster
            .refs_of(id)
            .all(|reference| self.state.refs[reference] == other.state.refs[reference])
    }
}
