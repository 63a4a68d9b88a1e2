//! Finds moves that may be made first without losing an outcome.
//!
//! Most moves of a cluster commute: two dependents of one foreground owner can be deleted in either order. From every
//! state the search therefore follows only a *stubborn set* of moves (Valmari). It is a set of objects with all their
//! moves, now and later, closed under two rules:
//!
//! 1. *All that could interfere with a possible move of a member is a member*: the objects that read what it writes or
//!    write what it reads, which are its owners and its dependents (`add_neighbours`), except where both orders do the
//!    same (`indifferent`).
//! 2. *Of the moves that have to happen before an impossible move of a member becomes possible, one is by a member*
//!    (`add_conditions`). Where one of several things must happen, any one of them will do (`add_one_of`).
//!
//! Why no outcome is lost: take any order that leads to rest, and in it the first move of a member. There is one,
//! unless no member can move at all, since at rest nothing is possible. All moves before it are of others. By rule 2
//! they cannot have made it possible, so it was possible from the start; by rule 1 they do not interfere with it. It
//! may as well be made first, and the cluster comes to rest in the same state. The same holds for the rest of the
//! order, which is shorter by one. Only states at rest are preserved, not those on the way, and every order ends, so
//! nothing else is required of the set.
//!
//! A client whose requests are to be sent is a member like an object. While it waits, its move is impossible. Its move
//! reads and writes the targets of its next request, and what it marks depends on which authorities are gone
//! ([`crate::timeline`]).
//!
//! Closing the set costs no more than the objects it ends up with, and stops at `limit` moves, when a smaller set is
//! already known. A superfluous rule costs time, a missing one loses outcomes: a property test compares with the search
//! that follows all moves.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::moves::{Move, Prospect};
use crate::collector::Action;
use crate::controllers::Purge;
use crate::flags::{
    DELETING_DEPENDENTS, FOREGROUND, GRACEFUL, ORPHAN, SPEC_KUBERNETES, TERMINATING,
};
use crate::id_set::IdSet;
use crate::ids::{NONE, ObjectId};
use crate::references::Dependent;
use crate::webhooks::ReturnedTies;
use crate::world::Simulation;

/// The move that a stubborn set is closed around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seed {
    Object(ObjectId),
    /// A client, by its index.
    Client(usize),
}

/// Buffers that are reused: many small sets are closed for every move.
#[derive(Debug)]
pub(super) struct SetScratch {
    members: IdSet,
    /// The members, in no order.
    listed: Vec<ObjectId>,
    /// Work counter: objects and clients looked at since the last reset by the caller.
    pub(super) visited: usize,
}

impl SetScratch {
    /// Creates buffers for a cluster of `objects` objects.
    pub(super) fn new(objects: usize) -> Self {
        Self {
            members: IdSet::new(objects),
            listed: Vec::new(),
            visited: 0,
        }
    }

    fn clear(&mut self) {
        self.listed.drain(..).for_each(|id| self.members.remove(id));
    }
}

/// A stubborn set under construction: the objects whose moves, now and later, are all in it.
struct Stubborn<'w, 'c> {
    world: &'w Simulation<'c>,
    scratch: &'w mut SetScratch,
    /// The clients that are members too.
    clients: BTreeSet<usize>,
    has_all_clients: bool,
    open: Vec<ObjectId>,
    moves: Vec<Move>,
    /// Cached answers of [`Self::is_purged_anyhow`] and [`Self::never_waits`] for objects with many references.
    purged: HashMap<ObjectId, bool>,
    never_waiting: HashMap<ObjectId, bool>,
    /// Ties by callouts that were followed already.
    returned: ReturnedTies,
}

/// Answers are cached for objects with more references than this: each of their owners asks for them.
const FEW_REFERENCES: usize = 8;

