//! Derives the controllers outside of the control plane: the finalizers they remove, and the objects they need.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Cluster;
use crate::ids::{ControllerId, NONE, ObjectId};
use crate::links::{ControllerNeeds, Links, Reconciled, Role};
use crate::names::ObjectKey;
use crate::object::{Object, Reconciler};

impl Links {
    /// Adds the controllers of `objects`, which are in the order of their ids. Requires `roles`.
    pub(super) fn add_controllers(&mut self, cluster: &Cluster, objects: &[Object]) {
        let mut known: BTreeMap<ControllerNeeds, ControllerId> = BTreeMap::new();
        for (id, object) in cluster.ids().zip(objects) {
            for reconciler in &object.reconcilers {
                let Some(needs) = resolve(cluster, reconciler) else {
                    continue;
                };
                let controller = *known
                    .entry(needs)
                    .or_insert_with_key(|needs| self.controllers.push_and_get_key(needs.clone()));
                let removed = cluster.finalizers_of(id).filter(|slot| {
                    let name = cluster.finalizer(*slot);
                    reconciler.finalizers.iter().any(|removed| removed == name)
                });
                self.reconciled.extend(removed.map(|finalizer| Reconciled {
                    object: id,
                    finalizer,
                    controller,
                }));
            }
        }
        self.list_authority();
        self.find_pods(cluster);
    }

    /// Finds the Pods of each workload: it controls them directly or through a ReplicaSet or a Job.
    fn find_pods(&mut self, cluster: &Cluster) {
        let workloads = self
            .controllers
            .iter()
            .flat_map(|controller| &controller.workloads);
        let mut pods_of: BTreeMap<ObjectId, Vec<ObjectId>> =
            workloads.map(|id| (*id, Vec::new())).collect();
        if pods_of.is_empty() {
            return;
        }
        let pods = self
            .roles
            .iter()
            .filter(|(_, role)| matches!(role, Role::Pod { .. }));
        for pod in pods.map(|(id, _)| *id) {
            let mut owner = pod;
            for _ in 0..LONGEST_CHAIN {
                let Some(above) = controlling_owner(cluster, owner) else {
                    break;
                };
                if let Some(pods) = pods_of.get_mut(&above) {
                    pods.push(pod);
                }
                owner = above;
            }
        }
        self.pods_of = pods_of;
    }

    pub(super) fn list_authority(&mut self) {
        self.authority = self
            .controllers
            .iter()
            .flat_map(|controller| controller.authority.iter().flatten().copied())
            .collect();
        self.authority.sort_unstable();
        self.authority.dedup();
    }
}

/// Number of owners from a Pod to its top-level workload: Job and CronJob, or ReplicaSet and Deployment.
const LONGEST_CHAIN: usize = 2;

/// Returns the owner of the reference with `controller: true`, or of the first reference.
fn controlling_owner(cluster: &Cluster, id: ObjectId) -> Option<ObjectId> {
    let controlling = cluster
        .refs_of(id)
        .find(|index| cluster.written[*index].controller == Some(true));
    let reference = controlling.or_else(|| cluster.refs_of(id).next())?;
    Some(cluster.refs[reference].by_uid).filter(|owner| *owner != NONE)
}

/// Resolves a controller's needs. `None` if it has none, or if the cluster lacks a workload or part of every authority.
fn resolve(cluster: &Cluster, reconciler: &Reconciler) -> Option<ControllerNeeds> {
    let mut authority: Vec<Vec<ObjectId>> = reconciler
        .authority
        .iter()
        .filter_map(|keys| find_all(cluster, keys))
        .collect();
    authority.sort_unstable();
    let known = reconciler.authority.is_empty() || !authority.is_empty();
    let controller = ControllerNeeds {
        workloads: find_all(cluster, &reconciler.workloads)?,
        authority,
    };
    (known && controller != ControllerNeeds::default()).then_some(controller)
}

/// Finds the objects with these keys, sorted; `None` if the cluster lacks one of them.
fn find_all(cluster: &Cluster, keys: &[ObjectKey]) -> Option<Vec<ObjectId>> {
    let found: Option<BTreeSet<ObjectId>> = keys.iter().map(|key| cluster.find(key)).collect();
    found.map(|found| found.into_iter().collect())
}
