//! The requests of a tool, and the objects that it leaves.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::protection::{Removal, Spared, outside_of_release};
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
    /// To which object.
    pub key: ObjectKey,
    /// The propagation policy of a DELETE; `None`: the client sends none.
    pub policy: Option<Policy>,
    /// The wait of the client before it sends its next request.
    pub wait: Wait,
    /// Which client sends it: what one waits for holds back no other one.
    pub client: usize,
}

impl ToolRequest {
    /// A DELETE after which the next request follows at once.
    pub fn delete(key: &ObjectKey, policy: Policy) -> Self {
        Self {
            op: Op::Delete,
            key: key.clone(),
            policy: Some(policy),
            wait: Wait::None,
            client: 0,
        }
    }

    /// A request that deletes nothing.
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

/// The work of a tool when objects leave.
#[derive(Clone, Debug, Default)]
pub struct Withdrawal<'a> {
    /// In order.
    pub requests: Vec<ToolRequest>,
    /// The objects that stay although they leave, and why; in the order of the input.
    pub spared: Vec<(ObjectId, Spared<'a>)>,
    /// Objects that no request names and no protection spares: those outside the namespace that is deleted.
    pub outside: Vec<ObjectId>,
    /// The objects that the sources still have when the tool prunes for the last time: they stay.
    pub kept: Vec<ObjectId>,
    /// Why the tool sends nothing at all, if so: half a sentence about the object that delivers.
    pub nothing: Option<&'static str>,
    /// Whether the change also takes from the tool what it needs for this: it mostly comes too late.
    pub is_race: bool,
    /// Whether it depends on what only the cluster or a service knows.
    pub is_possible: bool,
    /// The objects of which this depends on that.
    pub possible: Vec<ObjectKey>,
    /// The object whose update the API server rejects, if that is why.
    pub rejected: Option<ObjectKey>,
}

impl Withdrawal<'_> {
    /// Nothing is sent; the reason is half a sentence about the object that delivers.
    pub fn nothing(reason: &'static str) -> Self {
        Self {
            nothing: Some(reason),
            ..Self::default()
        }
    }

    /// The tool waits after its last request.
    pub(super) fn then_wait(mut self, wait: Wait) -> Self {
        if let Some(last) = self.requests.last_mut() {
            last.wait = wait;
        }
        self
    }
}

/// Objects that leave.
#[derive(Clone, Debug)]
pub struct Leaving<'a> {
    /// The inventory that contains them.
    pub inventory: &'a Inventory,
    /// Who delivers them, and from which templates.
    pub deliveries: &'a Deliveries,
    /// The objects, in the order in which a client would read them.
    pub members: Vec<&'a Member>,
}

impl<'a> Leaving<'a> {
    /// Splits a removal into the deleted objects, in the order of the input, and the spared ones. An object that
    /// appears twice is deleted once, and one whose name the server made up is not known by name. Where the input shows
    /// the state of an object in the cluster, that is the copy that all tools look at but `helm uninstall`; where it
    /// does not, a mark with which a tool applies nothing may never have arrived there, and the object is possibly
    /// deleted (recorded: flux-reconcile-disabled-annotated-after-delivery, flux-ssa-ignore-annotated-after-delivery).
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

    /// The members of a Helm release: hooks and `crds/` are none.
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

/// `generateName` is written `x-*`.
fn is_named(key: &ObjectKey) -> bool {
    !key.name.is_empty() && !key.name.ends_with('*')
}
