//! What changes while a simulation runs: a few flat vectors, cheap to copy, to compare and to hash.
//!
//! The collector's graph is not stored apart. Watch events are applied before anything reads the
//! graph again (in lockstep rounds as in the exhaustive search), so its edges are the references
//! that still exist; only what it remembers longer than the API does is here
//! ([`DELETING_DEPENDENTS`] `[GC-9]`), with its queues.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use super::cluster::{Cluster, FOREGROUND_FINALIZER, NONE, ORPHAN_FINALIZER, ObjectId};

/// Removed from storage.
pub(super) const GONE: u16 = 1;
/// `deletionTimestamp` is set.
pub(super) const TERMINATING: u16 = 1 << 1;
/// `deletionGracePeriodSeconds` is above 0: a Pod that waits for its kubelet.
pub(super) const GRACEFUL: u16 = 1 << 2;
/// Has finalizer `orphan`.
pub(super) const ORPHAN: u16 = 1 << 3;
/// Has finalizer `foregroundDeletion`.
pub(super) const FOREGROUND: u16 = 1 << 4;
/// The collector saw it Terminating with `foregroundDeletion`, and never forgets `[GC-9]`.
pub(super) const DELETING_DEPENDENTS: u16 = 1 << 5;
/// `spec.finalizers` of a Namespace holds `kubernetes`.
pub(super) const SPEC_KUBERNETES: u16 = 1 << 6;

/// What of the flags a user can see.
pub(super) const VISIBLE: u16 = GONE | TERMINATING | ORPHAN | FOREGROUND | SPEC_KUBERNETES;

/// The finalizers of the collector among the flags, by name.
pub(super) fn gc_finalizers(flags: u16) -> impl Iterator<Item = &'static str> {
    let orphan = (flags & ORPHAN != 0).then_some(ORPHAN_FINALIZER);
    let foreground = (flags & FOREGROUND != 0).then_some(FOREGROUND_FINALIZER);
    orphan.into_iter().chain(foreground)
}

/// What became of an owner reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RefState {
    /// As it was.
    Kept,
    /// `blockOwnerDeletion` was set to false.
    Unblocked,
    Removed,
}

/// The objects as stored, and the collector's memory.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) flags: Vec<u16>,
    pub(super) refs: Vec<RefState>,
    pub(super) finalizers: Vec<bool>,
    /// Items to be attempted.
    pub(super) queue: BTreeSet<ObjectId>,
    /// Owners whose dependents are to be orphaned.
    pub(super) orphans: BTreeSet<ObjectId>,
    /// Items that failed on a kind and wait for their back-off `[GC-16]`.
    pub(super) failed: BTreeSet<ObjectId>,
    /// Items that failed on a conflict and are retried within milliseconds `[GC-22a]`.
    pub(super) conflicts: BTreeSet<ObjectId>,
    /// Live dependents by uid, and those that block: derived, kept for speed.
    pub(super) dependents: Vec<u32>,
    pub(super) blocking: Vec<u32>,
    /// `resourceVersion`, counted per object.
    pub(super) revisions: Vec<u32>,
    /// Writes so far.
    pub(super) writes: u64,
}

impl State {
    pub(super) fn new(cluster: &Cluster) -> State {
        let objects = cluster.len();
        let mut state = State {
            flags: cluster.nodes[..objects].iter().map(|node| node.flags).collect(),
            refs: vec![RefState::Kept; cluster.refs.len()],
            finalizers: vec![true; cluster.finalizers.len()],
            queue: BTreeSet::new(),
            orphans: BTreeSet::new(),
            failed: BTreeSet::new(),
            conflicts: BTreeSet::new(),
            dependents: vec![0; objects],
            blocking: vec![0; objects],
            revisions: vec![0; objects],
            writes: 0,
        };
        for reference in cluster.refs.iter().filter(|reference| reference.by_uid != NONE) {
            state.dependents[reference.by_uid as usize] += 1;
            state.blocking[reference.by_uid as usize] += u32::from(reference.block == Some(true));
        }
        for slot in &cluster.absent_finalizers {
            state.finalizers[*slot as usize] = false;
        }
        state
    }

    pub(super) fn has(&self, id: ObjectId, flags: u16) -> bool {
        self.flags[id as usize] & flags == flags
    }

    pub(super) fn gone(&self, id: ObjectId) -> bool {
        self.has(id, GONE)
    }

    pub(super) fn live(&self, id: ObjectId) -> bool {
        !self.has(id, GONE)
    }

    pub(super) fn present(&self, reference: u32) -> bool {
        self.refs[reference as usize] != RefState::Removed
    }

    /// Whether the reference exists and blocks its owner's foreground deletion.
    pub(super) fn blocks(&self, cluster: &Cluster, reference: u32) -> bool {
        self.refs[reference as usize] == RefState::Kept && cluster.reference(reference).block == Some(true)
    }

    /// Whether nothing in its metadata keeps a Terminating object from being removed.
    pub(super) fn without_finalizers(&self, cluster: &Cluster, id: ObjectId) -> bool {
        self.flags[id as usize] & (ORPHAN | FOREGROUND) == 0 && self.without_foreign_finalizers(cluster, id)
    }

    pub(super) fn without_foreign_finalizers(&self, cluster: &Cluster, id: ObjectId) -> bool {
        cluster.finalizers_of(id).all(|slot| !self.finalizers[slot as usize])
    }

    /// Live dependents: the references, in the collector's graph, that lead to `owner`.
    pub(super) fn dependents<'a>(&'a self, cluster: &'a Cluster, owner: ObjectId) -> impl Iterator<Item = u32> + 'a {
        let references = cluster.dependents.of(owner).iter().copied();
        references.filter(|index| self.present(*index) && self.live(cluster.reference(*index).holder))
    }

    /// Two independent hashes over everything but the counters that can be derived.
    pub(super) fn fingerprint(&self) -> (u64, u64) {
        let digest = |seed: u64| {
            let mut hasher = std::hash::DefaultHasher::new();
            seed.hash(&mut hasher);
            self.flags.hash(&mut hasher);
            self.refs.hash(&mut hasher);
            self.finalizers.hash(&mut hasher);
            (&self.queue, &self.orphans, &self.failed, &self.conflicts).hash(&mut hasher);
            hasher.finish()
        };
        (digest(1), digest(2))
    }
}
