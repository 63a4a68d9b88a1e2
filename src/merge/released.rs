//! Objects of head with finalizers that controllers of base remove.

use std::collections::BTreeMap;

use super::part::MergePart;
use crate::inventory::{Member, ObjectId};
use crate::kube::{GroupKind, Namespace};
use crate::ownership::{Evidence, FinalizerHolder, Remover};

/// An object of head with a finalizer that a workload of base removes.
#[derive(Debug)]
pub struct ReleasedObject<'a> {
    /// The object.
    pub member: &'a Member,
    /// The finalizer.
    pub finalizer: String,
    /// Whether it is verified that the workload removes it.
    pub verified: bool,
}

/// The key of a cache: the group, kind and namespace of objects, and one of their finalizers.
type HeldAlike<'a> = (GroupKind<&'a str>, &'a Namespace, String);

/// Returns the released objects, by the workload of base that removes a finalizer of theirs.
pub(super) fn released<'a>(part: &MergePart<'a>) -> BTreeMap<ObjectId, Vec<ReleasedObject<'a>>> {
    let mut by_workload: BTreeMap<ObjectId, Vec<ReleasedObject<'a>>> = BTreeMap::new();
    let Some(head) = part.head else {
        return by_workload;
    };
    let before = &part.analysis.ownership().removers;
    let inventory = &part.base.inventory;
    let mut known: BTreeMap<HeldAlike<'_>, Option<(ObjectId, bool)>> = BTreeMap::new();
    for member in head
        .inventory
        .members
        .iter()
        .filter(|member| head.applies(member) && member.decodes())
    {
        for finalizer in before.finalizers_of(member) {
            let question = (
                member.key.group_kind(),
                &member.key.namespace,
                finalizer.to_owned(),
            );
            let answer = known.entry(question).or_insert_with(|| {
                let holder = FinalizerHolder::unnamed(member);
                running(&before.remover_from(inventory, &holder, finalizer), &holder)
            });
            if let Some((workload, verified)) = *answer {
                let held = ReleasedObject {
                    member,
                    finalizer: finalizer.to_owned(),
                    verified,
                };
                by_workload.entry(workload).or_default().push(held);
                break;
            }
        }
    }
    by_workload
}

/// Returns the workload of a known controller. Permissions or the name of an image prove nothing.
fn running(remover: &Remover<'_>, holder: &FinalizerHolder<'_>) -> Option<(ObjectId, bool)> {
    match remover {
        Remover::Workload {
            id,
            evidence: Evidence::Image { .. } | Evidence::Configuration,
            controller: Some(controller),
        } => Some((*id, controller.is_proven_for(holder.group, holder.kind))),
        _ => None,
    }
}
