//! The requests of a user to the cluster, step by step.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Cluster;
use crate::ids::ObjectId;
use crate::names::{ObjectKey, Policy, Wait};

/// One step. After the last step, and after every step without a `wait` field, the simulation runs until nothing
/// changes any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// No request: the controllers come to rest.
    Settle,
    /// A batch of DELETE requests: nothing else happens between the first and the last of them.
    Delete {
        /// Objects to delete, in the order of the requests.
        targets: Vec<ObjectKey>,
        /// `None` if the client sends no policy.
        policy: Option<Policy>,
        /// The wait of the client before its next step; other clients continue.
        wait: Wait,
        /// Number of the client that sends them.
        client: usize,
    },
    /// Removes one finalizer (from `metadata.finalizers`) with a patch of each target: nothing else happens between the
    /// first and the last.
    RemoveFinalizer {
        /// Objects to patch, in the order of the requests.
        targets: Vec<ObjectKey>,
        /// Finalizer to remove; removing an absent one succeeds.
        finalizer: String,
        /// The wait of the client before its next step.
        wait: Wait,
    },
    /// Removes all of `metadata.finalizers` with a patch.
    RemoveAllFinalizers {
        /// Object to patch.
        target: ObjectKey,
    },
    /// A DELETE with a grace period of 0 and policy Background, as `kubectl delete --force` sends it.
    ForceDelete {
        /// Object to delete.
        target: ObjectKey,
    },
}

impl Step {
    /// Creates a batch of deletions by one client, after which the cluster comes to rest.
    pub fn delete(targets: Vec<ObjectKey>, policy: Option<Policy>) -> Self {
        Self::Delete {
            targets,
            policy,
            wait: Wait::Settled,
            client: 0,
        }
    }
}

/// A step with its targets resolved; `None` for an object that the cluster does not contain.
#[derive(Debug, Clone)]
pub(super) struct BoundRequest<'s> {
    pub(super) targets: Vec<Option<ObjectId>>,
    pub(super) operation: BoundOperation<'s>,
    /// Number of the client that sends it.
    pub(super) client: usize,
    /// The kind of rest before the next request of any client; `None` if the cluster does not come to rest.
    pub(super) wait: Wait,
    /// The clients that continue after this rest only if everything they deleted is gone.
    pub(super) waiting: Arc<BTreeSet<usize>>,
    /// Whether the client waits until the targets are gone, although the cluster need not come to rest.
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
    /// Resolves the requests of all steps. Everything settles after the last one.
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

    /// Moves each wait for gone objects to just before the client's next request: until then, all others continue.
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
        let (targets, operation, wait, client) = match step {
            Step::Settle => (&[][..], BoundOperation::Settle, Wait::Settled, 0),
            Step::Delete {
                targets,
                policy,
                wait,
                client,
            } => {
                let operation = BoundOperation::Delete {
                    policy: *policy,
                    force: false,
                };
                (&targets[..], operation, *wait, *client)
            }
            Step::RemoveFinalizer {
                targets,
                finalizer,
                wait,
            } => {
                let operation = BoundOperation::RemoveFinalizer(finalizer);
                (&targets[..], operation, *wait, 0)
            }
            Step::RemoveAllFinalizers { target } => {
                let operation = BoundOperation::RemoveAllFinalizers;
                (one(target), operation, Wait::Settled, 0)
            }
            Step::ForceDelete { target } => {
                let operation = BoundOperation::Delete {
                    policy: Some(Policy::Background),
                    force: true,
                };
                (one(target), operation, Wait::Settled, 0)
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

    /// Copies the request for other targets.
    pub(super) fn to(&self, targets: Vec<Option<ObjectId>>) -> BoundRequest<'s> {
        BoundRequest {
            targets,
            waiting: Arc::clone(&self.waiting),
            ..*self
        }
    }
}
