//! The requests of a tool when objects are removed from its sources, and the objects that it spares.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::protection::{Exempted, Removal, outside_of_release};
use super::regime::Deliveries;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ObjectKey, Policy, Wait};

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// DELETE.
    Delete,
    /// POST of an object that is new, or that a delete has removed.
    Create,
    /// PATCH or PUT of an object that exists.
    Update,
}

/// One request of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRequest {
    /// Its operation.
    pub op: Op,
    /// The key of its object.
    pub key: ObjectKey,
    /// The propagation policy of a DELETE; `None`: the client sends none.
    pub policy: Option<Policy>,
    /// The wait of the client before it sends its next request.
    pub wait: Wait,
    /// The client that sends it. A wait delays only the requests of the same client.
    pub client: usize,
}

impl ToolRequest {
    /// Creates a DELETE without a wait before the next request.
    pub fn delete(key: &ObjectKey, policy: Policy) -> Self {
        Self {
            policy: Some(policy),
            ..Self::write(Op::Delete, key)
        }
    }

    /// Creates a request that deletes nothing.
    pub(super) fn write(op: Op, key: &ObjectKey) -> Self {
        Self {
            op,
            key: key.clone(),
            policy: None,
            wait: Wait::None,
            client: 0,
        }
    }
}

/// The actions of a tool when objects are removed from its sources.
#[derive(Clone, Debug, Default)]
pub struct Withdrawal<'a> {
    /// The requests, in order.
    pub requests: Vec<ToolRequest>,
    /// The objects that stay in the cluster, and why; in the order of the input.
    pub spared: Vec<(ObjectId, Exempted<'a>)>,
    /// Objects that no request names and no protection spares, such as those outside a namespace that is deleted.
    pub outside: Vec<ObjectId>,
    /// Objects that stay because the sources still contain them, or did when the tool pruned for the last time.
    pub kept: Vec<ObjectId>,
    /// The reason why the tool sends nothing at all: a phrase that follows the name of the deliverer.
    pub nothing: Option<&'static str>,
    /// Whether the deletions race with a change of the tool's settings, permissions or sources.
    pub is_race: bool,
    /// Whether all deletions depend on facts that only the cluster or a service knows.
    pub is_possible: bool,
    /// The objects whose own deletion depends on such facts.
    pub possible: Vec<ObjectKey>,
    /// The objects that are deleted whether or not the delivery object is.
    pub anyway: BTreeSet<ObjectKey>,
    /// The object whose update the API server rejects, if that is the reason for `nothing`.
    pub rejected: Option<ObjectKey>,
    /// Why a setting of the change that would keep the objects comes too late: a phrase that follows the name of the
    /// deliverer.
    pub late: Option<&'static str>,
    /// Why the tool may fail before it deletes anything: a phrase that follows the name of the deliverer.
    pub may_fail: Option<&'a str>,
}

impl Withdrawal<'_> {
    /// Creates a withdrawal without requests; `reason` is a phrase that follows the name of the deliverer.
    pub fn nothing(reason: &'static str) -> Self {
        Self {
            nothing: Some(reason),
            ..Self::default()
        }
    }

    /// Adds a DELETE of each object after the requests so far.
    pub(super) fn deleting(mut self, deleted: &[&Member], policy: Policy) -> Self {
        let deleted = deleted.iter();
        self.requests
            .extend(deleted.map(|member| ToolRequest::delete(&member.key, policy)));
        self
    }

    /// Makes the tool wait after its last request until the objects are gone.
    pub(super) fn then_wait(mut self) -> Self {
        if let Some(last) = self.requests.last_mut() {
            last.wait = Wait::Gone;
        }
        self
    }
}

/// Objects that are removed from the sources of their tools.
#[derive(Clone, Debug)]
pub struct Leaving<'a> {
    /// The inventory that contains them.
    pub inventory: &'a Inventory,
    /// The tools that deliver them, and their templates.
    pub deliveries: &'a Deliveries,
    /// The objects, in the order in which a client would read them.
    pub members: Vec<&'a Member>,
}

impl<'a> Leaving<'a> {
    /// Splits a removal into the deleted objects, in the order of the input, and the spared ones. An object that
    /// appears twice is deleted once; one with a generated name is skipped. If the input contains an object as it is in
    /// the cluster, that copy decides for all tools except `helm uninstall`. If not, a mark that keeps a tool from
    /// applying the object may never have reached the cluster, and the object is possibly deleted (recorded:
    /// flux-reconcile-disabled-annotated-after-delivery, flux-ssa-ignore-annotated-after-delivery).
    pub(super) fn split(&self, removal: Removal) -> (Vec<&'a Member>, Withdrawal<'a>) {
        let mut seen = BTreeSet::new();
        let (mut deleted, mut withdrawal) = (Vec::new(), Withdrawal::default());
        let live = if removal == Removal::HelmUninstall {
            HashMap::default()
        } else {
            self.inventory.live()
        };
        for member in self
            .members
            .iter()
            .filter(|member| is_named(&member.key) && seen.insert(&member.key))
        {
            let in_cluster = live.get(&member.key);
            let member = in_cluster.unwrap_or(member);
            match self.deliveries.spared(self.inventory, member, removal) {
                Some(spared) if in_cluster.is_none() && spared.by.is_never_applied() => {
                    withdrawal.possible.push(member.key.clone());
                    deleted.push(*member);
                }
                Some(spared) => withdrawal.spared.push((member.id, spared)),
                None => deleted.push(*member),
            }
        }
        (deleted, withdrawal)
    }

    /// Returns the members of a Helm release. Hooks and objects of `crds/` are not members.
    pub(super) fn released(&self) -> impl Iterator<Item = &'a Member> {
        let members = self.members.iter().copied();
        members.filter(|member| self.is_released(member))
    }

    /// Whether an object is a member of a Helm release.
    pub(super) fn is_released(&self, member: &Member) -> bool {
        let template = self.deliveries.template(self.inventory, member);
        !outside_of_release(&member.object, template)
    }
}

/// Whether the name is known: that of `generateName: x-` is `x-*`.
fn is_named(key: &ObjectKey) -> bool {
    !key.name.is_empty() && !key.name.ends_with('*')
}
