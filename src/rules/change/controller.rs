//! Controllers that are removed, or lose a permission, while head still contains objects that only they release.

use std::collections::{BTreeMap, BTreeSet};

use super::operator::operators_removed;
use super::places::{left_in_head, on_name, related_in_head};
use crate::changes::same_content;
use crate::finding::Severity;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::kinds;
use crate::merge::{Merge, Outlook, ReleasedObject, Surprise, severity};
use crate::ownership::access::Budget;
use crate::ownership::{FinalizerHolder, Remover};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::finalizers::held::{counted, resting};
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static CONTROLLER_REMOVED: Rule = rule!(
    Change,
    "controller-removed",
    Warning,
    Stuck,
    "A change removes a controller and keeps objects that only it can release",
    change controller_removed
);

pub(in crate::rules) static PERMISSION_REMOVED: Rule = rule!(
    Change,
    "permission-removed",
    Warning,
    Stuck,
    "A controller stays and loses the permission to release its objects",
    change permission_removed
);

fn controller_removed(merge: &Merge<'_>, sink: &mut Sink) {
    if merge.effects.is_empty() {
        return;
    }
    operators_removed(merge, sink);
    let (Some(head), Some(outlook)) = (merge.part.head, &merge.part.outlook) else {
        return;
    };
    let inventory = &merge.part.base.inventory;
    for (id, held) in merge.released() {
        let workload = inventory.member(*id);
        let certain = merge.takes_away(&workload.key);
        let Some(certain) = certain.filter(|_| workload.key.group() != "batch") else {
            continue;
        };
        // Another workload of head may run the same controller.
        let left = held.iter().filter(|held| {
            let holder = FinalizerHolder::unnamed(held.member);
            let removers = outlook.removers();
            matches!(
                removers.remover_from(&head.inventory, &holder, &held.finalizer),
                Remover::KnownElsewhere(_) | Remover::Unknown | Remover::Unlisted(_)
            )
        });
        let left: Vec<&ReleasedObject<'_>> = left.collect();
        if !left.is_empty() {
            sink.push(removed(merge, workload, &left, certain));
        }
    }
}

/// A sentence on a new source that may contain a removed controller.
pub(super) const MAY_BE_DELIVERED: &str = " The change also adds a source that a tool renders later, and the controller may be part of it.";

/// Whether head adds a delivery object: the controller may be part of what it delivers.
pub(super) fn may_be_delivered(merge: &Merge<'_>) -> bool {
    let delivers = [
        kinds::HELM_RELEASE,
        kinds::APPLICATION,
        kinds::APPLICATION_SET,
        kinds::FLUX_KUSTOMIZATION,
    ];
    let trees = merge.part.sides.head.iter();
    let mut members = trees.flat_map(|tree| {
        let members = tree.inventory.members.iter();
        members.filter(|member| tree.destination(member.file).is_applied())
    });
    members.any(|member| {
        delivers.contains(&member.object.group_kind())
            && merge.part.base.inventory.with_key(&member.key).is_empty()
    })
}

fn removed(
    merge: &Merge<'_>,
    workload: &Member,
    left: &[&ReleasedObject<'_>],
    certain: bool,
) -> Draft {
    let verified = left.iter().any(|held| held.verified);
    let elsewhere = may_be_delivered(merge) || merge.part.unseen_source(workload).is_some();
    let surprise = Surprise::needed(certain && verified && !elsewhere);
    let doubt = if elsewhere { MAY_BE_DELIVERED } else { "" };
    let (who, what) = (named(workload), counted(named(left[0].member), left.len()));
    let (loses, its) = match left.len() {
        1 => ("loses", "its"),
        _ => ("lose", "their"),
    };
    let message =
        format!("{what} {loses} {its} controller and can never be deleted: {who} is removed");
    let draft = on_name(merge, workload, message)
        .label("removes the finalizer")
        .reason(format!(
            "{who} removes the finalizer `{}` of {}. Without this controller, a deleted object of \
             this kind stays Terminating, and so does a deleted Namespace that contains one.{doubt}",
            left[0].finalizer,
            named(left[0].member)
        ))
        .help(
            "remove the objects first, merge that and wait until they are gone; remove the \
             controller in a second change. If the controller moves, keep the old one until the \
             new one runs",
        )
        .severity(severity(surprise).unwrap_or(Severity::Warning));
    shown(merge, left_in_head(draft, merge, workload), left)
}

/// Adds the objects `left` behind, and the rows of the finalizer table that the finding depends on.
/// Sets the target to the kind of the objects.
fn shown(merge: &Merge<'_>, draft: Draft, left: &[&ReleasedObject<'_>]) -> Draft {
    let known = merge.part.analysis.ownership().removers.known();
    let finalizers = left.iter().map(|held| held.finalizer.as_str());
    let draft =
        resting(draft, known, finalizers).target(left[0].member.key.group_kind().to_string());
    left.iter().take(MAX_RELATED).fold(draft, |draft, held| {
        related_in_head(
            draft,
            merge,
            held.member,
            format!("has or gets the finalizer `{}`", held.finalizer),
        )
    })
}

