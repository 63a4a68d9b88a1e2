//! The requests of a user to the cluster, step by step.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Cluster;
use crate::ids::ObjectId;
use crate::names::{ObjectKey, Policy, Wait};

/// One step. After the last step, and after every other without a wait of its own, the cluster is left alone until
/// nothing changes any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing is done: the controllers come to rest.
    Settle,
    /// A batch of DELETE requests: nothing else happens between the first and the last of them.
    Delete {
        /// In the order of the requests.
        targets: Vec<ObjectKey>,
        /// `None`: the client sends no policy.
        policy: Option<Policy>,
        /// The wait of the client before it sends its next step; other clients go on.
        wait: Wait,
        /// Which client sends them.
        client: usize,
    },
    /// Removes one finalizer (from `metadata.finalizers`) with a patch of each target: nothing else happens between the first and
    /// the last.
    RemoveFinalizer {
        /// Whose, in the order of the requests.
        targets: Vec<ObjectKey>,
        /// Which; removing one that is not there succeeds.
        finalizer: String,
        /// The wait of the client before it sends its next step.
        wait: Wait,
    },
    /// Removes all of `metadata.finalizers` with a patch.
    RemoveAllFinalizers {
        /// Whose.
        target: ObjectKey,
    },
    /// A DELETE with a grace period of 0 and policy Background, as `kubectl delete --force` sends it.
    ForceDelete {
        /// Which object.
        target: ObjectKey,
    },
}

impl Step {
    /// The requests of one client, after which the cluster comes to rest.
    pub fn delete(targets: Vec<ObjectKey>, policy: Option<Policy>) -> Self {
        Self::Delete {
            targets,
            policy,
            wait: Wait::Settled,
            client: 0,
        }
    }
}

/// A step whose targets are looked up.
#[derive(Debug, Clone)]
pub(super) struct BoundRequest<'s> {
    pub(super) targets: Vec<Option<ObjectId>>,
    pub(super) operation: BoundOperation<'s>,
    /// Which client sends it.
    pub(super) client: usize,
    /// Whether the cluster comes to rest before the next request of any client.
    pub(super) wait: Wait,
    /// The clients that go on after this rest only if what they have deleted is gone.
    pub(super) waiting: Arc<BTreeSet<usize>>,
    /// Whether the client sends nothing more before the targets are gone, although the cluster need not come to rest.
    pub(super) is_awaited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoundOperation<'s> {
    Settle,
    Delete { policy: Option<Policy>, force: bool },
    RemoveFinalizer(&'s str),
    RemoveAllFinalizers,
}

impl<'s> BoundRequest<'s> {
    /// The requests of all steps. When the last one is sent, everything settles.
    pub(super) fn of_steps(cluster: &Cluster, steps: &'s [Step]) -> Vec<BoundRequest<'s>> {
        let mut requests: Vec<Self> = steps
            .iter()
            .map(|step| BoundRequest::new(cluster, step))
            .collect();
        if let Some(last) = requests.last_mut() {
            last.wait = Wait::Settled;
        }
        Self::find_rests(&mut requests);
        requests
    }

    /// A client that waits until objects are gone looks before its next request. Until then all others go on.
    fn find_rests(requests: &mut [Self]) {
        let mut waiting = BTreeSet::new();
        for at in 0..requests.len() {
            let next = requests.get(at + 1).map(|next| next.client);
            let request = &mut requests[at];
            if request.wait == Wait::Gone {
                waiting.insert(request.client);
                request.wait = Wait::None;
            }
            if request.wait == Wait::None && next.is_some_and(|next| waiting.contains(&next)) {
                request.wait = Wait::Gone;
                request.waiting = Arc::new(std::mem::take(&mut waiting));
            }
            if request.wait == Wait::Settled {
                waiting.clear();
            }
        }
    }

    fn new(cluster: &Cluster, step: &'s Step) -> BoundRequest<'s> {
        let one = std::slice::from_ref;
        let client = if let Step::Delete { client, .. } = step {
            *client
        } else {
            0
        };
        let (targets, operation, wait) = match step {
            Step::Settle => (&[][..], BoundOperation::Settle, Wait::Settled),
            Step::Delete {
                targets,
                policy,
                wait,
                ..
            } => (
                &targets[..],
                BoundOperation::Delete {
                    policy: *policy,
                    force: false,
                },
                *wait,
            ),
            Step::RemoveFinalizer {
                targets,
                finalizer,
                wait,
            } => (
                &targets[..],
                BoundOperation::RemoveFinalizer(finalizer),
                *wait,
            ),
            Step::RemoveAllFinalizers { target } => (
                one(target),
                BoundOperation::RemoveAllFinalizers,
                Wait::Settled,
            ),
            Step::ForceDelete { target } => {
                let operation = BoundOperation::Delete {
                    policy: Some(Policy::Background),
                    force: true,
                };
                (one(target), operation, Wait::Settled)
            }
        };
        let targets = targets.iter().map(|key| cluster.find(key)).collect();
        let is_awaited = wait == Wait::Named;
        let wait = if is_awaited { Wait::None } else { wait };
        BoundRequest {
            targets,
            operation,
            client,
            wait,
            waiting: Arc::default(),
            is_awaited,
        }
    }

    /// Copies the request for other objects.
    pub(super) fn to(&self, targets: Vec<Option<ObjectId>>) -> BoundRequest<'s> {
        let Self {
            operation,
            client,
            wait,
            ref waiting,
            is_awaited,
            ..
        } = *self;
        BoundRequest {
            targets,
            operation,
            client,
            wait,
            waiting: Arc::clone(waiting),
            is_awaited,
        }
    }
}
