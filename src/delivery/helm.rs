//! Helm, and Flux's helm-controller, which runs Helm.
//!
//! Helm deletes the objects of one kind in parallel, and the next kind once these calls have
//! returned, without waiting until the objects are gone (helm pkg/kube/client.go, batchPerform). A
//! refused delete does not stop the others.

use std::collections::{BTreeMap, BTreeSet};

use super::hook::{Hook, HookEvent, HookTool, Operation, Phase};
use super::order::{KindOrder, Sequence, kind_order};
use super::protection::{Removal, kept_by_upgrade};
use super::request::{Leaving, Op, ToolRequest, Withdrawal};
use crate::inventory::{Inventory, Member};
use crate::kube::{ObjectKey, Policy, kinds};
use crate::manifest::{Object, Spanned};

/// A major version of Helm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HelmVersion {
    /// Helm 3 from 3.12.3 on; older releases have no place for PriorityClasses in their order.
    #[default]
    V3,
    /// Helm 4, which deletes webhook configurations first.
    V4,
}

impl HelmVersion {
    fn install(self) -> &'static KindOrder {
        kind_order(match self {
            Self::V3 => Sequence::Helm3Install,
            Self::V4 => Sequence::Helm4Install,
        })
    }

    fn uninstall(self) -> &'static KindOrder {
        kind_order(match self {
            Self::V3 => Sequence::Helm3Uninstall,
            Self::V4 => Sequence::Helm4Uninstall,
        })
    }
}

/// Deletes as `helm uninstall` does: kind by kind, with the propagation policy of `--cascade`.
pub fn uninstall<'a>(
    leaving: &Leaving<'a>,
    version: HelmVersion,
    cascade: Policy,
) -> Withdrawal<'a> {
    let (mut deleted, withdrawal) = leaving.split(Removal::HelmUninstall);
    sort(&mut deleted, version.uninstall(), leaving);
    withdrawal.deleting(&deleted, cascade)
}

/// Returns the objects in which Helm stores each revision of a release, in the order of the input: a Secret, or a
/// ConfigMap with another storage driver.
///
/// `helm uninstall` deletes all of them once everything else is deleted, and none if a delete is refused (helm
/// pkg/action/uninstall.go, purgeReleases; pkg/storage/driver/secrets.go).
pub fn records<'a>(inventory: &'a Inventory, release: &str, namespace: &str) -> Vec<&'a Member> {
    let storages = [kinds::SECRET, kinds::CONFIG_MAP]
        .into_iter()
        .flat_map(|kind| inventory.of_kind(kind));
    storages
        .filter(|member| {
            record_of(member).is_some_and(|name| name.value == release)
                && member.key.namespace.name() == Some(namespace)
        })
        .collect()
}

/// Returns the name of the release, if Helm stores a revision of it in the object.
pub fn record_of(member: &Member) -> Option<Spanned<&str>> {
    let metadata = member.object.metadata();
    let is_record = member.key.name.starts_with("sh.helm.release.v1.")
        && metadata
            .label("owner")
            .is_some_and(|owner| owner.value == "helm");
    metadata.label("name").filter(|_| is_record)
}

