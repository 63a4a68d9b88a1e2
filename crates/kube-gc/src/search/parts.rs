//! Cuts a cluster into parts that cannot influence each other, so that the search for outcomes explores each one alone.
//!
//! Two objects are in one part if one refers to the other, by uid or by coordinates, if one holds
//! or follows the other, or if one is the namespace or the definition of the other and may be
//! deleted in this simulation. They are also in one part if one needs a controller, a webhook or an
//! aggregated API that the other can stop from working.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use typed_index_collections::TiVec;

use crate::callouts::CalloutRole;
use crate::cluster::Cluster;
use crate::flags::TERMINATING;
use crate::ids::{ControllerId, FinalizerId, NONE, Numbers, ObjectId, RefId};
use crate::kinds::KindId;
use crate::links::{ControllerNeeds, Holder, Links, Protected, ProtectionEnd, Reconciled, Role};
use crate::references::{Dependents, Ref, Written};

/// A part of a cluster, as a cluster of its own.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) cluster: Cluster,
    /// The number in the whole cluster of each object of the part, ascending.
    pub(super) objects: Arc<Vec<ObjectId>>,
}

/// A cluster in parts.
#[derive(Debug)]
pub(super) struct Partition<'c> {
    cluster: &'c Cluster,
    /// The objects of each active part, ascending.
    members: Vec<Arc<Vec<ObjectId>>>,
    /// By object of the whole cluster: its part, and its id there.
    places: TiVec<ObjectId, Option<(usize, ObjectId)>>,
    /// The kind that each definition defines.
    kinds: BTreeMap<ObjectId, KindId>,
}

