//! Derives the ties between objects other than owner references from the facts of the objects.

use std::collections::BTreeMap;

use crate::cause::Protection;
use crate::cluster::Cluster;
use crate::ids::{NONE, ObjectId};
use crate::links::{Holder, Links, Protected, ProtectionEnd, Role};
use crate::names::{GroupKind, Namespace, ObjectKey, finalizers, kinds};
use crate::object::{Facts, Object, PodFacts};
use crate::references::Lookup;
use crate::symbols::Symbol;

impl Links {
    /// Derives all ties between `objects`, which are in the order of their ids.
    pub(super) fn derive(cluster: &Cluster, objects: &[Object]) -> Links {
        let mut links = Links::default();
        for (id, object) in cluster.ids().zip(objects) {
            links.add_role(cluster, id, object);
        }
        links.fill_namespaces(cluster);
        for id in cluster.ids() {
            if let Some(definition) = links.definition_of.get(&cluster.nodes[id].kind).copied()
                && let Some(Role::Definition { instances, .. }) = links.roles.get_mut(&definition)
            {
                instances.push(id);
            }
        }
        let holders = holders(cluster, objects);
        for (id, object) in cluster.ids().zip(objects) {
            links.add_protections(cluster, id, objects, &holders);
            links.add_follower(cluster, id, object);
        }
        links.followers.sort_unstable();
        links.add_controllers(cluster, objects);
        links.find_misleading(cluster);
        links.add_callouts(cluster, objects);
        links
    }

    fn find_misleading(&mut self, cluster: &Cluster) {
        if cluster.behaviour.absence_by_uid {
            let elsewhere = cluster
                .refs
                .iter()
                .filter(|reference| reference.lookup == Lookup::Elsewhere);
            self.misnamed_owners = elsewhere
                .map(|reference| reference.by_uid)
                .filter(|owner| *owner != NONE)
                .collect();
        }
    }

    fn add_role(&mut self, cluster: &Cluster, id: ObjectId, object: &Object) {
        let role = match (&object.facts, cluster.kind_of(id).group_kind()) {
            (Facts::Pod(pod), _) => pod_role(pod),
            (_, kinds::POD) => pod_role(&PodFacts::default()),
            (Facts::Namespace(facts), _) => {
                let mut tokens = facts.spec_finalizers.clone();
                tokens.retain(|token| token != finalizers::KUBERNETES);
                self.namespaces.push(id);
                Role::Namespace {
                    content: Vec::new(),
                    pods: Vec::new(),
                    tokens,
                }
            }
            (Facts::Definition(crd), _) => {
                let Some(cleanup) = cluster
                    .finalizers_of(id)
                    .find(|slot| cluster.finalizer(*slot) == finalizers::CUSTOM_RESOURCE_CLEANUP)
                else {
                    return;
                };
                let kind = cluster.kinds.find(GroupKind::new(&crd.group, &crd.kind));
                let kind = kind.filter(|kind| cluster.kinds.get(*kind).custom);
                if let Some(kind) = kind {
                    self.definition_of.insert(kind, id);
                }
                self.definitions.push(id);
                Role::Definition {
                    instances: Vec::new(),
                    cleanup,
                    established: crd.established,
                }
            }
            _ => return,
        };
        self.roles.insert(id, role);
    }

    /// Adds each namespaced object that a purge deletes to its Namespace object, if there is one.
    fn fill_namespaces(&mut self, cluster: &Cluster) {
        let names: BTreeMap<Symbol, ObjectId> = self
            .namespaces
            .iter()
            .map(|id| (cluster.nodes[*id].name, *id))
            .collect();
        for id in cluster.ids() {
            let node = &cluster.nodes[id];
            if node.namespace == Symbol::EMPTY || !cluster.kind_of(id).namespace_deletable {
                continue;
            }
            let Some(&namespace) = names.get(&node.namespace) else {
                continue;
            };
            self.set_home(id, namespace);
            let first = cluster.behaviour.pods_first
                && matches!(self.roles.get(&id), Some(Role::Pod { .. }));
            if let Some(Role::Namespace { content, pods, .. }) = self.roles.get_mut(&namespace) {
                if first {
                    pods.push(id);
                } else {
                    content.push(id);
                }
            }
        }
    }

