//! The verdict's scheduler: lockstep rounds `[SIM-10]`.
//!
//! The collector has twenty workers and no order among its items, so a simulation must choose one. On a real control
//! plane one API call takes about as long as another, and a watch event is seen sooner than the next call ends, so
//! workers that start together stay in step. A round imitates that. Every running attempt makes one API call; all reads
//! come before all writes; the collector sees the writes when the round is over. An attempt writes one round after its
//! decision, because a round trip lies between its read and its write: only with that gap do conflicts `[GC-22a]` and
//! owners that are removed in between agree with the recordings. Of all deterministic orders tried, this one agreed
//! best with a real control plane.
//!
//! The number of workers is not modelled: everything queued starts at once, in the order of the keys. Other controllers
//! move only when the collector is at rest, as they are slower by orders of magnitude.
//!
//! A run terminates: items are queued only by writes, objects and references only ever disappear, and Terminating is
//! never undone; failed items are retried only if something was written since. The cost of a round is proportional to
//! the running attempts, whatever the size of the cluster.

use std::collections::BTreeSet;

use typed_index_collections::TiVec;

use crate::collector::{Action, Verdict};
use crate::flags::DELETING_DEPENDENTS;
use crate::ids::ObjectId;
use crate::names::Policy;
use crate::object::Verb;
use crate::references::ReferenceTable;
use crate::trace::Reason;
use crate::view::Class;
use crate::world::Simulation;

/// The next API call of an attempt.
#[derive(Debug)]
enum Call {
    GetSelf,
    /// GET the owner of the reference at this position.
    GetOwner(usize),
    Write(Action),
    /// The DELETE after an unblocking patch, with the resourceVersion from before it `[GC-22a]`.
    Delete(Policy, Reason),
    /// The GET after a DELETE was answered 409.
    GetAfterConflict(Policy, Reason),
    /// The DELETE without resourceVersion, when the references had not changed `[GC-24]`.
    DeleteAnyway(Policy, Reason),
    /// The GET of a release, between the check and the patch `[GC-31]`.
    GetForRelease,
    Release,
}

/// The end of an attempt.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Done,
    /// A kind does not resolve, or a webhook rejects the write.
    Failed,
    FailedOnConflict,
}

#[derive(Debug)]
struct Attempt {
    item: ObjectId,
    call: Call,
    /// The references when the item was read, which `verdict` evaluates one by one.
    references: ReferenceTable,
    verdict: Verdict,
    revision: u32,
    /// Whether it decided in this round, so that it writes in the next.
    decided: bool,
    /// Whether its unblocking patch changed something.
    patched: bool,
}

/// Runs a cluster until the collector, the namespace controller and all others have nothing left to do or, if objects
/// are `awaited`, until these are gone. Attempts that are still running then are queued again.
pub(super) fn settle(world: &mut Simulation<'_>, kubelet: bool, awaited: &BTreeSet<ObjectId>) {
    let is_running = vec![false; world.cluster.len()].into();
    let mut rounds = Rounds {
        world,
        running: Vec::new(),
        is_running,
    };
    rounds.run(kubelet, awaited);
    for attempt in rounds.running {
        rounds.world.enqueue(attempt.item);
    }
}

#[derive(Debug)]
struct Rounds<'w, 'c> {
    world: &'w mut Simulation<'c>,
    running: Vec<Attempt>,
    is_running: TiVec<ObjectId, bool>,
}

