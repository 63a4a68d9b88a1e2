//! Argo CD's handling of objects that are removed from an Application or an ApplicationSet (argo-cd
//! controller/appcontroller.go, autoSync and finalizeApplicationDeletion; gitops-engine pkg/sync/sync_context.go;
//! applicationset/controllers/applicationset_controller.go).

use std::collections::BTreeSet;

use super::deleted::{excluding, generated_deleted};
use super::part::with_key;
use super::pruning::{CANNOT_BUILD, Delivery, FIXED_REVISION, STOPS_PRUNING, keeps_revision};
use crate::changes::{DeliveredMarks, KnownDelivery, TreePart};
use crate::delivery::{Exempted, Exemption, Leaving, Withdrawal, argocd};
use crate::graph::delivery::Settings;
use crate::inventory::{Member, ObjectId};
use crate::kube::{ObjectKey, Policy};
use crate::kustomize::{Deliverer, SourceTool};
use crate::yaml::Value;

/// Reason why neither a sync nor the deletion of an Application deletes anything: an object requires a confirmation.
pub(super) const AWAITS_CONFIRMATION: &str = "waits until the deletion is confirmed";

/// Reason why an Application with a sync option prunes nothing (argo-cd controller/sync.go, WithDefaultPruneOption).
const PRUNE_OPTION: &str =
    "has `Prune=false` in its `syncOptions`, which Argo CD before 3.4 ignores";

/// Reason why a set deletes no Application: it fails before that (argo-cd
/// applicationset/controllers/applicationset_controller.go, Reconcile returns the error of createOrUpdateInCluster).
const TAKEN: &str = "fails because another set controls an Application of the same name";

/// Reason why objects may lose their Application although a set stops deleting Applications.
const STOPS_DELETING: &str = "stops deleting Applications with this change, but handles the changed folders first if its own \
    object is not updated by then";