    fn add_protections(
        &mut self,
        cluster: &Cluster,
        id: ObjectId,
        objects: &[Object],
        holders: &BTreeMap<ObjectId, Vec<Holder>>,
    ) {
        let kind = cluster.kind_of(id).group_kind();
        for finalizer in cluster.finalizers_of(id) {
            let protection = match (kind, cluster.finalizer(finalizer)) {
                (kinds::PERSISTENT_VOLUME_CLAIM, finalizers::PVC_PROTECTION) => Protection::Claim,
                (kinds::PERSISTENT_VOLUME, finalizers::PV_PROTECTION) => Protection::Volume,
                (kinds::VOLUME_ATTRIBUTES_CLASS, finalizers::VAC_PROTECTION) => {
                    Protection::VolumeAttributesClass
                }
                // The cloud controller that added it removes it.
                (kinds::SERVICE, finalizers::LOAD_BALANCER_CLEANUP) => Protection::LoadBalancer,
                (kinds::RESOURCE_CLAIM, finalizers::RESOURCE_CLAIM_PROTECTION) => {
                    Protection::ResourceClaim
                }
                (kinds::POD, finalizers::JOB_TRACKING) => Protection::JobTracking,
                _ => continue,
            };
            let release = if protection == Protection::JobTracking {
                job_tracking(cluster, id, objects)
            } else {
                let holders = holders.get(&id).cloned().unwrap_or_default();
                Some(ProtectionEnd::WhenUnheld(holders))
            };
            let Some(release) = release else { continue };
            self.protections.push(Protected {
                object: id,
                finalizer,
                release,
                protection,
            });
        }
    }

    fn add_follower(&mut self, cluster: &Cluster, id: ObjectId, object: &Object) {
        let namespace = object.key.namespace.clone();
        let leader = match (&object.facts, cluster.kind_of(id).group_kind()) {
            (Facts::TokenSecret { service_account }, _) => {
                ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, service_account)
            }
            (Facts::Address { namespace, service }, _) => {
                ObjectKey::new(kinds::SERVICE, Namespace::Named(namespace.into()), service)
            }
            (_, kinds::ENDPOINTS) => {
                ObjectKey::new(kinds::SERVICE, namespace, object.key.name.clone())
            }
            _ => return,
        };
        if let Some(leader) = cluster.find(&leader) {
            self.followers.push((leader, id));
        }
    }
}

fn pod_role(pod: &PodFacts) -> Role {
    let graceful = pod.scheduled && !pod.finished && pod.grace_seconds > 0;
    Role::Pod { graceful }
}

/// Returns when the finalizer is removed; `None` if never: the Pod's controller is not a Job of the model.
fn job_tracking(cluster: &Cluster, pod: ObjectId, objects: &[Object]) -> Option<ProtectionEnd> {
    let reference = cluster
        .refs_of(pod)
        .find(|index| cluster.written[*index].controller == Some(true));
    if let Some(index) = reference {
        if cluster.text.get(cluster.written[index].kind_name) != kinds::JOB.kind {
            return None;
        }
        let job = objects.get(usize::from(cluster.refs[index].by_uid));
        if job.is_some_and(|job| job.facts == Facts::ExternallyManagedJob) {
            return None;
        }
    }
    Some(ProtectionEnd::JobTracking { reference })
}

/// Returns the holders of each protected object.
fn holders(cluster: &Cluster, objects: &[Object]) -> BTreeMap<ObjectId, Vec<Holder>> {
    let mut holders: BTreeMap<ObjectId, Vec<Holder>> = BTreeMap::new();
    for (id, object) in cluster.ids().zip(objects) {
        // The volume is Bound, and so in use, while its claim exists.
        if let Facts::Volume(volume) = &object.facts
            && let Some(claim) = &volume.bound_to
            && let Some(object) = cluster.find(claim)
        {
            holders.entry(id).or_default().push(Holder {
                object,
                until_finished: false,
            });
        }
        for (kind, name, until_finished) in held_by(object) {
            let namespace = if kind == kinds::VOLUME_ATTRIBUTES_CLASS {
                Namespace::None
            } else {
                object.key.namespace.clone()
            };
            if let Some(held) = cluster.find(&ObjectKey::new(kind, namespace, name.as_str())) {
                holders.entry(held).or_default().push(Holder {
                    object: id,
                    until_finished,
                });
            }
        }
    }
    holders
}

/// Returns the kind and name of each object that `object` holds, and whether the hold ends once `object` has finished.
fn held_by(object: &Object) -> Vec<(GroupKind<&'static str>, &String, bool)> {
    let mut held = Vec::new();
    let classes = match &object.facts {
        Facts::Volume(volume) => volume.attributes_class.as_slice(),
        Facts::Claim { attributes_classes } => attributes_classes,
        _ => &[],
    };
    let classes = classes.iter();
    held.extend(classes.map(|name| (kinds::VOLUME_ATTRIBUTES_CLASS, name, false)));
    if let Facts::Pod(pod) = &object.facts {
        let resource_claims = pod.resource_claims.iter();
        held.extend(resource_claims.map(|name| (kinds::RESOURCE_CLAIM, name, false)));
        // [FIN-14]: an unscheduled Pod never holds a claim; a finished one does.
        if pod.scheduled {
            let claim = kinds::PERSISTENT_VOLUME_CLAIM;
            held.extend(pod.claims.iter().map(|name| (claim, name, false)));
            held.extend(pod.ephemeral_claims.iter().map(|name| (claim, name, true)));
        }
    }
    held
}