/// Upgrades from `old` to `new` as `helm upgrade` does: creates and updates objects, then deletes
/// with the policy Background, in the install order of the stored release (helm pkg/kube/client.go,
/// Update). `rejects` returns whether the API server rejects the update of an object, for an
/// immutable field or by a webhook: new objects are then created, but nothing is deleted.
pub fn upgrade<'a>(
    old: &Leaving<'a>,
    new: &Leaving<'_>,
    version: HelmVersion,
    rejects: impl Fn(&ObjectKey) -> bool,
) -> Withdrawal<'a> {
    let order = version.install();
    let before: BTreeSet<&ObjectKey> = old.released().map(|member| &member.key).collect();
    let mut released: Vec<&Member> = new.released().collect();
    sort(&mut released, order, new);
    let stays: BTreeSet<&ObjectKey> = released.iter().map(|member| &member.key).collect();
    let writes = released.iter().map(|member| {
        let is_known = before.contains(&member.key);
        let op = if is_known { Op::Update } else { Op::Create };
        ToolRequest::write(op, &member.key)
    });
    // An object that becomes a hook leaves the release (helm/helm#12799).
    let leaves = old.members.iter().copied();
    let leaves = leaves.filter(|member| !stays.contains(&member.key));
    // Helm deletes an object before its hook creates it, even if it is to be kept (pkg/action/hooks.go).
    let hooks_of_upgrade = new.members.iter().filter(|member| is_recreated(member));
    let recreated: BTreeMap<&ObjectKey, &&Member> = hooks_of_upgrade
        .map(|member| (&member.key, member))
        .collect();
    let (becoming, leaves): (Vec<&Member>, Vec<&Member>) =
        leaves.partition(|member| old.is_released(member) && recreated.contains_key(&member.key));
    let (kept, recreated): (Vec<&Member>, Vec<&Member>) = becoming
        .into_iter()
        .partition(|member| kept_by_upgrade(recreated[&member.key].object.metadata()).is_some());
    let replaced = kept
        .iter()
        .map(|member| ToolRequest::delete(&member.key, Policy::Background));
    let hooks_before = hooks(new, Phase::Before);
    let requests: Vec<ToolRequest> = replaced.chain(hooks_before).chain(writes).collect();
    let mut updates = requests.iter().filter(|request| request.op == Op::Update);
    if let Some(request) = updates.find(|request| rejects(&request.key)) {
        let rejected = Some(request.key.clone());
        return Withdrawal {
            requests,
            rejected,
            ..Withdrawal::nothing("fails to upgrade")
        };
    }
    // The first copy of an object counts: one in `templates/` before one in `crds/`.
    let (released, others): (Vec<&Member>, Vec<&Member>) = leaves
        .into_iter()
        .partition(|member| old.is_released(member));
    let leaving = Leaving {
        members: [released, others].concat(),
        ..old.clone()
    };
    let (mut deleted, mut withdrawal) = leaving.split(Removal::HelmUpgrade);
    deleted.extend(recreated);
    sort(&mut deleted, order, old);
    withdrawal.requests = requests;
    let mut withdrawal = withdrawal.deleting(&deleted, Policy::Background);
    withdrawal.requests.extend(hooks(new, Phase::After));
    withdrawal
}

/// Whether an object of a chart is absent while the release is installed: a hook that Helm deletes as soon as it has
/// succeeded, or one that only `helm test` creates (helm pkg/action/hooks.go).
pub fn is_transient(object: &Object) -> bool {
    Hook::of(object.metadata(), HookTool::Helm)
        .is_some_and(|hook| hook.events.is_empty() || hook.is_deleted_on_success)
}

/// Whether an object is a hook of upgrades that Helm deletes before it creates it anew.
fn is_recreated(member: &Member) -> bool {
    Hook::of(member.object.metadata(), HookTool::Helm)
        .is_some_and(|hook| hook.is_replaced && hook.runs_in(Operation::Upgrade))
}

/// Returns a request for each hook of an upgrade in `phase`: Helm recreates hooks.
fn hooks(release: &Leaving<'_>, phase: Phase) -> impl Iterator<Item = ToolRequest> {
    let event = HookEvent {
        operation: Operation::Upgrade,
        phase,
    };
    release
        .members
        .iter()
        .filter(move |member| {
            Hook::of(member.object.metadata(), HookTool::Helm)
                .is_some_and(|hook| hook.events.contains(&event))
        })
        .map(|member| ToolRequest::write(Op::Create, &member.key))
}

/// Sorts by kind, unlisted kinds by name; then by template, and by place in it (helm pkg/releaseutil/kind_sorter.go,
/// lessByKind).
fn sort(members: &mut [&Member], order: &KindOrder, leaving: &Leaving<'_>) {
    members.sort_by_cached_key(|member| {
        let kind = member.object.kind();
        let unlisted = if order.lists(kind) { "" } else { kind };
        let template = leaving
            .deliveries
            .template(leaving.inventory, member)
            .unwrap_or_default();
        (
            order.place(kind),
            unlisted.to_owned(),
            template.to_owned(),
            member.id,
        )
    });
}
