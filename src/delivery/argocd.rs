//! Argo CD: it deletes sync waves in descending order, and waits for each before the next.

use std::cmp::Reverse;

use super::marks;
use super::protection::{Exempted, Exemption, Removal};
use super::request::{Leaving, Withdrawal};
pub use crate::graph::argo::RESOURCES_FINALIZER;
use crate::graph::argo::deletion_policy;
use crate::inventory::Member;
use crate::kube::Policy;
use crate::manifest::{Metadata, Object};

/// Returns the policy with which a deleted Application deletes its objects, by its finalizer; `None` if it deletes none
/// (argo-cd docs/user-guide/app_deletion.md).
pub fn policy_of(application: &Object) -> Option<Policy> {
    let finalizers = application.metadata().finalizers().iter();
    deletion_policy(finalizers.map(|finalizer| finalizer.value.as_str()))
}

/// Returns the finalizers of an Application that Argo CD removes once the delivered objects are gone.
pub fn own_finalizers(application: &Member) -> Vec<String> {
    let finalizers = application.object.metadata().finalizers().iter();
    let names = finalizers.map(|finalizer| &finalizer.value);
    names
        .filter(|name| name.starts_with(RESOURCES_FINALIZER))
        .cloned()
        .collect()
}

/// Deletes the Applications that an ApplicationSet no longer generates, or all dependents of a
/// deleted one (argo-cd applicationset/controllers/applicationset_controller.go, deleteInCluster).
pub fn generated_deleted<'a>(leaving: &Leaving<'a>) -> Withdrawal<'a> {
    let (deleted, withdrawal) = leaving.split(Removal::Kubectl);
    withdrawal.deleting(&deleted, Policy::Background)
}

/// Deletes the objects of an Application with a resources finalizer: wave by wave from the highest, all objects of a
/// wave at once, without an order of kinds (argo-cd controller/sort_delete.go, controller/appcontroller.go
/// finalizeApplicationDeletion). `policy` is that of the finalizer: Foreground, or Background for `…/background`.
pub fn application_deleted<'a>(leaving: &Leaving<'a>, policy: Policy) -> Withdrawal<'a> {
    by_waves(leaving, Removal::ArgoCdApplication, policy, |_| false)
}

/// Prunes objects that left the sources, after everything else of a sync; those with `PruneLast` come last (argo-cd
/// gitops-engine/pkg/sync/sync_context.go). `policy` is Foreground unless `PrunePropagationPolicy` says otherwise.
pub fn prune<'a>(leaving: &Leaving<'a>, policy: Policy) -> Withdrawal<'a> {
    by_waves(leaving, Removal::ArgoCdPrune, policy, is_pruned_last)
}

fn by_waves<'a>(
    leaving: &Leaving<'a>,
    removal: Removal,
    policy: Policy,
    last: impl Fn(&Member) -> bool,
) -> Withdrawal<'a> {
    let (mut deleted, mut withdrawal) = leaving.split(removal);
    // Objects with an owner are not among the managed objects (gitops-engine/pkg/cache/cluster.go, GetManagedLiveObjs).
    deleted.retain(|member| {
        let owners = member.object.metadata().owner_references();
        let Some(owner) = owners.entries.first() else {
            return true;
        };
        let spared = Exempted::marked(Exemption::Owned, owner.span);
        withdrawal.spared.push((member.id, spared));
        false
    });
    withdrawal.spared.sort_by_key(|(id, _)| *id);
    let turn = |member: &&Member| (last(member), Reverse(wave(member)));
    deleted.sort_by_cached_key(turn);
    for wave in deleted.chunk_by(|one, next| turn(one) == turn(next)) {
        withdrawal = withdrawal.deleting(wave, policy).then_wait();
    }
    withdrawal
}

/// Returns the sync wave, else the weight of a Helm hook, else 0 (gitops-engine/pkg/sync/syncwaves/waves.go).
pub fn wave(member: &Member) -> i64 {
    wave_of(member.object.metadata())
}

/// Returns the sync wave in metadata.
pub(super) fn wave_of(metadata: Metadata<'_>) -> i64 {
    [marks::ARGOCD_SYNC_WAVE, marks::HELM_HOOK_WEIGHT]
        .into_iter()
        .find_map(|key| metadata.annotation(key)?.value.parse().ok())
        .unwrap_or(0)
}

fn is_pruned_last(member: &Member) -> bool {
    let options = member
        .object
        .metadata()
        .annotation(marks::ARGOCD_SYNC_OPTIONS);
    options.is_some_and(|options| {
        marks::sync_options(options.value).any(|one| one == "PruneLast=true")
    })
}
