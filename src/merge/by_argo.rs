//! Argo CD's handling of objects that are removed from an Application or an ApplicationSet (argo-cd
//! controller/appcontroller.go, autoSync and finalizeApplicationDeletion; gitops-engine pkg/sync/sync_context.go;
//! applicationset/controllers/applicationset_controller.go).

use std::collections::BTreeSet;

use super::deleted::{but_for, generated_deleted};
use super::pruning::{CANNOT_BUILD, Delivery, FIXED_REVISION, keeps_revision};
use crate::changes::{DeliveredMarks, KnownDelivery};
use crate::delivery::{Leaving, Sparing, Withdrawal, argocd};
use crate::graph::delivery::Settings;
use crate::inventory::Member;
use crate::kube::Policy;
use crate::kustomize::{Deliverer, SourceTool};
use crate::yaml::Value;

/// Reason why neither a sync nor the deletion of an Application deletes anything: an object requires a confirmation.
pub(super) const AWAITS_CONFIRMATION: &str = "waits until the deletion is confirmed";

impl<'a> Delivery<'a, '_> {
    /// Returns the fate of objects that are removed from an Application or ApplicationSet of the delivery graph.
    /// `before` is its delivery in base, `deleted` its object if a tool deletes it, and `stays` whether head still has
    /// that object.
    pub(super) fn of_argo(
        &self,
        by: &Deliverer,
        before: &'a KnownDelivery,
        deleted: Option<&Member>,
        stays: bool,
    ) -> Withdrawal<'a> {
        if let Some(object) = deleted.filter(|_| !stays) {
            return self.deleted(by, object);
        }
        let in_head = self.part.delivery_in_head(by);
        // A delivery object that left the tree and is not deleted still delivers its sources.
        let kept = self.part.kept_in_head(by);
        let kept = kept.filter(|_| in_head.is_none() && !stays);
        let Some(after) = in_head.or(kept.map(|kept| &kept.known)) else {
            return Withdrawal::nothing("no longer delivers anything there");
        };
        if keeps_revision(Some(before), after) {
            return Withdrawal::nothing(FIXED_REVISION);
        }
        if after.error.is_some() {
            return Withdrawal::nothing(CANNOT_BUILD);
        }
        // Inputs that only head leaves unread may contain the objects.
        if after.is_empty && !after.unread.is_subset(&before.unread) {
            return Withdrawal::default();
        }
        let (still_delivered, leaving) = self
            .parted(|member| kept.is_some_and(|kept| kept.keys.contains(&member.key.to_string())));
        let mut withdrawal = match by.tool {
            _ if leaving.members.is_empty() => Withdrawal::default(),
            SourceTool::ArgoCdSet => {
                let is_race = never_deletes(&after.settings);
                // The controller may see the folders of head before the policy of head.
                if is_race
                    && (never_deletes(&before.settings)
                        || after.parent.is_none()
                        || !self.generates_from_git(by))
                {
                    Withdrawal::nothing("never deletes an Application that it generated")
                } else {
                    Withdrawal {
                        is_race,
                        ..generated_deleted(&leaving, before)
                    }
                }
            }
            _ => self.pruned_by_application(by, before, after, &leaving),
        };
        let is_moved = before.settings.revision != after.settings.revision;
        withdrawal.is_possible |= is_moved || !after.unread.is_subset(&before.unread);
        if withdrawal.nothing.is_none() {
            withdrawal.kept = still_delivered;
        }
        withdrawal
    }

    /// Whether the set in base has a git generator. Elements that are listed in the set change together with its policy.
    fn generates_from_git(&self, by: &Deliverer) -> bool {
        let set = self.part.delivering(by).map(|(_, set)| set);
        let generators = set.and_then(|set| set.object.at(&["spec", "generators"]));
        let entries = generators.map(Value::entries_below);
        let mut entries = entries.into_iter().flatten();
        entries.any(|entry| entry.key == "git")
    }

    /// Returns the pruning of `leaving` by an Application. It syncs the change once with its settings in base, before its
    /// own object is updated (recorded: three of three). An Application that nothing delivers keeps its settings in base.
    fn pruned_by_application(
        &self,
        by: &Deliverer,
        before: &'a KnownDelivery,
        after: &'a KnownDelivery,
        leaving: &Leaving<'a>,
    ) -> Withdrawal<'a> {
        let [deleted_before, deletes] = [before, after].map(|known| prunes(&known.settings));
        if !deleted_before && !deletes {
            return Withdrawal::nothing("does not prune");
        }
        if leaving.members.iter().all(|member| {
            before
                .marks_of(member)
                .is_some_and(|marks| marks.is_ignored_as_extraneous)
        }) && self.changed_in_head(by).next().is_none()
        {
            return Withdrawal::nothing("has nothing to sync but objects that it does not count");
        }
        if has(&after.settings.sync_options, "Prune=confirm")
            || any_has(leaving, before, "Prune=confirm")
        {
            return Withdrawal::nothing(AWAITS_CONFIRMATION);
        }
        let policy = propagation(&after.settings);
        let policy = self.choice.cascade.unwrap_or(policy);
        Withdrawal {
            is_race: deleted_before && !deletes && after.parent.is_some(),
            is_possible: before.is_possible
                || after.is_possible
                || self.may_fail_by_hook(by, before, after),
            ..but_for(
                leaving,
                before,
                |marks| {
                    let hook = marks.is_hook.then_some(Sparing::Hook);
                    option(marks, "Prune=false").or(hook)
                },
                |leaving| argocd::prune(leaving, policy),
            )
        }
    }

    /// Whether a hook of the sync is new or changed: if it fails, nothing is pruned.
    fn may_fail_by_hook(
        &self,
        by: &Deliverer,
        before: &KnownDelivery,
        after: &KnownDelivery,
    ) -> bool {
        let hooks = after
            .objects
            .marks
            .iter()
            .filter(|(_, marks)| marks.is_hook);
        let hooks: BTreeSet<&String> = hooks.map(|(key, _)| key).collect();
        // Without hooks, the slower search through the changes is skipped.
        if hooks.is_empty() {
            return false;
        }
        let mut changed = self.changed_in_head(by);
        hooks
            .iter()
            .any(|key| !before.objects.marks.contains_key(*key))
            || changed.any(|member| hooks.contains(&member.key.to_string()))
    }

    /// Returns the objects of an Application that head adds or changes.
    fn changed_in_head(&self, by: &Deliverer) -> impl Iterator<Item = &'a Member> {
        let part = self.part;
        let changed = part.changes.iter().filter_map(|change| change.sides.head());
        let here = changed.filter(|place| place.tree == part.at);
        here.filter_map(move |place| {
            let head = part.head?;
            let member = head.inventory.member(place.id);
            let is_its = head.destination(member.file).deliverer() == Some(by);
            is_its.then_some(member)
        })
    }
}

