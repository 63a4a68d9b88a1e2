//! Cuts a cluster into parts that cannot influence each other, so that the search for outcomes
//! looks at each alone.
//!
//! Two objects are in one part if one refers to the other, by uid or by coordinates, if one holds
//! or follows the other, or if one is the namespace or the definition of the other and may go in
//! this simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use typed_index_collections::TiVec;

use super::cluster::Cluster;
use super::flags::TERMINATING;
use super::ids::{FinalizerId, NONE, Numbers, ObjectId};
use super::links::{Holder, Links, Protected, Reconciled, Release, Role};
use super::references::{Dependents, Ref, Written};

/// A part of a cluster, as a cluster of its own.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) cluster: Cluster,
    /// The whole cluster's number of each of its objects, ascending.
    pub(super) objects: Arc<Vec<ObjectId>>,
}

impl Part {
    /// The number in this part of an object of the whole cluster.
    pub(super) fn local(&self, id: ObjectId) -> Option<ObjectId> {
        local(&self.objects, id)
    }
}

fn local(objects: &[ObjectId], id: ObjectId) -> Option<ObjectId> {
    objects.binary_search(&id).ok().map(ObjectId::from)
}

/// The parts that hold at least one of the `active` objects. `targets` are the objects that steps name.
pub(super) fn parts(cluster: &Cluster, active: &[ObjectId], targets: &[ObjectId]) -> Vec<Part> {
    let mut sets = DisjointSets::new(cluster.ids());
    join_all(cluster, targets, &mut sets);
    let mut members: BTreeMap<ObjectId, Vec<ObjectId>> = active.iter().map(|id| (sets.find(*id), Vec::new())).collect();
    for id in cluster.ids() {
        if let Some(members) = members.get_mut(&sets.find(id)) {
            members.push(id);
        }
    }
    members
        .into_values()
        .map(|objects| Part { cluster: cluster.restrict(&objects), objects: Arc::new(objects) })
        .collect()
}

fn join_all(cluster: &Cluster, targets: &[ObjectId], sets: &mut DisjointSets) {
    for (reference, written) in cluster.refs.iter().zip(&cluster.written) {
        for other in [reference.by_uid, written.named] {
            if other != NONE {
                sets.join(reference.holder, other);
            }
        }
        // A reference resolves only while its definition exists.
        let definition = written.kind.and_then(|kind| cluster.links.definition_of.get(&kind));
        if let Some(definition) = definition.filter(|id| may_go(cluster, targets, **id)) {
            sets.join(reference.holder, *definition);
        }
    }
    for (&id, role) in &cluster.links.roles {
        if !may_go(cluster, targets, id) {
            continue;
        }
        match role {
            Role::Namespace { content, pods, .. } => pods.iter().chain(content).for_each(|other| sets.join(id, *other)),
            Role::Definition { instances, .. } => instances.iter().for_each(|other| sets.join(id, *other)),
            Role::Pod { .. } => {}
        }
    }
    for protection in &cluster.links.protections {
        if let Release::WhenUnheld(holders) = &protection.release {
            holders.iter().for_each(|holder| sets.join(protection.object, holder.object));
        }
    }
    // A controller that cannot go makes no difference to anybody, and would tie everything it handles together.
    let needed: BTreeSet<ObjectId> = cluster.links.reconciled.iter().flat_map(|it| it.needs.iter().copied()).collect();
    let followers: BTreeSet<ObjectId> = cluster.links.followers.iter().map(|(_, follower)| *follower).collect();
    let fixed = |need: &ObjectId| !followers.contains(need) && is_fixed(cluster, targets, *need);
    let may_be_lost: BTreeSet<ObjectId> = needed.into_iter().filter(|need| !fixed(need)).collect();
    for reconciled in &cluster.links.reconciled {
        let needs = reconciled.needs.iter().filter(|need| may_be_lost.contains(need));
        needs.for_each(|need| sets.join(reconciled.object, *need));
    }
    for &(leader, follower) in &cluster.links.followers {
        sets.join(leader, follower);
    }
}

/// Whether a namespace or a definition may be deleted in this simulation: by a step, by the
/// collector, or because it already is.
fn may_go(cluster: &Cluster, targets: &[ObjectId], id: ObjectId) -> bool {
    targets.contains(&id) || !cluster.refs_of(id).is_empty() || cluster.nodes[id].flags & TERMINATING != 0
}

