//! Clients in the search. A *stretch* is the time between two moments at which the cluster is at rest. Within it each
//! request is a move, which may come before or after anything that the collector or another client does.
//!
//! A tool that waits until objects are gone polls every few seconds: when it looks again, the cluster is at rest.
//! `kubectl` watches the objects that it named and returns as soon as they are gone: its next request is then a move.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use crate::ids::ObjectId;
use crate::names::Wait;
use crate::state::State;
use crate::steps::BoundRequest;

/// The requests of one stretch.
#[derive(Debug, Clone)]
pub(super) struct Stretch<'s> {
    /// The clients that send anything, each with its requests in order.
    clients: Vec<(usize, Vec<BoundRequest<'s>>)>,
    /// Index in `clients`, by client.
    places: HashMap<usize, usize>,
    /// By target and index of the client: the index of its last request that names the target.
    last: BTreeMap<(ObjectId, usize), usize>,
    /// Clients that continue after the stretch only if everything they deleted is gone.
    waiting: &'s BTreeSet<usize>,
}

/// The requests that clients send to a part of the cluster, by stretch. Stretches without requests are omitted.
#[derive(Debug, Default)]
pub(super) struct Sent<'s>(Vec<(usize, Stretch<'s>)>);

impl<'s> Sent<'s> {
    /// Adds a request to `stretch`, the last one or a later one, which ends with request `last`.
    pub(super) fn push(
        &mut self,
        stretch: usize,
        last: &'s BoundRequest<'s>,
        request: BoundRequest<'s>,
    ) {
        if self.0.last().is_none_or(|(number, _)| *number < stretch) {
            self.0.push((stretch, Stretch::until(last)));
        }
        if let Some((_, stretch)) = self.0.last_mut() {
            stretch.push(request);
        }
    }

    /// Returns the requests of a stretch; `None` if there are none.
    pub(super) fn at(&self, stretch: usize) -> Option<&Stretch<'s>> {
        self.0
            .binary_search_by_key(&stretch, |(number, _)| *number)
            .ok()
            .map(|place| &self.0[place].1)
    }

    /// Returns the first stretch with requests, from `stretch` on.
    pub(super) fn next_from(&self, stretch: usize) -> Option<usize> {
        let place = self.0.partition_point(|(number, _)| *number < stretch);
        self.0.get(place).map(|(number, _)| *number)
    }
}

/// The moments at which the cluster is at rest, each of which ends a stretch.
#[derive(Debug)]
pub(super) struct RestPoints<'s> {
    /// The requests after which the cluster comes to rest, with their indices among all requests.
    ends: Vec<(usize, &'s BoundRequest<'s>)>,
    /// By stretch: the next one before which the rest is of the other kind (settled or not).
    next_different: Vec<usize>,
}

impl<'s> RestPoints<'s> {
    pub(super) fn of(requests: &'s [BoundRequest<'s>]) -> Self {
        let ends: Vec<_> = requests
            .iter()
            .enumerate()
            .filter(|(_, request)| request.wait != Wait::None)
            .collect();
        let mut rests = Self {
            next_different: vec![ends.len(); ends.len()],
            ends,
        };
        for number in (0..rests.len().saturating_sub(1)).rev() {
            let is_alike = rests.settles_before(number) == rests.settles_before(number + 1);
            rests.next_different[number] = if is_alike {
                rests.next_different[number + 1]
            } else {
                number + 1
            };
        }
        rests
    }

    /// Returns the number of rests, which is also the number of stretches.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Iterates over the requests that end a stretch, with their indices among all requests.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &'s BoundRequest<'s>)> + '_ {
        self.ends.iter().copied()
    }

    /// Whether everything has settled before a stretch, as it has before the first one.
    pub(super) fn settles_before(&self, stretch: usize) -> bool {
        stretch == 0 || self.ends[stretch - 1].1.wait == Wait::Settled
    }

    /// Returns the next stretch before which the rest is of the other kind (settled or not).
    pub(super) fn next_different(&self, stretch: usize) -> usize {
        self.next_different[stretch]
    }
}

impl<'s> Stretch<'s> {
    /// Creates an empty stretch that ends with the request `last`.
    fn until(last: &'s BoundRequest<'s>) -> Self {
        Stretch {
            clients: Vec::new(),
            places: HashMap::default(),
            last: BTreeMap::new(),
            waiting: &last.waiting,
        }
    }

    fn push(&mut self, request: BoundRequest<'s>) {
        let place = *self.places.entry(request.client).or_insert_with(|| {
            self.clients.push((request.client, Vec::new()));
            self.clients.len() - 1
        });
        let requests = &mut self.clients[place].1;
        self.last.extend(
            request
                .targets
                .iter()
                .flatten()
                .map(|target| ((*target, place), requests.len())),
        );
        requests.push(request);
    }

    /// Returns the number of clients with requests.
    pub(super) fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Returns the next request of the client at index `place`; `None` if it has halted or sent all.
    pub(super) fn next(&self, place: usize, state: &State) -> Option<&BoundRequest<'s>> {
        let (_, requests) = self
            .clients
            .get(place)
            .filter(|(client, _)| !state.halted.contains(client))?;
        requests.get(*state.sent.get(place)?)
    }

    /// Returns the objects that a client waits for before its next request: the remaining targets of its last request,
    /// if that is awaited. Targets of earlier awaited requests are gone.
    pub(super) fn awaited<'a>(
        &'a self,
        place: usize,
        state: &'a State,
    ) -> impl Iterator<Item = ObjectId> + 'a {
        let sent = state.sent.get(place).and_then(|sent| sent.checked_sub(1));
        let last = sent
            .and_then(|last| self.clients.get(place)?.1.get(last))
            .filter(|last| last.is_awaited);
        last.into_iter()
            .flat_map(|last| last.targets.iter().flatten().copied())
            .filter(|id| state.live(*id))
    }

    /// Returns the indexes of the clients with an unsent request that names the object.
    pub(super) fn naming<'a>(
        &'a self,
        id: ObjectId,
        state: &'a State,
    ) -> impl Iterator<Item = usize> + 'a {
        let last = self.last.range((id, 0)..=(id, usize::MAX));
        last.filter(move |((_, place), last)| {
            state.sent.get(*place).is_some_and(|sent| *last >= sent)
        })
        .map(|((_, place), _)| *place)
    }

    /// Returns the clients that, at rest, wait forever for an object that they deleted. Every
    /// client with an unsent request is one: nothing else delays it.
    pub(super) fn halts<'a>(&'a self, state: &'a State) -> impl Iterator<Item = usize> + 'a {
        let clients = self.clients.iter().enumerate();
        let halting = clients.filter(move |(place, (client, requests))| {
            let mut targets = requests.iter().flat_map(|request| &request.targets);
            self.next(*place, state).is_some()
                || self.waiting.contains(client)
                    && targets.any(|target| target.is_some_and(|id| state.live(id)))
        });
        halting.map(|(_, (client, _))| *client)
    }
}
