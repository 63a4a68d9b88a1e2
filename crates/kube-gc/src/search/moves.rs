//! The moves among which the exhaustive search chooses.

use crate::collector::{Action, Verdict};
use crate::controllers::Purge;
use crate::flags::{DELETING_DEPENDENTS, FOREGROUND, TERMINATING};
use crate::ids::ObjectId;
use crate::links::Role;
use crate::names::Policy;
use crate::object::Verb;
use crate::view::Class;
use crate::world::Simulation;

/// A move: something that may happen next, run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Move {
    Attempt(ObjectId),
    /// The orphaning of an owner's dependents.
    Orphan(ObjectId),
    /// A request of a purge.
    Purge(Purge),
    /// The next request of a client.
    Send(usize),
}

/// The effect that an attempt would have now.
#[derive(Debug)]
pub(super) enum Prospect {
    Nothing,
    /// It ends without a write, and is tried again later: a kind does not resolve, or a webhook rejects the request.
    Fails,
    Release,
    Act(Action),
}

impl Prospect {
    pub(super) fn writes(&self) -> bool {
        matches!(self, Prospect::Release | Prospect::Act(_))
    }
}

impl Simulation<'_> {
    pub(super) fn prospect(&self, item: ObjectId) -> Prospect {
        if !self.attempts(item) {
            return Prospect::Nothing;
        }
        if self.state.has(item, DELETING_DEPENDENTS) {
            return match self.state.counts[item].blocking {
                0 if !self.state.has(item, FOREGROUND) => Prospect::Nothing,
                0 if self.view().rejects(item, Verb::Update) => Prospect::Fails,
                0 => Prospect::Release,
                _ => Prospect::Nothing,
            };
        }
        let mut verdict = Verdict::new(self, item);
        for index in self.view().references(item) {
            match self.view().classify(index) {
                Class::Unresolvable => return Prospect::Fails,
                Class::OutOfScope => return Prospect::Nothing,
                class => verdict.add(index, class),
            }
        }
        match self.decide(item, verdict) {
            Action::Nothing => Prospect::Nothing,
            action if self.view().rejects(item, self.first_request(item, &action)) => {
                Prospect::Fails
            }
            action => Prospect::Act(action),
        }
    }

    /// Returns the first request that an action sends.
    fn first_request(&self, item: ObjectId, action: &Action) -> Verb {
        match action {
            Action::Delete { unblock, .. } if !(*unblock && self.may_unblock(item)) => Verb::Delete,
            _ => Verb::Update,
        }
    }

    /// Removes from the queue an item that would write nothing now. Nothing is lost: a change that
    /// makes it write queues it again `[GC-10]`, `[GC-12]`, and a failure is recorded.
    ///
    /// In the lockstep rounds, an attempt at a blocked owner queues its blockers again `[GC-32]`. That is not needed
    /// here: they are queued already, would write nothing, or are recorded as failed.
    pub(super) fn discard(&mut self, item: ObjectId, prospect: &Prospect) {
        self.state.queue.remove(item);
        self.state.conflicts.remove(item);
        if matches!(prospect, Prospect::Fails) {
            self.state.failed.insert(item);
        }
    }

    /// Makes a move; the collector then sees all of its writes at once.
    pub(super) fn make(&mut self, next: Move) {
        match next {
            Move::Attempt(item) => {
                self.state.queue.remove(item);
                self.state.conflicts.remove(item);
                self.state.failed.remove(item);
                match self.prospect(item) {
                    Prospect::Release => _ = self.release(item),
                    Prospect::Act(action) => self.act(item, action),
                    _ => {}
                }
            }
            Move::Orphan(owner) => {
                self.state.orphans.remove(owner);
                if self.state.live(owner) {
                    self.orphan_dependents(owner);
                }
            }
            Move::Purge(purge) => self.purge(purge),
            Move::Send(client) => self.send(client),
        }
        self.apply_watch();
    }

    fn act(&mut self, item: ObjectId, action: Action) {
        self.mark_mistaken_owners(item);
        match action {
            Action::Nothing => {}
            Action::RemoveReferences(doomed, reason) => {
                _ = self.remove_references(item, &doomed, reason);
            }
            Action::Delete {
                policy,
                unblock,
                reason,
            } => {
                // [GC-22a]: the DELETE after this patch conflicts; its retry is a move of its own.
                if unblock && self.unblock(item, reason) {
                    self.state.conflicts.insert(item);
                } else {
                    self.delete(item, Some(policy), false, reason);
                }
            }
        }
    }

    /// Appends the moves of an object that are possible now to `moves`.
    pub(super) fn moves_of(&self, id: ObjectId, moves: &mut Vec<Move>) {
        if self.state.gone(id) {
            return;
        }
        let state = &self.state;
        let waits =
            state.queue.contains(id) || state.conflicts.contains(id) || state.failed.contains(id);
        if waits && self.prospect(id).writes() {
            moves.push(Move::Attempt(id));
        }
        if state.orphans.contains(id) {
            moves.push(Move::Orphan(id));
        }
        moves.extend(self.purge_of(id).map(Move::Purge));
        if self.may_finalize(id) {
            moves.push(Move::Purge(Purge::Finalize(id)));
        }
    }

    /// Returns the purge that would delete this object now.
    pub(super) fn purge_of(&self, id: ObjectId) -> Option<Purge> {
        if let Some(definition) = self.definition_of(id)
            && matches!(
                self.cluster.links.roles.get(&definition),
                Some(Role::Definition {
                    established: true,
                    ..
                })
            )
            && self.state.has(definition, TERMINATING)
            && !self.view().rejects(definition, Verb::UpdateStatus)
            && self.delete_would_change(id, None)
        {
            return Some(Purge::Delete {
                object: id,
                of: definition,
            });
        }
        let home = self.cluster.links.home_of(id)?;
        let (pods, content) = self.cluster.links.content_of(home)?;
        let batch = if pods.binary_search(&id).is_ok() {
            pods
        } else {
            content
        };
        let purged = self.purging(home)
            && (self.cluster.goes_first(id)
                || !self.state.purging.has_pods(self.cluster, home)
                || self.view().keeps_some_of(pods))
            && self.delete_would_change(id, Some(Policy::Background))
            && self.view().is_purged(id, batch);
        purged.then_some(Purge::Delete {
            object: id,
            of: home,
        })
    }

    /// Returns the first object at or after `from` that a purge would delete now.
    pub(super) fn next_purge(&mut self, mut from: ObjectId) -> Option<(ObjectId, Purge)> {
        loop {
            let id = self.state.purging.candidates.next_from(from)?;
            let purge = self.purge_of(id).filter(|_| self.state.live(id));
            if let Some(purge) = purge {
                return Some((id, purge));
            }
            // A request that is rejected now may be admitted later. Objects that wait for Pods are added again later.
            if self.state.gone(id)
                || !self.state.failing.has_webhooks()
                || !self.may_be_rejected(id)
            {
                self.state.purging.candidates.remove(id);
            } else {
                from = id.next();
            }
        }
    }

    /// Whether a webhook may reject the purge of an object, or a request that has to come before it.
    fn may_be_rejected(&self, id: ObjectId) -> bool {
        let links = &self.cluster.links;
        let definition = self.cluster.definition_of(id);
        let home = links.home_of(id).and_then(|home| links.content_of(home));
        let pods = home.map_or(&[][..], |(pods, _)| pods);
        [&[id], definition.as_slice(), pods]
            .into_iter()
            .any(|objects| self.cluster.asks_about_kind_of(objects))
    }

    /// Returns the Terminating, empty namespaces that can be finished now.
    pub(super) fn finalizable(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.state
            .purging
            .emptied
            .iter()
            .filter(|id| self.may_finalize(*id))
    }

    pub(super) fn definition_of(&self, id: ObjectId) -> Option<ObjectId> {
        let definition = self.cluster.definition_of(id);
        definition.filter(|definition| self.state.live(*definition))
    }

    /// Whether a Terminating namespace is empty and can be finished now.
    pub(crate) fn may_finalize(&self, id: ObjectId) -> bool {
        self.purging(id)
            && self.state.purging.is_empty(self.cluster, id)
            && self.view().can_be_finalized(id)
    }
}
