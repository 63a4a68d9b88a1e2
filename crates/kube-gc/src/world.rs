//! The API server's storage: every write goes through here, updates the derived counters and emits
//! the watch events that the collector will see.

use crate::cause::Cause;
use crate::client::Stretch;
use crate::cluster::Cluster;
use crate::flags::{
    DELETING_DEPENDENTS, FOREGROUND, GONE, GRACEFUL, ORPHAN, SPEC_KUBERNETES, TERMINATING,
    UNWATCHED,
};
use crate::ids::{NONE, ObjectId, RefId};
use crate::links::Role;
use crate::object::Verb;
use crate::state::{RefState, State};
use crate::trace::{Effect, Reason, Trace};
use crate::view::View;

/// The collector's reaction to a write once it sees it (`processGraphChanges`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// The object is really gone `[GC-12]`.
    Gone(ObjectId),
    /// The collector treats this owner as absent from now on.
    TakenForAbsent(ObjectId),
    /// A blocking reference to this owner was dropped or unblocked `[GC-11]`.
    Unblocked(ObjectId),
    /// First sight of Terminating with `foregroundDeletion` `[GC-10]`.
    Foreground(ObjectId),
    /// First sight of Terminating with `orphan` `[GC-10]`.
    Orphan(ObjectId),
}

/// A cluster and its current state in a simulation.
#[derive(Debug, Clone)]
pub(super) struct Simulation<'c> {
    pub(super) cluster: &'c Cluster,
    pub(super) state: State,
    /// The requests that clients may send, if the search makes requests as moves.
    pub(super) stretch: Option<&'c Stretch<'c>>,
    /// Watch events that the collector has not processed yet.
    pub(super) watch: Vec<Watch>,
    /// Log of changes and rejections, if requested.
    pub(super) trace: Option<Trace>,
}

impl<'c> Simulation<'c> {
    /// Starts a simulation as the collector does: every object with references is queued `[SIM-12]`, and every deletion
    /// under way is seen for the first time `[GC-10]`.
    pub(super) fn new(cluster: &'c Cluster) -> Simulation<'c> {
        let mut world = Simulation {
            cluster,
            state: State::new(cluster),
            stretch: None,
            watch: Vec::new(),
            trace: None,
        };
        for id in cluster.ids() {
            if !cluster.refs_of(id).is_empty() {
                world.enqueue(id);
            }
            world.saw_transition(id, false, false);
            // A dump may show an object after the removal of its last finalizer and before its own.
            world.remove_if_finished(id, Cause::Unheld.into());
        }
        world.apply_watch();
        world.flag_lost_needs();
        world
    }

    /// Returns a read-only view of the current state.
    pub(super) fn view(&self) -> View<'_> {
        View {
            cluster: self.cluster,
            state: &self.state,
        }
    }

    /// Queues an item, if the collector watches its kind `[GC-2]`.
    pub(super) fn enqueue(&mut self, id: ObjectId) {
        if !self.state.has(id, UNWATCHED) {
            self.state.queue.insert(id);
        }
    }

    /// Processes all pending watch events, in the order of the writes.
    pub(super) fn apply_watch(&mut self) {
        let mut queued = Vec::new();
        for event in std::mem::take(&mut self.watch) {
            match event {
                Watch::Gone(id) => self.saw_removal(id, &mut queued),
                Watch::TakenForAbsent(owner) => self.dependents_of(owner, &mut queued),
                Watch::Unblocked(owner) => queued.push(owner),
                Watch::Orphan(id) => self.state.orphans.insert(id),
                Watch::Foreground(id) => {
                    self.state.flags[id] |= DELETING_DEPENDENTS;
                    self.dependents_of(id, &mut queued);
                    queued.push(id);
                }
            }
        }
        for id in queued {
            self.enqueue(id);
        }
    }

    fn saw_removal(&self, id: ObjectId, queued: &mut Vec<ObjectId>) {
        self.dependents_of(id, queued);
        for index in self.cluster.refs_of(id) {
            let owner = self.cluster.refs[index].by_uid;
            if self.state.present(index)
                && owner != NONE
                && self.state.live(owner)
                && self.state.has(owner, DELETING_DEPENDENTS)
            {
                queued.push(owner);
            }
        }
    }

    fn dependents_of(&self, owner: ObjectId, queued: &mut Vec<ObjectId>) {
        queued.extend(
            self.state
                .dependents(self.cluster, owner)
                .map(|dependent| dependent.holder),
        );
    }

    /// Changes an object's flags and finalizers, and emits the watch events of the difference.
    pub(super) fn update(&mut self, id: ObjectId, change: impl FnOnce(&mut State)) {
        let orphan = self.state.has(id, TERMINATING | ORPHAN);
        let foreground = self.state.has(id, TERMINATING | FOREGROUND);
        let terminating = self.state.has(id, TERMINATING);
        change(&mut self.state);
        self.state.purging.candidates.insert(id);
        if self.state.has(id, TERMINATING) && !terminating {
            let state = &mut self.state;
            state.purging.start(self.cluster, &state.failing, id);
        }
        self.wrote(id);
        self.saw_transition(id, orphan, foreground);
    }

    /// Emits the watch event of a deletion that began. Orphaning hides foreground deletion
    /// `[GC-10]`.
    fn saw_transition(&mut self, id: ObjectId, was_orphan: bool, was_foreground: bool) {
        if self.state.has(id, UNWATCHED) {
            return;
        }
        if self.state.has(id, TERMINATING | ORPHAN) && !was_orphan {
            self.watch.push(Watch::Orphan(id));
        } else if self.state.has(id, TERMINATING | FOREGROUND) && !was_foreground {
            self.watch.push(Watch::Foreground(id));
        }
    }