/// Reason why objects are deleted although a set begins to preserve them.
const PRESERVES_TOO_LATE: &str = "begins to preserve objects with this change, but takes the finalizer only from Applications \
    that it still generates: those that left delete their objects";

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
            let synced = self.synced_first(by, before, after);
            return synced.unwrap_or_else(|| Withdrawal::nothing(CANNOT_BUILD));
        }
        // Inputs that only head leaves unread may contain the objects.
        if after.is_empty && !after.unread.is_subset(&before.unread) {
            return Withdrawal::default();
        }
        let (still_delivered, leaving) = self
            .parted(|member| kept.is_some_and(|kept| kept.keys.contains(&member.key.to_string())));
        let mut withdrawal = match by.tool {
            _ if leaving.members.is_empty() => Withdrawal::default(),
            SourceTool::ArgoCdSet if self.generates_another_sets_application(by) => {
                Withdrawal::nothing(TAKEN)
            }
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
                    let [was, is] = [before, after].map(|known| known.settings.preserve_resources);
                    let preserves = is == Some(true) && was != is;
                    let late = is_race.then_some(STOPS_DELETING);
                    Withdrawal {
                        is_race,
                        late: late.or(preserves.then_some(PRESERVES_TOO_LATE)),
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

    /// Whether a set begins to generate an Application that another set generates in base and head, and controls.
    fn generates_another_sets_application(&self, by: &Deliverer) -> bool {
        let (base, Some(head)) = (self.part.base, self.part.head) else {
            return false;
        };
        let of_set = head
            .destinations()
            .filter(|destination| destination.deliverer() == Some(by));
        let mut generated = of_set.flat_map(|destination| head.members_at(destination));
        generated.any(|member| {
            let before: BTreeSet<&Deliverer> = sets_of(base, &member.key, by).collect();
            !before.contains(by) && sets_of(head, &member.key, by).any(|set| before.contains(set))
        })
    }

    /// Whether the set in base has a git generator, possibly in a matrix or a merge. Elements that are listed in the set
    /// change together with its policy.
    fn generates_from_git(&self, by: &Deliverer) -> bool {
        let set = self.part.delivering(by).map(|(_, set)| set);
        let spec = set.and_then(|set| set.object.at(&["spec"]));
        spec.is_some_and(|spec| contains_git(spec, 0))
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
        if deleted_before || deletes {
            let is_race = deleted_before && !deletes && after.parent.is_some();
            return Withdrawal {
                is_race,
                late: is_race.then_some(STOPS_PRUNING),
                ..self.synced(by, before, after, leaving)
            };
        }
        if !may_prune(&after.settings) {
            return Withdrawal::nothing("does not prune");
        }
        let (spared, leaving) = with_own_option(leaving, before, "Prune=false");
        if leaving.members.is_empty() {
            return Withdrawal::nothing(PRUNE_OPTION);
        }
        let mut pruned = self.synced(by, before, after, &leaving);
        pruned.spared.extend(spared);
        pruned
    }

    /// Returns the pruning by an Application that may sync once before its project no longer permits that.
    fn synced_first(
        &self,
        by: &Deliverer,
        before: &'a KnownDelivery,
        after: &'a KnownDelivery,
    ) -> Option<Withdrawal<'a>> {
        self.pruned_once(after, |left| {
            Some(self.pruned_by_application(by, before, after, left))
        })
    }

    /// Returns the pruning of `leaving` by the sync of an Application that prunes.
    fn synced(
        &self,
        by: &Deliverer,
        before: &'a KnownDelivery,
        after: &'a KnownDelivery,
        leaving: &Leaving<'a>,
    ) -> Withdrawal<'a> {
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
            is_possible: before.is_possible
                || after.is_possible
                || self.may_fail_by_hook(by, before, after),
            ..excluding(
                leaving,
                before,
                |marks| {
                    let hook = marks.is_hook.then_some(Exemption::Hook);
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

/// Returns the sets that generate an object in the cluster of a set.
fn sets_of<'p>(
    part: &'p TreePart,
    key: &ObjectKey,
    of: &Deliverer,
) -> impl Iterator<Item = &'p Deliverer> {
    let generated = with_key(&part.inventory, key);
    let sets = generated.filter_map(|member| part.destination(member.file).deliverer());
    sets.filter(|set| set.tool == SourceTool::ArgoCdSet && set.cluster == of.cluster)
}

/// Whether one of the `generators` of a set, a matrix or a merge reads Git. `depth` is the number of generators that
/// contain them.
fn contains_git(of: Value<'_>, depth: usize) -> bool {
    of.items_at("generators").any(|generator| {
        let mut combined = ["matrix", "merge"].into_iter();
        generator.get("git").is_some_and(|git| !git.is_null())
            || depth < 2
                && combined.any(|kind| {
                    let combined = generator.get(kind);
                    combined.is_some_and(|combined| contains_git(combined, depth + 1))
                })
    })
}

/// Whether an Application or a Kustomization prunes on its own.
pub fn prunes(settings: &Settings) -> bool {
    may_prune(settings) && !has(&settings.sync_options, "Prune=false")
}

/// Whether an Application or a Kustomization prunes objects on its own, at least those with a sync option of their own.
fn may_prune(settings: &Settings) -> bool {
    settings.prune == Some(true) && settings.suspend != Some(true)
}

/// Splits objects into those that follow `option` of their Application and those with another value of their own, which
/// counts instead (argo-cd controller/appcontroller.go, shouldBeDeleted).
pub(super) fn with_own_option<'a>(
    leaving: &Leaving<'a>,
    known: &KnownDelivery,
    option: &'static str,
) -> (Vec<(ObjectId, Exempted<'a>)>, Leaving<'a>) {
    let key = option.split_inclusive('=').next().unwrap_or_default();
    let (own, spared): (Vec<&Member>, Vec<&Member>) = leaving.members.iter().partition(|member| {
        let marks = known.marks_of(member).into_iter();
        let mut own = marks.flat_map(|marks| &marks.sync_options);
        own.find(|own| own.starts_with(key))
            .is_some_and(|own| own != option)
    });
    let by = Exemption::SyncOption(option);
    let spared = spared
        .iter()
        .map(|member| (member.id, Exempted { by, place: None }));
    let own = Leaving {
        members: own,
        ..leaving.clone()
    };
    (spared.collect(), own)
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

pub(super) fn option<'m>(marks: &'m DeliveredMarks, wanted: &str) -> Option<Exemption<'m>> {
    let mut options = marks.sync_options.iter();
    let option = options.find(|option| *option == wanted)?;
    Some(Exemption::SyncOption(option))
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
