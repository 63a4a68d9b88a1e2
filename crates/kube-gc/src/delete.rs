//! The API server's handling of a DELETE, and of an update that removes finalizers (`[NS-1]`,
//! `[CRD-1]`).

use crate::flags::{FOREGROUND, GRACEFUL, ORPHAN, TERMINATING};
use crate::ids::{FinalizerId, ObjectId};
use crate::kinds::DefaultPolicy;
use crate::links::Role;
use crate::names::Policy;
use crate::object::Verb;
use crate::trace::{Effect, Reason};
use crate::webhooks::WEBHOOK_FAILED;
use crate::world::Simulation;

/// Namespaces whose deletion the API server rejects `[NS-4]`.
pub const IMMORTAL_NAMESPACES: [&str; 3] = ["default", "kube-public", "kube-system"];

impl Simulation<'_> {
    /// Handles a DELETE of an object that exists. `force` asks for a grace period of 0. Returns the HTTP code.
    pub(super) fn delete(
        &mut self,
        id: ObjectId,
        policy: Option<Policy>,
        force: bool,
        reason: Reason,
    ) -> u16 {
        if self.is_immortal(id) {
            return 403;
        }
        if self.validates_delete(id, force) && !self.admits(id, Verb::Delete) {
            return WEBHOOK_FAILED;
        }
        self.delete_admitted(id, policy, force, reason);
        200
    }

    /// Deletes an object after admission, or without admission `[CRD-3]`.
    pub(super) fn delete_admitted(
        &mut self,
        id: ObjectId,
        policy: Option<Policy>,
        force: bool,
        reason: Reason,
    ) {
        if !self.state.has(id, TERMINATING) {
            self.state.timeline.mark(self.cluster, id);
        }
        match self.cluster.links.roles.get(&id) {
            Some(Role::Namespace { .. }) => self.delete_namespace(id, policy, reason),
            Some(Role::Definition { cleanup, .. }) if !self.state.has(id, TERMINATING) => {
                // [CRD-1]: the policy of the first request is ignored.
                let slot = *cleanup;
                self.update(id, |state| {
                    state.flags[id] |= TERMINATING;
                    state.finalizers[slot] = true;
                });
                self.note(id, Effect::Deleted, reason);
            }
            Some(Role::Pod { graceful }) => {
                self.delete_pod(id, policy, *graceful && !force, reason);
            }
            _ => self.delete_plain(id, policy, reason),
        }
    }

    /// Whether the API server rejects the deletion before it calls webhooks `[NS-4]`.
    fn is_immortal(&self, id: ObjectId) -> bool {
        self.cluster.links.is_namespace(id)
            && IMMORTAL_NAMESPACES.contains(&self.cluster.text.get(self.cluster.nodes[id].name))
    }

    fn delete_namespace(&mut self, id: ObjectId, policy: Option<Policy>, reason: Reason) {
        if !self.state.has(id, TERMINATING) {
            // [NS-1]: the request itself never removes the namespace, and the kind's default policy does not count.
            let gc = policy.map(gc_finalizer);
            self.update(id, |state| {
                let flags = &mut state.flags[id];
                *flags |= TERMINATING;
                if let Some(gc) = gc {
                    *flags = *flags & !(ORPHAN | FOREGROUND) | gc;
                }
            });
            self.note(id, Effect::Deleted, reason);
        } else if !self.has_spec_finalizers(id) {
            self.delete_plain(id, policy, reason);
        }
    }

    /// Deletes a Pod. While the grace period runs, only a DELETE with a grace period of 0 changes anything [DEL-13],
    /// [DEL-14].
    fn delete_pod(&mut self, id: ObjectId, policy: Option<Policy>, grace: bool, reason: Reason) {
        let running_out = self.state.has(id, TERMINATING | GRACEFUL);
        if running_out && grace {
            return;
        }
        let first = !self.state.has(id, TERMINATING);
        if first && grace {
            self.update(id, |state| state.flags[id] |= GRACEFUL);
        } else if running_out {
            self.update(id, |state| state.flags[id] &= !GRACEFUL);
        }
        self.delete_plain(id, policy, reason);
    }

    /// Sets or clears the collector's finalizer, then marks the object Terminating or removes it
    /// [DEL-5], [DEL-7], [DEL-9].
    fn delete_plain(&mut self, id: ObjectId, policy: Option<Policy>, reason: Reason) {
        let gc = self.choose_gc_finalizer(id, policy);
        let before = self.state.flags[id];
        let after = before & !(ORPHAN | FOREGROUND) | gc | TERMINATING;
        if after != before {
            // An object that is removed by the same request is never seen Terminating.
            let goes = gc == 0
                && after & GRACEFUL == 0
                && self.state.without_foreign_finalizers(self.cluster, id);
            if goes && !self.has_spec_finalizers(id) {
                self.state.flags[id] = after;
            } else {
                self.update(id, |state| state.flags[id] = after);
                if before & TERMINATING == 0 {
                    self.note(id, Effect::Deleted, reason);
                }
            }
        }
        self.remove_if_finished(id, reason);
    }

    /// Chooses the collector's finalizer by `policy`, the current finalizer and the kind's default.
    fn choose_gc_finalizer(&self, id: ObjectId, policy: Option<Policy>) -> u16 {
        if policy == Some(Policy::Background) {
            return 0;
        }
        let default = self.cluster.kind_of(id).default_policy;
        match policy {
            _ if default == DefaultPolicy::Unsupported => 0,
            Some(policy) => gc_finalizer(policy),
            None if self.state.has(id, ORPHAN) => ORPHAN,
            None if self.state.has(id, FOREGROUND) => FOREGROUND,
            None if default == DefaultPolicy::OrphanDependents => ORPHAN,
            None => 0,
        }
    }

    /// Whether a DELETE that sets no grace period would change the object. If not, controllers do not send it.
    pub(super) fn delete_would_change(&self, id: ObjectId, policy: Option<Policy>) -> bool {
        if self.state.gone(id) {
            return false;
        }
        if !self.state.has(id, TERMINATING) {
            return true;
        }
        let gc = self.state.flags[id] & (ORPHAN | FOREGROUND);
        !self.state.has(id, GRACEFUL) && gc != self.choose_gc_finalizer(id, policy)
    }

    /// Patches an object to remove the finalizers in `slots`, and those of the collector in `gc` `[DEL-10]`,
    /// `[DEL-11]`. Returns `false` if a webhook rejects the patch.
    pub(super) fn remove_finalizers(
        &mut self,
        id: ObjectId,
        slots: &[FinalizerId],
        gc: u16,
        reason: Reason,
    ) -> bool {
        self.remove_finalizers_by(Verb::Update, id, slots, gc, reason)
    }

    /// Removes finalizers by a request that webhooks see as `verb`.
    pub(super) fn remove_finalizers_by(
        &mut self,
        verb: Verb,
        id: ObjectId,
        slots: &[FinalizerId],
        gc: u16,
        reason: Reason,
    ) -> bool {
        let flags = self.state.flags[id];
        if flags & gc == 0 && !slots.iter().any(|slot| self.state.finalizers[*slot]) {
            return true;
        }
        if !self.admits(id, verb) {
            return false;
        }
        self.update(id, |state| {
            for slot in slots {
                state.finalizers[*slot] = false;
            }
            state.flags[id] &= !gc;
        });
        self.note(id, Effect::Released, reason);
        self.remove_if_finished(id, reason);
        true
    }
}

fn gc_finalizer(policy: Policy) -> u16 {
    match policy {
        Policy::Background => 0,
        Policy::Foreground => FOREGROUND,
        Policy::Orphan => ORPHAN,
    }
}