    fn wrote(&mut self, id: ObjectId) {
        self.state.revisions[id] += 1;
        self.state.writes += 1;
    }

    /// Removes an object that is Terminating and has nothing left to wait for `[DEL-10]`, `[NS-3]`.
    pub(super) fn remove_if_finished(&mut self, id: ObjectId, reason: Reason) {
        let state = &self.state;
        let waits = !state.has(id, TERMINATING) || state.has(id, GONE) || state.has(id, GRACEFUL);
        if waits || !state.without_finalizers(self.cluster, id) || self.has_spec_finalizers(id) {
            return;
        }
        self.remove(id, reason);
    }

    /// Whether the namespace controller is deleting the content of a namespace.
    pub(super) fn purging(&self, namespace: ObjectId) -> bool {
        self.state.live(namespace)
            && self.state.has(namespace, TERMINATING)
            && self.has_spec_finalizers(namespace)
    }

    pub(super) fn has_spec_finalizers(&self, id: ObjectId) -> bool {
        let Some(Role::Namespace { tokens, .. }) = self.cluster.links.roles.get(&id) else {
            return false;
        };
        self.state.has(id, SPEC_KUBERNETES) || !tokens.is_empty()
    }

    pub(super) fn remove(&mut self, id: ObjectId, reason: Reason) {
        for index in self.cluster.refs_of(id) {
            self.detach(index);
        }
        self.state.flags[id] |= GONE;
        self.state.timeline.remove(self.cluster, id);
        let state = &mut self.state;
        let flags = &state.flags;
        state.purging.note_removal(self.cluster, id, flags);
        let had_webhooks = state.failing.has_webhooks();
        state
            .failing
            .note_removal(self.cluster, id, |other| flags[other] & GONE == 0);
        if state.failing.has_webhooks() && !had_webhooks {
            let namespaces = self.cluster.links.namespaces.iter();
            let going = namespaces.filter(|id| flags[**id] & (TERMINATING | GONE) == TERMINATING);
            going.for_each(|id| state.purging.start(self.cluster, &state.failing, *id));
        }
        self.wrote(id);
        self.watch.push(Watch::Gone(id));
        self.note(id, Effect::Gone, reason);
    }

    /// Subtracts a reference from its owner's counts, because it or its holder is removed.
    fn detach(&mut self, index: RefId) {
        let owner = self.cluster.refs[index].by_uid;
        if owner != NONE && self.state.present(index) {
            let blocks = u32::from(self.state.blocks(index));
            let counts = &mut self.state.counts[owner];
            counts.dependents -= 1;
            counts.blocking -= blocks;
        }
    }

    /// Removes every reference of `id` with the uid of one of `indexes` `[GC-23]`. Returns `false`
    /// if a webhook rejects it.
    pub(super) fn remove_references(
        &mut self,
        id: ObjectId,
        indexes: &[RefId],
        reason: Reason,
    ) -> bool {
        if !self.admits(id, Verb::Update) {
            return false;
        }
        let mut changed = false;
        for index in self.cluster.refs_of(id) {
            let uid = self.cluster.written[index].uid;
            let hit = indexes
                .iter()
                .any(|other| self.cluster.written[*other].uid == uid);
            if !hit || !self.state.present(index) {
                continue;
            }
            self.released_owner(index);
            self.detach(index);
            self.state.refs[index] = RefState::Removed;
            changed = true;
        }
        if changed {
            self.wrote(id);
            self.note(id, Effect::Detached, reason);
        }
        true
    }

    /// Sets `blockOwnerDeletion: false`: on the blocking references of a built-in kind, on all of a
    /// custom resource `[GC-28]`. Returns whether that changed anything.
    pub(super) fn unblock(&mut self, id: ObjectId, reason: Reason) -> bool {
        let mut changed = false;
        for index in self.cluster.refs_of(id) {
            if !self.unblocks(id, index) {
                continue;
            }
            let blocks = self.state.blocks(index);
            self.released_owner(index);
            let owner = self.cluster.refs[index].by_uid;
            if blocks && owner != NONE {
                self.state.counts[owner].blocking -= 1;
            }
            self.state.refs[index] = RefState::Unblocked;
            changed = true;
        }
        if changed {
            self.wrote(id);
            self.note(id, Effect::Unblocked, reason);
        }
        changed
    }

    fn unblocks(&self, id: ObjectId, index: RefId) -> bool {
        self.state.blocks(index)
            || self.cluster.kind_of(id).custom
                && self.state.refs[index] == RefState::Kept
                && self.cluster.written[index].block.is_none()
    }

    /// Whether [`unblock`](Self::unblock) would change anything.
    pub(super) fn may_unblock(&self, id: ObjectId) -> bool {
        self.cluster
            .refs_of(id)
            .any(|index| self.unblocks(id, index))
    }

    fn released_owner(&mut self, index: RefId) {
        let owner = self.cluster.refs[index].by_uid;
        if owner != NONE && self.state.live(owner) && self.state.blocks(index) {
            self.watch.push(Watch::Unblocked(owner));
        }
    }

    pub(super) fn note(&mut self, id: ObjectId, effect: Effect, reason: Reason) {
        if let Some(trace) = &mut self.trace {
            trace.note(id, effect, reason);
        }
    }
}