impl<'c> Partition<'c> {
    /// Divides the cluster and keeps the parts with at least one of the `active` objects. `targets` are the objects
    /// that steps name; the objects of each list in `joined` are put into one part.
    pub(super) fn new(
        cluster: &'c Cluster,
        active: &[ObjectId],
        targets: &[ObjectId],
        joined: &[Vec<ObjectId>],
    ) -> Self {
        let mut sets = DisjointSets::new(cluster.ids());
        joined
            .iter()
            .flat_map(|objects| objects.windows(2))
            .for_each(|pair| sets.join(pair[0], pair[1]));
        let targets: BTreeSet<ObjectId> = targets.iter().copied().collect();
        join_all(cluster, &targets, &mut sets);
        join_callouts(cluster, active, &targets, &mut sets);
        let mut members: BTreeMap<ObjectId, Vec<ObjectId>> = active
            .iter()
            .map(|id| (sets.find(*id), Vec::new()))
            .collect();
        for id in cluster.ids() {
            if let Some(members) = members.get_mut(&sets.find(id)) {
                members.push(id);
            }
        }
        let mut places: TiVec<ObjectId, Option<(usize, ObjectId)>> =
            vec![None; cluster.len()].into();
        for (part, objects) in members.values().enumerate() {
            for (local, id) in objects.iter().enumerate() {
                places[*id] = Some((part, local.into()));
            }
        }
        let kinds = cluster
            .links
            .definition_of
            .iter()
            .map(|(kind, id)| (*id, *kind))
            .collect();
        let members = members.into_values().map(Arc::new).collect();
        Partition {
            cluster,
            members,
            places,
            kinds,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns the objects of a part, ascending.
    pub(super) fn objects(&self, part: usize) -> &[ObjectId] {
        &self.members[part]
    }

    /// Builds a part as a cluster of its own.
    pub(super) fn part(&self, part: usize) -> Part {
        let objects = Arc::clone(&self.members[part]);
        let restriction = Restriction {
            partition: self,
            objects: &objects,
            part,
        };
        Part {
            cluster: restriction.cluster(),
            objects,
        }
    }

    /// Returns the part of an object, and its id there; `None` if the part is not active.
    pub(super) fn locate(&self, id: ObjectId) -> Option<(usize, ObjectId)> {
        self.places[id]
    }
}

fn join_all(cluster: &Cluster, targets: &BTreeSet<ObjectId>, sets: &mut DisjointSets) {
    let links = &cluster.links;
    for (reference, written) in cluster.refs.iter().zip(&cluster.written) {
        for other in [reference.by_uid, written.named] {
            if other != NONE {
                sets.join(reference.holder, other);
            }
        }
        // A reference resolves only while its definition exists.
        let definition = written.kind.and_then(|kind| links.definition_of.get(&kind));
        if let Some(definition) = definition.filter(|id| may_go(cluster, targets, **id)) {
            sets.join(reference.holder, *definition);
        }
    }
    for (&id, role) in &links.roles {
        if !may_go(cluster, targets, id) {
            continue;
        }
        match role {
            Role::Namespace { content, pods, .. } => {
                let content = pods.iter().chain(content);
                content.for_each(|other| sets.join(id, *other));
            }
            Role::Definition { instances, .. } => {
                for other in instances {
                    sets.join(id, *other);
                }
            }
            Role::Pod { .. } => {}
        }
    }
    for protection in &links.protections {
        if let ProtectionEnd::WhenUnheld(holders) = &protection.release {
            for holder in holders {
                sets.join(protection.object, holder.object);
            }
        }
    }
    // Needs that cannot be lost make no difference, and would join everything that the controller handles.
    let controllers = links.controllers.iter();
    let needed: BTreeSet<ObjectId> = controllers.flat_map(ControllerNeeds::needs).collect();
    let followers = links.followers.iter().map(|(_, follower)| *follower);
    let followers: BTreeSet<ObjectId> = followers.collect();
    let may_be_lost: BTreeSet<ObjectId> = needed
        .into_iter()
        .filter(|need| followers.contains(need) || !is_fixed(cluster, targets, *need))
        .collect();
    for reconciled in &links.reconciled {
        let needs = links.controllers[reconciled.controller].needs();
        needs
            .filter(|need| may_be_lost.contains(need))
            .for_each(|need| sets.join(reconciled.object, need));
    }
    for &(leader, follower) in &links.followers {
        sets.join(leader, follower);
    }
}

/// Joins the objects of each callout that touches an active part with the active objects that depend on it. Other
/// objects that it is called for do not move; otherwise their part would be active.
fn join_callouts(
    cluster: &Cluster,
    active: &[ObjectId],
    targets: &BTreeSet<ObjectId>,
    sets: &mut DisjointSets,
) {
    let callouts = &cluster.links.callouts;
    let mut left: Vec<_> = callouts.iter().collect();
    loop {
        let roots: BTreeSet<ObjectId> = active.iter().map(|id| sets.find(*id)).collect();
        let known = left.len();
        left.retain(|(number, callout)| {
            if !callout
                .dependencies()
                .any(|part| roots.contains(&sets.find(part)))
            {
                return true;
            }
            let mut all: Vec<ObjectId> = callout.dependencies().collect();
            match callout.role {
                CalloutRole::Webhook { .. } => {
                    let objects = callouts.objects_of(*number).iter();
                    all.extend(objects.filter(|id| roots.contains(&sets.find(**id))));
                }
                CalloutRole::Api { .. } => {
                    let namespaces = cluster.links.namespaces.iter();
                    all.extend(namespaces.filter(|id| may_go(cluster, targets, **id)));
                }
            }
            all.windows(2).for_each(|pair| sets.join(pair[0], pair[1]));
            false
        });
        // The joined parts may contain objects of other callouts.
        if left.len() == known {
            return;
        }
    }
}

/// Whether a namespace or a definition may be deleted in this simulation: by a step, by the collector, or because it is
/// already Terminating.
fn may_go(cluster: &Cluster, targets: &BTreeSet<ObjectId>, id: ObjectId) -> bool {
    targets.contains(&id)
        || !cluster.refs_of(id).is_empty()
        || cluster.nodes[id].flags & TERMINATING != 0
}

/// Whether no step, owner, namespace or definition deletes an object in this simulation; leaders
/// are ignored.
fn is_fixed(cluster: &Cluster, targets: &BTreeSet<ObjectId>, id: ObjectId) -> bool {
    cluster
        .above(id)
        .chain([id])
        .all(|object| !may_go(cluster, targets, object))
}

/// Union-find with path halving.
struct DisjointSets {
    parents: TiVec<ObjectId, ObjectId>,
}

impl DisjointSets {
    fn new(objects: Numbers<ObjectId>) -> Self {
        let parents = objects.collect();
        DisjointSets { parents }
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

/// Builder of a part as a cluster of its own. Takes time linear in the objects of the part.
struct Restriction<'a> {
    partition: &'a Partition<'a>,
    objects: &'a [ObjectId],
    part: usize,
}

impl Restriction<'_> {
    /// Builds the cluster. References to objects outside of the part resolve to [`NONE`].
    fn cluster(&self) -> Cluster {
        let whole = self.partition.cluster;
        let mut part = Cluster::empty(whole.kinds.clone(), whole.text.clone());
        part.behaviour = whole.behaviour;
        for &id in self.objects {
            let holder = part.nodes.push_and_get_key(whole.nodes[id]);
            for index in whole.refs_of(id) {
                let (reference, written) = (whole.refs[index], whole.written[index]);
                part.refs.push(Ref {
                    holder,
                    by_uid: self.local(reference.by_uid).unwrap_or(NONE),
                    ..reference
                });
                part.written.push(Written {
                    named: self.local(written.named).unwrap_or(NONE),
                    ..written
                });
            }
            for slot in whole.finalizers_of(id) {
                let own = part.finalizers.push_and_get_key(whole.finalizers[slot]);
                if whole.absent_finalizers.binary_search(&slot).is_ok() {
                    part.absent_finalizers.push(own);
                }
            }
            part.end_object();
        }
        part.dependents = Dependents::new(part.len(), &part.refs);
        part.links = self.links(&part);
        part
    }

    /// Returns the id of an object in the part. `None` if it is outside, or [`NONE`].
    fn local(&self, id: ObjectId) -> Option<ObjectId> {
        let (part, local) = (*self.partition.places.get(id)?)?;
        (part == self.part).then_some(local)
    }

    fn locals(&self, ids: &[ObjectId]) -> Vec<ObjectId> {
        ids.iter().filter_map(|id| self.local(*id)).collect()
    }

    fn links(&self, part: &Cluster) -> Links {
        let whole = &self.partition.cluster.links;
        let mut links = Links::default();
        let mut controllers = BTreeMap::new();
        for (own, &id) in part.ids().zip(self.objects) {
            if let Some(home) = whole.home_of(id).and_then(|home| self.local(home)) {
                links.set_home(own, home);
            }
            if let Some(role) = whole.roles.get(&id) {
                let role = self.role(part, own, role, &mut links);
                links.roles.insert(own, role);
            }
            if whole.misnamed_owners.contains(&id) {
                links.misnamed_owners.insert(own);
            }
            if let Some(kind) = self.partition.kinds.get(&id) {
                links.definition_of.insert(*kind, own);
            }
            let followers = whole.followers_of(id).iter();
            let followers = followers.filter_map(|(_, follower)| self.local(*follower));
            links
                .followers
                .extend(followers.map(|follower| (own, follower)));
            for reconciled in whole.reconciled_of(id) {
                let controller = *controllers
                    .entry(reconciled.controller)
                    .or_insert_with_key(|controller| self.add_controller(*controller, &mut links));
                links.reconciled.push(Reconciled {
                    object: own,
                    finalizer: self.slot(part, own, reconciled.finalizer),
                    controller,
                });
            }
            for protected in whole.protections_of(id) {
                let release = self.release(
                    &protected.release,
                    self.partition.cluster.refs_of(id),
                    part.refs_of(own),
                );
                links.protections.push(Protected {
                    object: own,
                    finalizer: self.slot(part, own, protected.finalizer),
                    release,
                    ..*protected
                });
            }
        }
        links.list_authority();
        links.callouts = whole
            .callouts
            .within(part, self.objects, |id| self.local(id));
        links
    }

    /// Maps a finalizer of the whole cluster to its id in the part; `own` is its object's id there.
    fn slot(&self, part: &Cluster, own: ObjectId, slot: FinalizerId) -> FinalizerId {
        let slots = self
            .partition
            .cluster
            .finalizers_of(self.objects[usize::from(own)]);
        slots.counterpart(slot, &part.finalizers_of(own))
    }

    fn role(&self, part: &Cluster, own: ObjectId, role: &Role, links: &mut Links) -> Role {
        match role {
            Role::Namespace {
                content,
                pods,
                tokens,
            } => {
                links.namespaces.push(own);
                Role::Namespace {
                    content: self.locals(content),
                    pods: self.locals(pods),
                    tokens: tokens.clone(),
                }
            }
            Role::Definition {
                instances,
                cleanup,
                established,
            } => {
                links.definitions.push(own);
                Role::Definition {
                    instances: self.locals(instances),
                    cleanup: self.slot(part, own, *cleanup),
                    established: *established,
                }
            }
            pod @ Role::Pod { .. } => pod.clone(),
        }
    }

    fn release(
        &self,
        release: &ProtectionEnd,
        references: Numbers<RefId>,
        own: Numbers<RefId>,
    ) -> ProtectionEnd {
        match release {
            ProtectionEnd::WhenUnheld(holders) => {
                let holders = holders.iter().filter_map(|holder| {
                    let object = self.local(holder.object)?;
                    Some(Holder { object, ..*holder })
                });
                ProtectionEnd::WhenUnheld(holders.collect())
            }
            ProtectionEnd::JobTracking { reference } => ProtectionEnd::JobTracking {
                reference: reference.map(|reference| references.counterpart(reference, &own)),
            },
        }
    }

    /// Adds a controller of the whole cluster. Needs outside of the part can never be lost and are left out.
    fn add_controller(&self, controller: ControllerId, links: &mut Links) -> ControllerId {
        let needs = &self.partition.cluster.links.controllers[controller];
        for workload in &needs.workloads {
            if let Some(own) = self.local(*workload) {
                let pods = self.locals(self.partition.cluster.links.pods_of(*workload));
                links.pods_of.insert(own, pods);
            }
        }
        let authority = needs.authority.iter();
        links.controllers.push_and_get_key(ControllerNeeds {
            workloads: self.locals(&needs.workloads),
            authority: authority.map(|needs| self.locals(needs)).collect(),
        })
    }
}