/// Whether nothing in this simulation can delete an object that follows no other: no step, owner, namespace or definition.
fn is_fixed(cluster: &Cluster, targets: &[ObjectId], id: ObjectId) -> bool {
    let links = &cluster.links;
    let definition = links.definition_of.get(&cluster.nodes[id].kind);
    let above = links.home.get(&id).into_iter().chain(definition);
    above.chain([&id]).all(|object| !may_go(cluster, targets, *object))
}

/// Union-find with path halving.
struct DisjointSets {
    parents: TiVec<ObjectId, ObjectId>,
}

impl DisjointSets {
    fn new(objects: Numbers<ObjectId>) -> Self {
        DisjointSets { parents: objects.collect() }
    }

    fn find(&mut self, mut id: ObjectId) -> ObjectId {
        while self.parents[id] != id {
            let grandparent = self.parents[self.parents[id]];
            self.parents[id] = grandparent;
            id = grandparent;
        }
        id
    }

    fn join(&mut self, a: ObjectId, b: ObjectId) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b)] = a.min(b);
    }
}

impl Cluster {
    /// The cluster of these objects (ascending) alone; references to others lead nowhere.
    fn restrict(&self, objects: &[ObjectId]) -> Cluster {
        let map = |id: ObjectId| if id == NONE { NONE } else { local(objects, id).unwrap_or(NONE) };
        let mut part = Cluster::empty(self.kinds.clone(), self.text.clone());
        let mut slots = BTreeMap::new();
        for &id in objects {
            let holder = part.nodes.push_and_get_key(self.nodes[id]);
            for index in self.refs_of(id) {
                let (reference, written) = (*self.reference(index), *self.written(index));
                part.refs.push(Ref { holder, by_uid: map(reference.by_uid), ..reference });
                part.written.push(Written { named: map(written.named), ..written });
            }
            for slot in self.finalizers_of(id) {
                slots.insert(slot, part.finalizers.push_and_get_key(self.finalizers[slot]));
            }
            part.end_object();
        }
        part.absent_finalizers = self.absent_finalizers.iter().filter_map(|slot| slots.get(slot).copied()).collect();
        part.dependents = Dependents::new(part.len(), &part.refs);
        part.links = self.restrict_links(objects, &slots, &part);
        part
    }

    fn restrict_links(
        &self,
        objects: &[ObjectId],
        slots: &BTreeMap<FinalizerId, FinalizerId>,
        part: &Cluster,
    ) -> Links {
        let map = |id: &ObjectId| local(objects, *id);
        let all = |ids: &[ObjectId]| -> Vec<ObjectId> { ids.iter().filter_map(map).collect() };
        let mut links = Links {
            definition_of: self.links.definition_of.iter().filter_map(|(kind, id)| Some((*kind, map(id)?))).collect(),
            namespaces: all(&self.links.namespaces),
            definitions: all(&self.links.definitions),
            followers: self.links.followers.iter().filter_map(|(a, b)| Some((map(a)?, map(b)?))).collect(),
            ..Links::default()
        };
        for (local, id) in part.ids().zip(objects) {
            if let Some(home) = self.links.home.get(id).and_then(map) {
                links.home.insert(local, home);
            }
            let role = self.links.roles.get(id).map(|role| match role {
                Role::Namespace { content, pods, tokens } => {
                    Role::Namespace { content: all(content), pods: all(pods), tokens: tokens.clone() }
                }
                Role::Definition { instances, cleanup, established } => {
                    Role::Definition { instances: all(instances), cleanup: slots[cleanup], established: *established }
                }
                pod @ Role::Pod { .. } => pod.clone(),
            });
            links.roles.extend(role.map(|role| (local, role)));
            for reconciled in self.links.reconciled_of(*id) {
                // What is not in this part can never go.
                let needs = reconciled.needs.iter().filter_map(map).collect();
                links.reconciled.push(Reconciled { object: local, finalizer: slots[&reconciled.finalizer], needs });
            }
            for protection in self.links.protections_of(*id) {
                let release = match &protection.release {
                    Release::WhenUnheld(holders) => {
                        let inside = holders
                            .iter()
                            .filter_map(|holder| Some(Holder { object: map(&holder.object)?, ..*holder }));
                        Release::WhenUnheld(inside.collect())
                    }
                    Release::JobTracking { reference } => Release::JobTracking {
                        reference: reference.and_then(|wanted| {
                            // Both have the same references, in the same order.
                            let mut both = self.refs_of(*id).zip(part.refs_of(local));
                            both.find_map(|(whole, own)| (whole == wanted).then_some(own))
                        }),
                    },
                };
                links.protections.push(Protected {
                    object: local,
                    finalizer: slots[&protection.finalizer],
                    release,
                    ..*protection
                });
            }
        }
        links
    }
}
