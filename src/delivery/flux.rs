//! Flux: its kustomize-controller deletes in the reverse of the order in which it applies, its helm-controller runs
//! Helm.

use super::helm::{self, HelmVersion};
use super::order::{Sequence, kind_order};
use super::protection::Removal;
use super::request::{Leaving, Withdrawal};
use crate::graph::delivery::Settings;
use crate::inventory::Member;
use crate::kube::Policy;
use crate::manifest::Object;

/// Whether an object is of a kind that Flux defines.
pub fn is_own(member: &Member) -> bool {
    member.key.group().ends_with(".toolkit.fluxcd.io")
}

/// The deletion settings of a Kustomization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KustomizationSettings {
    /// `spec.prune`; it has no default.
    pub prune: bool,
    /// `spec.suspend`.
    pub suspended: bool,
    /// `spec.deletionPolicy`.
    pub deletion_policy: DeletionPolicy,
}

/// `spec.deletionPolicy` of a Kustomization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeletionPolicy {
    /// Its objects are deleted if `spec.prune` is set.
    #[default]
    MirrorPrune,
    /// Its objects are deleted.
    Delete,
    /// Its objects are deleted, and the Kustomization stays until they are gone.
    WaitForTermination,
    /// Its objects stay.
    Orphan,
}

impl DeletionPolicy {
    fn of(word: Option<&str>) -> Self {
        match word {
            Some("Delete") => Self::Delete,
            Some("WaitForTermination") => Self::WaitForTermination,
            Some("Orphan") => Self::Orphan,
            _ => Self::MirrorPrune,
        }
    }
}

/// The settings of a HelmRelease for its uninstall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelmReleaseSettings {
    /// `spec.suspend`.
    pub suspended: bool,
    /// `spec.uninstall.deletionPropagation`.
    pub propagation: Policy,
    /// `spec.uninstall.disableWait`.
    pub disable_wait: bool,
}

impl Default for KustomizationSettings {
    fn default() -> Self {
        Self {
            prune: true,
            suspended: false,
            deletion_policy: DeletionPolicy::MirrorPrune,
        }
    }
}

impl Default for HelmReleaseSettings {
    fn default() -> Self {
        Self {
            suspended: false,
            propagation: Policy::Background,
            disable_wait: false,
        }
    }
}

impl KustomizationSettings {
    /// Reads the settings of a Kustomization as its parent applies it.
    pub fn applied(settings: &Settings) -> Self {
        Self {
            prune: settings.prune.unwrap_or(false),
            suspended: settings.suspend.unwrap_or(false),
            deletion_policy: DeletionPolicy::of(settings.deletion_policy.as_deref()),
        }
    }

    /// Reads the settings of a Kustomization. An invalid deletion policy counts as the default.
    pub fn of(kustomization: &Object) -> Self {
        let policy = kustomization.value().str_at(&["spec", "deletionPolicy"]);
        Self {
            prune: kustomization.value().is_true_at(&["spec", "prune"]),
            suspended: kustomization.value().is_true_at(&["spec", "suspend"]),
            deletion_policy: DeletionPolicy::of(policy),
        }
    }

    /// Whether it deletes objects that leave its sources.
    pub fn deletes(self) -> bool {
        self.prune && !self.suspended
    }

    /// Whether its objects are deleted with it.
    pub fn deletes_with_it(self) -> bool {
        !self.suspended
            && match self.deletion_policy {
                DeletionPolicy::Orphan => false,
                DeletionPolicy::MirrorPrune => self.prune,
                DeletionPolicy::Delete | DeletionPolicy::WaitForTermination => true,
            }
    }
}

impl HelmReleaseSettings {
    /// Reads the settings of a HelmRelease.
    pub fn of(release: &Object) -> Self {
        let release = release.value();
        let propagation = match release.str_at(&["spec", "uninstall", "deletionPropagation"]) {
            Some("foreground") => Policy::Foreground,
            Some("orphan") => Policy::Orphan,
            _ => Policy::Background,
        };
        Self {
            suspended: release.is_true_at(&["spec", "suspend"]),
            propagation,
            disable_wait: release.is_true_at(&["spec", "uninstall", "disableWait"]),
        }
    }
}

/// Prunes objects that left the sources of a Kustomization, without waiting (fluxcd/pkg ssa/manager_delete.go).
pub fn prune<'a>(leaving: &Leaving<'a>, settings: KustomizationSettings) -> Withdrawal<'a> {
    if settings.suspended {
        return Withdrawal::nothing("is suspended");
    }
    if !settings.prune {
        return Withdrawal::nothing("does not prune");
    }
    delete(leaving)
}

/// Finalizes a deleted Kustomization (kustomize-controller internal/controller/kustomization_controller.go, finalize).
pub fn kustomization_deleted<'a>(
    leaving: &Leaving<'a>,
    settings: KustomizationSettings,
) -> Withdrawal<'a> {
    if settings.suspended {
        return Withdrawal::nothing("is suspended");
    }
    match settings.deletion_policy {
        DeletionPolicy::Orphan => Withdrawal::nothing("has the deletion policy Orphan"),
        DeletionPolicy::MirrorPrune if !settings.prune => Withdrawal::nothing("does not prune"),
        DeletionPolicy::WaitForTermination => delete(leaving).then_wait(),
        DeletionPolicy::MirrorPrune | DeletionPolicy::Delete => delete(leaving),
    }
}

/// Deletes as `helm uninstall` for a deleted HelmRelease, then waits unless `disableWait` is set (helm-controller
/// internal/action/uninstall.go).
pub fn helm_release_deleted<'a>(
    leaving: &Leaving<'a>,
    version: HelmVersion,
    settings: HelmReleaseSettings,
) -> Withdrawal<'a> {
    if settings.suspended {
        return Withdrawal::nothing("is suspended");
    }
    let withdrawal = helm::uninstall(leaving, version, settings.propagation);
    if settings.disable_wait {
        withdrawal
    } else {
        withdrawal.then_wait()
    }
}

/// Deletes in the reverse of the order in which Flux applies, by kind, namespace and name.
fn delete<'a>(leaving: &Leaving<'a>) -> Withdrawal<'a> {
    let order = kind_order(Sequence::FluxDelete);
    let (mut deleted, withdrawal) = leaving.split(Removal::FluxPrune);
    deleted.sort_by(|one, next| {
        order
            .place(one.key.kind())
            .cmp(&order.place(next.key.kind()))
            .then_with(|| next.key.cmp(&one.key))
    });
    withdrawal.deleting(&deleted, Policy::Background)
}