fn permission_removed(merge: &Merge<'_>, sink: &mut Sink) {
    let mut kept = merge.part.kept().map(|object| object.base.key.group());
    if merge.effects.is_empty() && !kept.any(|group| group == "rbac.authorization.k8s.io") {
        return;
    }
    let (Some(head), Some(outlook)) = (merge.part.head, &merge.part.outlook) else {
        return;
    };
    let (before, after) = (&merge.part.base.inventory, &head.inventory);
    for (id, held) in merge.released() {
        let workload = before.member(*id);
        let Some(stays) = after.with_key(&workload.key).first() else {
            continue;
        };
        let stays = after.member(*stays);
        let mut lost: BTreeMap<ObjectId, Vec<&ReleasedObject<'_>>> = BTreeMap::new();
        for held in held {
            if let Some(id) = lost_permission(merge, (after, outlook), workload, stays, held) {
                lost.entry(id).or_default().push(held);
            }
        }
        for (id, held) in lost {
            sink.push(forbidden(merge, before.member(id), stays, &held));
        }
    }
}

/// Returns the object of base that let a workload release another object: its ServiceAccount or a
/// grant. `None` unless the change removes or changes that object, and no other permission remains.
fn lost_permission(
    merge: &Merge<'_>,
    (after, outlook): (&Inventory, &Outlook<'_>),
    workload: &Member,
    stays: &Member,
    held: &ReleasedObject<'_>,
) -> Option<ObjectId> {
    let holder = FinalizerHolder::unnamed(held.member);
    let before = &merge.part.base.inventory;
    let access = merge.part.analysis.ownership().removers.access();
    let was = access.authority(before, workload.id, &holder, &mut Budget::default());
    let access = outlook.removers().access();
    let is = access.authority(after, stays.id, &holder, &mut Budget::default());
    if let Some(account) = was.service_account.filter(|_| is.service_account.is_none())
        && merge.takes_away(&before.member(account).key).is_some()
    {
        return Some(account);
    }
    if !is.grants.is_empty() || is.unrestricted {
        return None;
    }
    let needed: BTreeSet<ObjectId> = was.grants.iter().flatten().copied().collect();
    needed.into_iter().find(|id| {
        let member = before.member(*id);
        merge.takes_away(&member.key).is_some() || changed(after, member)
    })
}

/// Whether head has the object with different content.
fn changed(after: &Inventory, member: &Member) -> bool {
    let now = after.with_key(&member.key).first();
    now.is_some_and(|id| !same_content(&after.member(*id).object, &member.object))
}

fn forbidden(
    merge: &Merge<'_>,
    taken: &Member,
    workload: &Member,
    left: &[&ReleasedObject<'_>],
) -> Draft {
    let verified = left.iter().any(|held| held.verified);
    let surprise = Surprise::needed(verified && merge.takes_away(&taken.key) == Some(true));
    let (what, who) = (named(taken), named(workload));
    let objects = counted(named(left[0].member), left.len());
    let message = format!(
        "{who} can no longer release {objects}: it loses the permission that {what} gave it"
    );
    let draft = on_name(merge, taken, message)
        .label("allowed it to remove finalizers")
        .reason(format!(
            "{who} stays and has to remove the finalizer `{}` of {}, which {what} allowed. Without \
             the permission its requests are rejected, and a deleted object of this kind stays \
             Terminating.",
            left[0].finalizer,
            named(left[0].member)
        ))
        .help("keep the permission as long as such objects exist: remove these first, merge that and wait until they are gone")
        .severity(severity(surprise).unwrap_or(Severity::Warning));
    let draft = related_in_head(left_in_head(draft, merge, taken), merge, workload, "stays");
    shown(merge, draft, left)
}
