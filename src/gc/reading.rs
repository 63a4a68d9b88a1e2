//! What else a reader of a plan wants to know: how references were resolved, what contains an object,
//! how things stood before a step.

use typed_index_collections::TiVec;

use super::cause::Cause;
use super::cluster::Cluster;
use super::flags::{GONE, gc_finalizers};
use super::ids::{NONE, ObjectId};
use super::kinds::KindInfo;
use super::outcome::{self, Fate};
use super::plan::Plan;
use super::state::State;
use super::why;
use crate::kube::GroupKind;

/// An owner reference of the cluster as given, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The object with the reference's uid, which is all the collector's graph knows `[GC-4]`.
    pub owner: Option<ObjectId>,
    /// The uid that the reference shows; a rendered one is not bound by it.
    pub uid: String,
    /// `blockOwnerDeletion` is true.
    pub blocking: bool,
    /// Whether apiVersion and kind resolve `[GC-16]`.
    pub resolvable: bool,
}

impl Cluster {
    /// The owner references of an object, in their order.
    pub fn edges(&self, id: ObjectId) -> impl Iterator<Item = Edge> + '_ {
        self.refs_of(id).map(|index| {
            let reference = self.reference(index);
            Edge {
                owner: (reference.by_uid != NONE).then_some(reference.by_uid),
                uid: self.shown_uid(index).to_owned(),
                blocking: self.written(index).block == Some(true),
                resolvable: self.written(index).kind.is_some(),
            }
        })
    }

    /// `metadata.finalizers` of an object as given, in their order.
    pub fn finalizer_names(&self, id: ObjectId) -> impl Iterator<Item = &str> {
        self.finalizers_of(id).map(|slot| self.text.get(self.finalizers[slot]))
    }

    /// What is known of a kind, if anything is.
    pub fn kind(&self, kind: GroupKind<&str>) -> Option<&KindInfo> {
        self.kinds.find(kind).map(|id| self.kinds.get(id))
    }

    /// What is known of an object's kind.
    pub fn kind_of(&self, id: ObjectId) -> &KindInfo {
        self.info(id)
    }
}

impl Plan<'_> {
    /// What every object was before a step, by id: the verdict of the step before it, or the cluster as given.
    pub fn fates_before(&self, step: usize) -> TiVec<ObjectId, Fate> {
        match step.checked_sub(1) {
            Some(previous) => self.fates_after(previous),
            None => by_id(self.cluster, &State::new(self.cluster)),
        }
    }

    /// What every object is in a step's verdict, by id. Empty for a step that does not exist.
    pub fn fates_after(&self, step: usize) -> TiVec<ObjectId, Fate> {
        self.verdict_state(step).map_or_else(TiVec::new, |state| by_id(self.cluster, &state))
    }

    /// The objects that are no longer stored in a step's verdict, in the order of their ids.
    pub fn gone_after(&self, step: usize) -> Vec<ObjectId> {
        let state = self.verdict_state(step);
        let flags = state.iter().flat_map(|state| state.flags.iter_enumerated());
        flags.filter(|(_, flags)| **flags & GONE != 0).map(|(id, _)| id).collect()
    }

    /// The finalizers of an object in a step's verdict in the order in which a patch addresses them: those of its
    /// manifest, then the collector's, which a DELETE appends. Where the manifest already had one of the collector's
    /// before others, the stored order differs.
    pub fn stored_finalizers(&self, step: usize, id: ObjectId) -> Vec<String> {
        let Some(state) = self.verdict_state(step) else { return Vec::new() };
        let slots = self.cluster.finalizers_of(id).filter(|slot| state.finalizers[*slot]);
        let own = slots.map(|slot| self.cluster.text.get(self.cluster.finalizers[slot]).to_owned());
        own.chain(gc_finalizers(state.flags[id]).map(str::to_owned)).collect()
    }

    /// The objects that a step's verdict leaves alive although something is wrong with an owner of theirs, with what
    /// spares them; in the order of the ids.
    pub fn spared(&self, step: usize) -> Vec<(ObjectId, Vec<Cause>)> {
        self.verdict_state(step).map_or_else(Vec::new, |state| why::spared(self.cluster, &state))
    }
}

fn by_id(cluster: &Cluster, state: &State) -> TiVec<ObjectId, Fate> {
    cluster.ids().map(|id| outcome::fate(cluster, state, id)).collect()
}