/// Whether an Application or a Kustomization prunes on its own.
pub fn prunes(settings: &Settings) -> bool {
    settings.prune == Some(true)
        && settings.suspend != Some(true)
        && !has(&settings.sync_options, "Prune=false")
}

/// Whether an ApplicationSet keeps Applications that it no longer generates.
pub fn never_deletes(settings: &Settings) -> bool {
    matches!(
        settings.applications_sync.as_deref(),
        Some("create-only" | "create-update")
    )
}

pub(super) fn has(options: &[String], wanted: &str) -> bool {
    options.iter().any(|option| option.trim() == wanted)
}

/// Whether the build gives one of the removed objects a sync option.
pub(super) fn any_has(leaving: &Leaving<'_>, known: &KnownDelivery, wanted: &str) -> bool {
    let mut marks = leaving
        .members
        .iter()
        .filter_map(|member| known.marks_of(member));
    marks.any(|marks| has(&marks.sync_options, wanted))
}

pub(super) fn option<'m>(marks: &'m DeliveredMarks, wanted: &str) -> Option<Sparing<'m>> {
    let mut options = marks.sync_options.iter();
    let option = options.find(|option| *option == wanted)?;
    Some(Sparing::SyncOption(option))
}

/// Returns the policy of the sync option `PrunePropagationPolicy`; foreground by default.
fn propagation(settings: &Settings) -> Policy {
    let mut options = settings.sync_options.iter();
    match options.find_map(|option| option.trim().strip_prefix("PrunePropagationPolicy=")) {
        Some("background") => Policy::Background,
        Some("orphan") => Policy::Orphan,
        _ => Policy::Foreground,
    }
}