impl Rounds<'_, '_> {
    fn run(&mut self, kubelet: bool, awaited: &BTreeSet<ObjectId>) {
        let mut retried_at = None;
        loop {
            self.world.apply_watch();
            while !self.world.state.queue.is_empty()
                || !self.running.is_empty()
                || !self.world.state.orphans.is_empty()
            {
                if self.is_over(awaited) {
                    return;
                }
                self.round();
            }
            if self.is_over(awaited) {
                return;
            }
            // Failed items are tried again once per change of state.
            let state = &mut self.world.state;
            if retried_at != Some(state.writes)
                && !(state.failed.is_empty() && state.conflicts.is_empty())
            {
                retried_at = Some(state.writes);
                let failed = state.failed.drain();
                state.queue.extend(state.conflicts.drain());
                for item in failed {
                    self.world.retry(item);
                }
                continue;
            }
            self.next_round();
            let moved = self.world.purge_pass() || self.world.controllers_pass(kubelet);
            if !moved && !self.world.reconcilers_pass(awaited) {
                return;
            }
        }
    }

    /// Whether objects are `awaited` and all of them are gone.
    fn is_over(&self, awaited: &BTreeSet<ObjectId>) -> bool {
        !awaited.is_empty() && awaited.iter().all(|id| self.world.state.gone(*id))
    }

    fn next_round(&mut self) {
        if let Some(trace) = &mut self.world.trace {
            trace.round += 1;
        }
    }

    fn round(&mut self) {
        self.next_round();
        self.start_attempts();
        let mut running = std::mem::take(&mut self.running);
        // All reads, then all writes.
        running.retain_mut(|attempt| {
            let end = if attempt.writes() {
                None
            } else {
                attempt.read(self.world)
            };
            self.keep(attempt.item, end)
        });
        // Attempts that have just made a decision write in the next round.
        running.retain_mut(|attempt| {
            let due = attempt.writes() && !std::mem::take(&mut attempt.decided);
            let end = if due { attempt.write(self.world) } else { None };
            self.keep(attempt.item, end)
        });
        self.running = running;
        for owner in self.world.state.orphans.drain() {
            if self.world.state.live(owner) {
                self.world.orphan_dependents(owner);
            }
        }
        self.world.apply_watch();
    }

    /// Starts every queued item. One that is running stays queued until its attempt ends.
    fn start_attempts(&mut self) {
        for item in self.world.state.queue.drain() {
            if self.is_running[item] {
                self.world.state.queue.insert(item);
                continue;
            }
            self.world.state.failed.remove(item);
            self.world.state.conflicts.remove(item);
            if self.world.attempts(item) {
                self.is_running[item] = true;
                self.running.push(Attempt {
                    item,
                    call: Call::GetSelf,
                    references: ReferenceTable::new(),
                    verdict: Verdict::default(),
                    revision: 0,
                    decided: false,
                    patched: false,
                });
            }
        }
    }

    /// Records the end of an attempt; returns whether the attempt continues.
    fn keep(&mut self, item: ObjectId, end: Option<End>) -> bool {
        let Some(end) = end else { return true };
        self.is_running[item] = false;
        // An item that was queued again while it ran is started again at once, even if it failed.
        if !self.world.state.queue.contains(item) {
            match end {
                End::Done => {}
                End::Failed => self.world.state.failed.insert(item),
                End::FailedOnConflict => self.world.state.conflicts.insert(item),
            }
        }
        false
    }
}

impl Attempt {
    fn writes(&self) -> bool {
        matches!(
            self.call,
            Call::Write(_) | Call::Delete(..) | Call::DeleteAnyway(..) | Call::Release
        )
    }

    fn read(&mut self, world: &mut Simulation<'_>) -> Option<End> {
        match self.call {
            Call::GetSelf => return self.get_self(world),
            Call::GetOwner(position) => return self.get_owners(world, position),
            Call::GetForRelease => {
                if world.state.gone(self.item) {
                    return Some(End::Done);
                }
                self.then_write(Call::Release);
            }
            Call::GetAfterConflict(policy, reason) => {
                if world.state.gone(self.item) {
                    return Some(End::Done);
                }
                let live: ReferenceTable = world.view().references(self.item).collect();
                if world.state.revisions[self.item] != self.revision
                    && (live != self.references || self.patched)
                {
                    return Some(End::FailedOnConflict);
                }
                self.then_write(Call::DeleteAnyway(policy, reason));
            }
            _ => {}
        }
        None
    }

