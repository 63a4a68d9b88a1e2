//! The mutable state of a simulation: a few flat vectors, cheap to copy, to compare and to hash.
//!
//! The collector's graph is not stored separately. Watch events are applied before anything reads the graph again, in
//! lockstep rounds and in the exhaustive search, so its edges are the references that still exist. Only facts that it
//! keeps longer than the API does (`DELETING_DEPENDENTS` `[GC-9]`), and its queues, are stored here.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use typed_index_collections::TiVec;

use crate::cluster::Cluster;
use crate::failing::Failing;
use crate::flags::{FOREGROUND, GONE, ORPHAN, gc_finalizers};
use crate::id_set::IdSet;
use crate::ids::{FinalizerId, NONE, ObjectId, RefId};
use crate::purging::Purging;
use crate::references::{Dependent, Written};
use crate::timeline::Timeline;

/// The state of an owner reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RefState {
    /// Unchanged, and blocks its owner's foreground deletion.
    Blocking,
    /// Unchanged, and does not block.
    Kept,
    /// `blockOwnerDeletion` was set to false.
    Unblocked,
    Removed,
}

impl RefState {
    fn of(written: &Written) -> RefState {
        if written.block == Some(true) {
            RefState::Blocking
        } else {
            RefState::Kept
        }
    }
}

/// Numbers of live dependents that refer to an object by uid, and of those that block it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) dependents: u32,
    pub(super) blocking: u32,
}

/// The stored objects, and the collector's own state.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) flags: TiVec<ObjectId, u16>,
    pub(super) refs: TiVec<RefId, RefState>,
    pub(super) finalizers: TiVec<FinalizerId, bool>,
    /// Items to be attempted.
    pub(super) queue: IdSet,
    /// Owners whose dependents are to be orphaned.
    pub(super) orphans: IdSet,
    /// Items that failed (unresolvable kind, rejected request) and wait for their back-off `[GC-16]`.
    pub(super) failed: IdSet,
    /// Items that failed on a conflict and are retried within milliseconds `[GC-22a]`.
    pub(super) conflicts: IdSet,
    /// Order of requests and removals: decides when controllers outside of the control plane could act.
    pub(super) timeline: Timeline,
    /// Number of requests that each client has sent since the last rest.
    pub(super) sent: Vec<usize>,
    /// Cached: no client before this index has anything left to send.
    pub(super) silent: usize,
    /// Clients that wait forever for objects that they have deleted.
    pub(super) halted: BTreeSet<usize>,
    /// Cached.
    pub(super) purging: Purging,
    /// Cached.
    pub(super) failing: Failing,
    /// Cached.
    pub(super) counts: TiVec<ObjectId, Counts>,
    /// `resourceVersion`, counted per object.
    pub(super) revisions: TiVec<ObjectId, u32>,
    /// Writes so far.
    pub(super) writes: u64,
}

impl State {
    pub(super) fn new(cluster: &Cluster) -> State {
        let objects = cluster.len();
        let failing = Failing::new(cluster, |id| cluster.nodes[id].flags & GONE == 0);
        let mut state = State {
            flags: cluster.nodes.iter().map(|node| node.flags).collect(),
            refs: cluster.written.iter().map(RefState::of).collect(),
            finalizers: vec![true; cluster.finalizers.len()].into(),
            queue: IdSet::new(objects),
            orphans: IdSet::new(objects),
            failed: IdSet::new(objects),
            conflicts: IdSet::new(objects),
            timeline: Timeline::new(cluster),
            sent: Vec::new(),
            silent: 0,
            halted: BTreeSet::new(),
            purging: Purging::new(cluster, &failing),
            failing,
            counts: vec![Counts::default(); objects].into(),
            revisions: vec![0; objects].into(),
            writes: 0,
        };
        let references = cluster.refs.iter().zip(&state.refs);
        for (reference, now) in references.filter(|(reference, _)| reference.by_uid != NONE) {
            let counts = &mut state.counts[reference.by_uid];
            counts.dependents += 1;
            counts.blocking += u32::from(*now == RefState::Blocking);
        }
        for slot in &cluster.absent_finalizers {
            state.finalizers[*slot] = false;
        }
        state
    }

    pub(super) fn has(&self, id: ObjectId, flags: u16) -> bool {
        self.flags[id] & flags == flags
    }

    pub(super) fn gone(&self, id: ObjectId) -> bool {
        self.has(id, GONE)
    }

    pub(super) fn live(&self, id: ObjectId) -> bool {
        !self.has(id, GONE)
    }

    pub(super) fn present(&self, reference: RefId) -> bool {
        self.refs[reference] != RefState::Removed
    }

    /// Whether the reference exists and blocks its owner's foreground deletion.
    pub(super) fn blocks(&self, reference: RefId) -> bool {
        self.refs[reference] == RefState::Blocking
    }

    /// Whether no finalizer in its metadata keeps a Terminating object from being removed.
    pub(super) fn without_finalizers(&self, cluster: &Cluster, id: ObjectId) -> bool {
        self.flags[id] & (ORPHAN | FOREGROUND) == 0 && self.without_foreign_finalizers(cluster, id)
    }

    pub(super) fn without_foreign_finalizers(&self, cluster: &Cluster, id: ObjectId) -> bool {
        cluster.finalizers_of(id).all(|slot| !self.finalizers[slot])
    }

    /// Returns the finalizers of an object, the collector's last.
    pub(super) fn finalizer_names<'c>(
        &self,
        cluster: &'c Cluster,
        id: ObjectId,
    ) -> impl Iterator<Item = &'c str> {
        let slots = cluster
            .finalizers_of(id)
            .filter(|slot| self.finalizers[*slot]);
        slots
            .map(|slot| cluster.finalizer(slot))
            .chain(gc_finalizers(self.flags[id]))
    }

    /// Returns the live dependents of `owner` in the collector's graph.
    pub(super) fn dependents<'a>(
        &'a self,
        cluster: &'a Cluster,
        owner: ObjectId,
    ) -> impl Iterator<Item = Dependent> + 'a {
        let dependents = cluster.dependents.of(owner).iter().copied();
        dependents
            .filter(|dependent| self.present(dependent.reference) && self.live(dependent.holder))
    }

    /// Returns two independent hashes over everything but cached values and write counters.
    pub(super) fn fingerprint(&self) -> (u64, u64) {
        (self.digest(1), self.digest(2))
    }

    fn digest(&self, seed: u64) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        seed.hash(&mut hasher);
        self.flags.hash(&mut hasher);
        self.refs.hash(&mut hasher);
        self.finalizers.hash(&mut hasher);
        (&self.queue, &self.orphans, &self.failed, &self.conflicts).hash(&mut hasher);
        (&self.timeline, &self.sent, &self.halted).hash(&mut hasher);
        hasher.finish()
    }
}
