//! One part of the tree, before and after: its cluster, and what leaves it.

use std::collections::HashMap;

use crate::changes::{ChangeKind, Destination, ObjectChange, Sides, TreePart, rejected_fields};
use crate::cluster::Analysis;
use crate::delivery::marks::{self, annotation};
use crate::engine::input::BundleInput;
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;

/// One part of the tree on both sides.
#[derive(Debug)]
pub(super) struct ClusterPart<'a> {
    /// What the cluster contains before.
    pub(super) base: &'a TreePart,
    /// What is applied afterwards; `None` if the part does not exist then.
    pub(super) head: Option<&'a TreePart>,
    /// All parts of head, what nobody applies among them.
    pub(super) after_everything: &'a [TreePart],
    /// What is known of base.
    pub(super) analysis: Analysis<'a>,
    /// The objects of base that leave, in order: head applies nothing of their key.
    pub(super) leaving: Vec<ObjectId>,
    /// The objects of base that head makes hooks of Helm: they leave a release, if there is one.
    pub(super) hooks: Vec<ObjectId>,
}

impl<'a> ClusterPart<'a> {
    /// The part at place `at` of the trees.
    pub(super) fn of(
        at: usize,
        (old, new): (&'a [TreePart], &'a [TreePart]),
        changes: &[ObjectChange],
        bundle: &BundleInput,
    ) -> Self {
        let (base, head) = (&old[at], new.get(at));
        let mut stays: HashMap<&ObjectKey, Vec<&Destination>> = HashMap::new();
        for (member, destination) in new.iter().flat_map(applied) {
            stays.entry(&member.key).or_default().push(destination);
        }
        let leaves_for_good = |id: &ObjectId| {
            let member = base.inventory.member(*id);
            let left = base.destination(member.file);
            stays.get(&member.key).is_none_or(|there| there.iter().all(|there| left.is_left_for(there)))
        };
        let leaves = changes.iter().filter(|change| matches!(change.kind, ChangeKind::Removed | ChangeKind::Renamed));
        let leaves = leaves.filter_map(|change| change.sides.base()).filter(|place| place.tree == at);
        let mut leaving: Vec<ObjectId> = leaves.map(|place| place.id).filter(leaves_for_good).collect();
        leaving.sort();
        leaving.dedup();
        let changed = changes.iter().filter_map(|change| match change.sides {
            Sides::Both(was, is) if was.tree == at => Some((was.id, new.get(is.tree)?.inventory.member(is.id))),
            _ => None,
        });
        let is_hook = |member: &Member| annotation(&member.object.metadata, marks::HELM_HOOK).is_some();
        let hooks =
            changed.filter(|(was, is)| is_hook(is) && !is_hook(base.inventory.member(*was))).map(|(was, _)| was);
        let hooks = hooks.collect();
        let analysis = Analysis::of(&base.inventory).knowing(bundle.tables.clone()).delivered_by(bundle.delivery);
        Self { base, head, after_everything: new, analysis, leaving, hooks }
    }

    /// Whether the API server rejects the update of an object to what head says.
    pub(super) fn rejects(&self, key: &ObjectKey) -> bool {
        let first = |part: &'a TreePart| part.inventory.with_key(key).first().map(|id| part.inventory.member(*id));
        match (first(self.base), self.head.and_then(first)) {
            (Some(old), Some(new)) => !rejected_fields(&old.object, &new.object).is_empty(),
            _ => false,
        }
    }

    /// The object that head applies under a key.
    pub(super) fn after(&self, key: &ObjectKey) -> Option<&'a Member> {
        let head = self.head?;
        let found = head.inventory.with_key(key).iter().map(|id| head.inventory.member(*id));
        found.into_iter().find(|member| head.destination(member.file).is_applied())
    }
}

fn applied(part: &TreePart) -> impl Iterator<Item = (&Member, &Destination)> {
    let members = part.inventory.members.iter().map(|member| (member, part.destination(member.file)));
    members.filter(|(_, destination)| destination.is_applied())
}

/// Whether an object of a part is one of the change, and not of what lives beside it.
pub(super) fn is_own(part: &TreePart, member: &Member) -> bool {
    *part.destination(member.file) != Destination::Beside
}