    fn then_write(&mut self, call: Call) {
        self.call = call;
        self.decided = true;
    }

    fn get_self(&mut self, world: &mut Simulation<'_>) -> Option<End> {
        if world.state.gone(self.item) {
            return Some(End::Done);
        }
        if world.state.has(self.item, DELETING_DEPENDENTS) {
            if !world.check_blockers(self.item) {
                return Some(End::Done);
            }
            self.call = Call::GetForRelease;
            return None;
        }
        self.references = world.view().references(self.item).collect();
        if self.references.is_empty() {
            return Some(End::Done);
        }
        self.verdict = Verdict::new(world, self.item);
        self.revision = world.state.revisions[self.item];
        self.skip_cached(world, 0)
    }

    /// Handles the GET of one owner, then proceeds to the next owner that needs one.
    fn get_owners(&mut self, world: &Simulation<'_>, position: usize) -> Option<End> {
        let index = self.references[position];
        match world.view().classify(index) {
            Class::Unresolvable => return Some(End::Failed),
            Class::OutOfScope => return Some(End::Done),
            class => self.verdict.add(index, class),
        }
        self.skip_cached(world, position + 1)
    }

    /// Skips owners for which the absent-owner cache answers without a call, and decides after the last owner.
    fn skip_cached(&mut self, world: &Simulation<'_>, mut position: usize) -> Option<End> {
        while let Some(&index) = self.references.get(position) {
            match world.view().classify(index) {
                Class::Unresolvable => return Some(End::Failed),
                Class::OutOfScope => return Some(End::Done),
                class if world.view().cached_absent(index) => self.verdict.add(index, class),
                _ => {
                    self.call = Call::GetOwner(position);
                    return None;
                }
            }
            position += 1;
        }
        match world.decide(self.item, std::mem::take(&mut self.verdict)) {
            Action::Nothing => Some(End::Done),
            action => {
                self.then_write(Call::Write(action));
                None
            }
        }
    }

    fn write(&mut self, world: &mut Simulation<'_>) -> Option<End> {
        if matches!(self.call, Call::Write(_)) {
            world.mark_mistaken_owners(self.item);
        }
        match std::mem::replace(&mut self.call, Call::GetSelf) {
            Call::Write(Action::RemoveReferences(doomed, reason)) => {
                let done = world.state.gone(self.item)
                    || world.remove_references(self.item, &doomed, reason);
                Some(if done { End::Done } else { End::Failed })
            }
            Call::Write(Action::Delete {
                policy,
                unblock: true,
                reason,
            }) => {
                if world.state.live(self.item)
                    && world.may_unblock(self.item)
                    && !world.admits(self.item, Verb::Update)
                {
                    return Some(End::Failed);
                }
                self.patched = world.state.live(self.item) && world.unblock(self.item, reason);
                self.call = Call::Delete(policy, reason);
                None
            }
            Call::Write(Action::Delete {
                policy,
                unblock: false,
                reason,
            })
            | Call::Delete(policy, reason) => {
                if world.state.gone(self.item) {
                    return Some(End::Done);
                }
                if world.state.revisions[self.item] != self.revision {
                    self.call = Call::GetAfterConflict(policy, reason);
                    return None;
                }
                Some(self.delete(world, policy, reason))
            }
            Call::DeleteAnyway(policy, reason) => Some(self.delete(world, policy, reason)),
            Call::Release => {
                let done = world.state.gone(self.item) || world.release(self.item);
                Some(if done { End::Done } else { End::Failed })
            }
            _ => Some(End::Done),
        }
    }

    fn delete(&self, world: &mut Simulation<'_>, policy: Policy, reason: Reason) -> End {
        if world.state.gone(self.item) || world.delete(self.item, Some(policy), false, reason) < 400
        {
            End::Done
        } else {
            End::Failed
        }
    }
}
