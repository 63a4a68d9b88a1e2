//! Controllers other than the garbage collector.
//!
//! A namespace purge and a definition's purge are lists of single deletes, so that the exhaustive
//! search can interleave them with the collector. Everything else (the kubelet, protection
//! finalizers, objects that follow another, the end of a definition) happens in one batch when the
//! collector has come to rest `[SIM-7]`.

use crate::cause::{Cause, Protection};
use crate::flags::{GRACEFUL, SPEC_KUBERNETES, TERMINATING};
use crate::ids::{NONE, ObjectId};
use crate::links::{Protected, ProtectionEnd, Role};
use crate::names::Policy;
use crate::object::Verb;
use crate::trace::Effect;
use crate::world::Simulation;

/// A possible next request of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Purge {
    /// Delete an object of a Terminating namespace, or an instance of a Terminating definition.
    Delete { object: ObjectId, of: ObjectId },
    /// Remove `kubernetes` from the `spec.finalizers` of an empty namespace.
    Finalize(ObjectId),
}

impl Simulation<'_> {
    /// Returns all requests that namespace and definition purges would send now.
    pub(super) fn purges(&self) -> Vec<Purge> {
        let mut purges = Vec::new();
        for &namespace in &self.cluster.links.namespaces {
            self.namespace_purges(namespace, &mut purges);
        }
        for &definition in &self.cluster.links.definitions {
            // Most definitions are not Terminating, and flags are cheaper to read than roles.
            if !self.state.has(definition, TERMINATING) || !self.state.live(definition) {
                continue;
            }
            let Some(Role::Definition {
                instances,
                established: true,
                ..
            }) = self.cluster.links.roles.get(&definition)
            else {
                continue;
            };
            // Each attempt begins with an update of the definition's status [CRD-3].
            if !self.view().rejects(definition, Verb::UpdateStatus) {
                let left = instances
                    .iter()
                    .filter(|id| self.delete_would_change(**id, None));
                purges.extend(left.map(|&object| Purge::Delete {
                    object,
                    of: definition,
                }));
            }
        }
        purges
    }

    fn namespace_purges(&self, namespace: ObjectId, purges: &mut Vec<Purge>) {
        if !self.purging(namespace) {
            return;
        }
        let Some((pods, content)) = self.cluster.links.content_of(namespace) else {
            return;
        };
        for batch in self.view().purge_batch(pods, content) {
            let left = self
                .view()
                .purged(batch)
                .filter(|id| self.delete_would_change(*id, Some(Policy::Background)));
            purges.extend(left.map(|object| Purge::Delete {
                object,
                of: namespace,
            }));
        }
        if self.may_finalize(namespace) {
            purges.push(Purge::Finalize(namespace));
        }
    }

    pub(super) fn purge(&mut self, purge: Purge) {
        match purge {
            Purge::Delete { object, of } if self.cluster.links.is_namespace(of) => {
                // [NS-9]
                self.delete(
                    object,
                    Some(Policy::Background),
                    false,
                    Cause::NamespaceDeleted.via(of),
                );
            }
            // [CRD-3]: without options, its collector finalizers apply; no webhook is called.
            Purge::Delete { object, of } => {
                self.delete_admitted(object, None, false, Cause::DefinitionDeleted.via(of));
            }
            Purge::Finalize(namespace) => {
                self.update(namespace, |state| {
                    state.flags[namespace] &= !SPEC_KUBERNETES;
                });
                self.state.purging.emptied.remove(namespace);
                self.note(namespace, Effect::Released, Cause::NamespaceEmpty.into());
                self.remove_if_finished(namespace, Cause::NamespaceEmpty.into());
            }
        }
    }

    /// Runs one pass of all purges by namespaces and definitions; returns whether it sent requests.
    pub(super) fn purge_pass(&mut self) -> bool {
        self.note_ends_of_purges();
        let purges = self.purges();
        for purge in &purges {
            self.purge(*purge);
        }
        !purges.is_empty()
    }

    /// Ends grace periods `[DEL-15]` if there are kubelets, then runs one batch of all other controllers `[SIM-7]`;
    /// returns whether anything changed.
    pub(super) fn controllers_pass(&mut self, kubelet: bool) -> bool {
        let before = self.state.writes;
        if kubelet {
            self.finish_pods();
        }
        for index in 0..self.cluster.links.protections.len() {
            self.release_protection(&self.cluster.links.protections[index]);
        }
        for &definition in &self.cluster.links.definitions {
            self.finish_definition(definition);
        }
        for &(leader, follower) in &self.cluster.links.followers {
            if self.state.gone(leader) && self.delete_would_change(follower, None) {
                self.delete(follower, None, false, Cause::LeaderGone.via(leader));
            }
        }
        self.state.writes != before
    }

    /// Ends grace periods: DELETE with grace 0 and no policy, so a Pod's collector finalizers take effect `[DEL-15]`.
    fn finish_pods(&mut self) {
        for id in self.cluster.links.roles.keys().copied() {
            if self.state.live(id) && self.state.has(id, TERMINATING | GRACEFUL) {
                self.delete(id, None, true, Cause::PodStopped.into());
            }
        }
    }

    fn release_protection(&mut self, protected: &Protected) {
        let id = protected.object;
        if self.state.gone(id) || !self.state.finalizers[protected.finalizer] {
            return;
        }
        let free = match &protected.release {
            ProtectionEnd::WhenUnheld(holders) => {
                self.state.has(id, TERMINATING)
                    && !holders
                        .iter()
                        .any(|holder| self.view().still_holds(*holder))
            }
            ProtectionEnd::JobTracking { reference } => {
                let controlled = reference.is_some_and(|index| {
                    let job = self.cluster.refs[index].by_uid;
                    self.state.present(index) && job != NONE && self.state.live(job)
                });
                self.state.has(id, TERMINATING) || !controlled
            }
        };
        if free {
            let reason = Cause::Unused(protected.protection).into();
            // The cloud controller patches the status of a Service.
            let verb = match protected.protection {
                Protection::LoadBalancer => Verb::UpdateStatus,
                _ => Verb::Update,
            };
            self.remove_finalizers_by(verb, id, &[protected.finalizer], 0, reason);
        }
    }

    /// Removes the clean-up finalizer if no instance is left, or the definition was never established `[CRD-4]`.
    fn finish_definition(&mut self, id: ObjectId) {
        let Some(Role::Definition {
            instances,
            cleanup,
            established,
        }) = self.cluster.links.roles.get(&id)
        else {
            return;
        };
        let empty = !established || instances.iter().all(|instance| self.state.gone(*instance));
        if self.state.live(id) && self.state.has(id, TERMINATING) && empty {
            self.remove_finalizers_by(
                Verb::UpdateStatus,
                id,
                &[*cleanup],
                0,
                Cause::InstancesGone.into(),
            );
        }
    }
}