/// Returns the possible moves of a stubborn set closed around `seed`; `None` if there are at least `limit`.
pub(super) fn stubborn_moves(
    world: &Simulation<'_>,
    seed: Seed,
    limit: usize,
    scratch: &mut SetScratch,
) -> Option<Vec<Move>> {
    scratch.clear();
    let mut set = Stubborn {
        world,
        scratch,
        clients: BTreeSet::new(),
        has_all_clients: false,
        open: Vec::new(),
        moves: Vec::new(),
        purged: HashMap::default(),
        never_waiting: HashMap::default(),
        returned: ReturnedTies::default(),
    };
    match seed {
        Seed::Object(id) => set.add(id),
        Seed::Client(client) => set.add_client(client),
    }
    while let Some(object) = set.open.pop() {
        set.scratch.visited += 1;
        set.expand(object);
        if set.moves.len() >= limit {
            return None;
        }
    }
    Some(set.moves)
}

impl<'w> Stubborn<'w, '_> {
    fn add(&mut self, id: ObjectId) {
        if id != NONE && self.world.state.live(id) && !self.scratch.members.contains(id) {
            self.scratch.members.insert(id);
            self.scratch.listed.push(id);
            self.open.push(id);
        }
    }

    /// Adds the first of `candidates`, of which at least one must move before something becomes possible. Adds nothing
    /// if one of them is a member already, or can never move.
    fn add_one_of(&mut self, candidates: impl Iterator<Item = ObjectId>) {
        let mut first = None;
        for candidate in candidates {
            if self.scratch.members.contains(candidate) || self.inert(candidate) {
                return;
            }
            first = first.or(Some(candidate));
        }
        self.add(first.unwrap_or(NONE));
    }

    fn expand(&mut self, id: ObjectId) {
        let before = self.moves.len();
        self.world.moves_of(id, &mut self.moves);
        if self.is_purged_anyhow(id) {
            // Any other deletion by the collector has the same effect.
            self.moves.truncate(before);
            self.moves.extend(self.world.purge_of(id).map(Move::Purge));
        }
        let moves = self.moves.len() > before;
        if moves {
            self.add_neighbours(id);
        }
        self.add_conditions(id);
        let tied = self.world.view().tied_by_callouts(id, &mut self.returned);
        for tied in tied {
            self.add(tied);
        }
        // A request is a move of its target, and depends on which authorities are gone.
        let world = self.world;
        world.naming(id).for_each(|client| self.add_client(client));
        if moves && world.cluster.links.is_authority(id) {
            self.add_clients();
        }
    }

    /// Adds all clients, once: there may be many.
    fn add_clients(&mut self) {
        if !std::mem::replace(&mut self.has_all_clients, true) {
            self.world
                .sending()
                .for_each(|client| self.add_client(client));
        }
    }

    /// Adds the next request of a client, and everything that reads or writes what it writes or reads.
    fn add_client(&mut self, client: usize) {
        if !self.world.is_sending(client) || !self.clients.insert(client) {
            return;
        }
        // The first client is not charged: most simulations have only one.
        self.scratch.visited += usize::from(self.clients.len() > 1);
        let world = self.world;
        if !world.may_send(client) {
            return self.add_one_of(world.awaited(client));
        }
        self.moves.push(Move::Send(client));
        for target in world.next_targets(client) {
            self.add(target);
            self.add_neighbours(target);
            if world.cluster.links.is_authority(target) {
                self.add_clients();
            }
        }
        self.world
            .cluster
            .links
            .authority
            .iter()
            .for_each(|id| self.add(*id));
    }

    /// Adds everything that reads or writes what a move of `id` writes or reads: its owners and its dependents.
    fn add_neighbours(&mut self, id: ObjectId) {
        let world = self.world;
        self.add_owners(id);
        self.add_misled(id);
        for Dependent {
            holder: dependent, ..
        } in world.state.dependents(world.cluster, id)
        {
            self.scratch.visited += 1;
            if !self.indifferent(dependent, id) {
                self.add(dependent);
            }
        }
    }

    /// Adds the owners of an object, and the objects that a GET finds in their place.
    fn add_owners(&mut self, id: ObjectId) {
        let world = self.world;
        for index in world.view().references(id) {
            let reference = world.cluster.refs[index];
            if !self.indifferent(id, reference.by_uid) {
                self.add(reference.by_uid);
            }
            let named = world.cluster.written[index].named;
            if named != reference.by_uid {
                self.add(named);
            }
        }
    }

    /// Adds all dependents of each owner of `id` that some dependent looks for in the wrong place,
    /// since it misleads the others (before Kubernetes 1.20).
    fn add_misled(&mut self, id: ObjectId) {
        let world = self.world;
        let owners = world
            .cluster
            .refs_of(id)
            .map(|index| world.cluster.refs[index].by_uid);
        for owner in owners.filter(|owner| world.cluster.links.misnamed_owners.contains(owner)) {
            world
                .state
                .dependents(world.cluster, owner)
                .for_each(|dependent| self.add(dependent.holder));
        }
    }

    /// Whether the deletion of `dependent` is the same before and after `owner` is removed: either a namespace deletes
    /// it just as the collector would, or `owner` can only be removed entirely and `dependent` has no dependents of its
    /// own, so that it is deleted in the same way for a waiting owner and for a missing one.
    fn indifferent(&mut self, dependent: ObjectId, owner: ObjectId) -> bool {
        if owner == NONE
            || dependent == owner
            || [dependent, owner]
                .iter()
                .any(|id| self.world.is_pending(*id))
        {
            return false;
        }
        if self.is_purged_anyhow(dependent) {
            return true;
        }
        let state = &self.world.state;
        let flags = state.flags[owner];
        let goes = flags & (FOREGROUND | DELETING_DEPENDENTS | ORPHAN | GRACEFUL)
            == FOREGROUND | DELETING_DEPENDENTS
            && state.without_foreign_finalizers(self.world.cluster, owner)
            && !self.world.cluster.links.is_namespace(owner);
        goes && state.counts[dependent].dependents == 0
            && state.queue.contains(dependent)
            && matches!(
                self.world.prospect(dependent),
                Prospect::Act(Action::Delete { unblock: false, .. })
            )
    }

    /// Whether a namespace would delete the object now, and nothing that the collector may do to it makes a difference:
    /// its owners can be removed, but can never wait for it. Its remaining references are visible only if it stays.
    fn is_purged_anyhow(&mut self, id: ObjectId) -> bool {
        if let Some(known) = self.purged.get(&id) {
            return *known;
        }
        let world = self.world;
        let is_purged = world.cluster.links.callouts.is_empty()
            && self.is_plain(id)
            && world.purge_of(id).is_some_and(|purge| matches!(purge, Purge::Delete { of, .. } if world.cluster.links.is_namespace(of)))
            && self
                .owners(id)
                .all(|owner| owner == NONE || owner != id && self.never_waits(owner))
            && (self.owners(id).nth(1).is_none()
                || world.state.without_foreign_finalizers(world.cluster, id));
        if world.cluster.refs_of(id).len() > FEW_REFERENCES {
            self.purged.insert(id, is_purged);
        }
        is_purged
    }

    /// Whether an owner can be removed, but can never wait for its dependents.
    fn never_waits(&mut self, owner: ObjectId) -> bool {
        if let Some(known) = self.never_waiting.get(&owner) {
            return *known;
        }
        let world = self.world;
        let never_waits = self.is_plain(owner)
            && !world.cluster.links.misnamed_owners.contains(&owner)
            && self
                .owners(owner)
                .all(|id| id != NONE && self.is_plain(id) && world.cluster.refs_of(id).is_empty());
        if world.cluster.refs_of(owner).len() > FEW_REFERENCES {
            self.never_waiting.insert(owner, never_waits);
        }
        never_waits
    }

    /// Returns the owners that an object still names.
    fn owners(&self, id: ObjectId) -> impl Iterator<Item = ObjectId> + use<'w> {
        let world = self.world;
        let references = world.view().references(id);
        references.map(|index| world.cluster.refs[index].by_uid)
    }

    /// Whether the object does not wait for its dependents, and no unsent request names it.
    fn is_plain(&self, id: ObjectId) -> bool {
        self.world.state.flags[id] & (ORPHAN | FOREGROUND | DELETING_DEPENDENTS) == 0
            && !self.world.is_pending(id)
    }

    /// Adds the objects that must move before moves of `id` that are impossible now become possible.
    fn add_conditions(&mut self, id: ObjectId) {
        let world = self.world;
        let state = &world.state;
        if state.has(id, DELETING_DEPENDENTS) {
            if state.has(id, FOREGROUND) && state.counts[id].blocking > 0 {
                self.add_a_blocker(id);
            }
        } else if !state.has(id, TERMINATING) {
            self.add_misled(id);
            self.add_owners(id);
        }
        if self.fails(id) {
            // A dependent that is removed or stops blocking queues it once more [GC-11]: then its retry is not late.
            let deletes_dependents = state.has(id, DELETING_DEPENDENTS);
            state
                .dependents(world.cluster, id)
                .filter(|dependent| deletes_dependents || state.blocks(dependent.reference))
                .for_each(|dependent| self.add(dependent.holder));
        }
        if state.has(id, TERMINATING | SPEC_KUBERNETES)
            && let Some(content) = state.purging.some_content(world.cluster, id)
        {
            self.add(content);
        }
        self.add_purger(id);
    }

    /// Whether an attempt at the item has failed, or would fail now.
    fn fails(&self, id: ObjectId) -> bool {
        let state = &self.world.state;
        state.failed.contains(id)
            || (state.queue.contains(id) || state.conflicts.contains(id))
                && matches!(self.world.prospect(id), Prospect::Fails)
    }

    /// Adds one blocker of a foreground owner: the release waits for all of them, so one is enough.
    fn add_a_blocker(&mut self, owner: ObjectId) {
        let world = self.world;
        // Members are checked first: they are few, and there may be many dependents.
        let members = self.scratch.listed.iter().copied();
        let mut references = members
            .filter(|id| world.state.live(*id))
            .flat_map(|id| world.cluster.refs_of(id));
        if references
            .any(|index| world.cluster.refs[index].by_uid == owner && world.state.blocks(index))
        {
            return;
        }
        let dependents = world.state.dependents(world.cluster, owner);
        let blockers = dependents.filter(|dependent| world.state.blocks(dependent.reference));
        self.add_one_of(blockers.map(|dependent| dependent.holder));
    }

    /// Adds what a purge of `id` waits for: its namespace or definition if that is not Terminating yet, or a Pod that
    /// the namespace deletes first.
    fn add_purger(&mut self, id: ObjectId) {
        let world = self.world;
        let home = world.cluster.links.home_of(id);
        if let Some(home) = home.filter(|home| world.state.live(*home)) {
            if !world.state.has(home, TERMINATING) {
                self.add(home);
            } else if world.purging(home)
                && !world.cluster.goes_first(id)
                && let Some(pod) = world.state.purging.some_pod(world.cluster, home)
            {
                self.add(pod);
            }
        }
        if let Some(definition) = world.definition_of(id)
            && !world.state.has(definition, TERMINATING)
        {
            self.add(definition);
        }
    }

    /// Whether nothing moves this object before the collector has come to rest.
    fn inert(&self, id: ObjectId) -> bool {
        let state = &self.world.state;
        if state.gone(id) || self.world.is_pending(id) {
            return false;
        }
        let waits = state.has(id, DELETING_DEPENDENTS | FOREGROUND) || state.orphans.contains(id);
        if !state.has(id, TERMINATING) || waits || self.world.cluster.links.is_namespace(id) {
            return false;
        }
        let mut moves = Vec::new();
        self.world.moves_of(id, &mut moves);
        moves.is_empty()
    }
}
