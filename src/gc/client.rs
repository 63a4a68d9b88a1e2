//! The client in the search: what it sends from one rest of the cluster to the next, each request as one more move. It may come
//! before or after anything that the collector does.
//!
//! A client that waits until objects are gone looks again after seconds: by then the cluster is at rest.

use std::collections::BTreeMap;

use super::ids::ObjectId;
use super::state::State;
use super::steps::BoundRequest;
use crate::kube::Wait;

/// The requests from one rest to the next.
#[derive(Debug, Clone)]
pub(super) struct Stretch<'s> {
    requests: Vec<BoundRequest<'s>>,
    /// By target: the last request that names it.
    last: BTreeMap<ObjectId, usize>,
    /// What the client waits for at its end: [`Wait::Gone`] or [`Wait::Settled`].
    pub(super) end: Wait,
}

impl<'s> Stretch<'s> {
    pub(super) fn new(end: Wait) -> Self {
        Stretch { requests: Vec::new(), last: BTreeMap::new(), end }
    }

    pub(super) fn push(&mut self, request: BoundRequest<'s>) {
        let targets = request.targets.iter().flatten();
        self.last.extend(targets.map(|target| (*target, self.requests.len())));
        self.requests.push(request);
    }

    /// The request after the first `sent`.
    pub(super) fn next(&self, sent: usize) -> Option<&BoundRequest<'s>> {
        self.requests.get(sent)
    }

    /// Whether a request after the first `sent` names the object.
    pub(super) fn names(&self, id: ObjectId, sent: usize) -> bool {
        self.last.get(&id).is_some_and(|last| *last >= sent)
    }

    /// Whether the client, at the end, waits forever for something that it has deleted. What it deleted before is gone.
    pub(super) fn halts(&self, state: &State) -> bool {
        self.end == Wait::Gone && self.last.keys().any(|id| state.live(*id))
    }
}
