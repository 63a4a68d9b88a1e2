//! The fate of objects whose delivery object is deleted. Flux deletes the objects of a Kustomization
//! (kustomize-controller, finalize) and uninstalls the release of a HelmRelease (helm-controller,
//! internal/action/uninstall.go). Argo CD deletes the objects of an Application (argo-cd controller/appcontroller.go,
//! finalizeApplicationDeletion), and the garbage collector the Applications of an ApplicationSet.

use super::by_argo::{AWAITS_CONFIRMATION, any_has, has, never_deletes, option, with_own_option};
use super::pruning::DeliveryChoice;
use crate::changes::{DeliveredMarks, KnownDelivery};
use crate::delivery::flux::{HelmReleaseSettings, KustomizationSettings};
use crate::delivery::marks::FLUX_PRUNE;
use crate::delivery::{Exempted, Exemption, Leaving, Withdrawal, argocd, flux};
use crate::graph::argo::deletion_policy;
use crate::inventory::Member;
use crate::kustomize::SourceTool;

/// Reason why an Application with a sync option leaves its objects when it is deleted.
const DELETE_OPTION: &str =
    "has `Delete=false` in its `syncOptions`, which Argo CD before 3.4 ignores";

/// A delivery whose object is deleted.
#[derive(Debug)]
pub struct DeletedDelivery<'a, 'p> {
    /// The objects that it delivered.
    pub leaving: &'p Leaving<'a>,
    /// The tool that delivers them.
    pub tool: SourceTool,
    /// The deleted delivery object.
    pub object: &'p Member,
    /// Its delivery in the delivery graph, if it is there.
    pub known: Option<&'a KnownDelivery>,
    /// The user's choices about delivery tools.
    pub choice: &'p DeliveryChoice,
}

impl<'a> DeletedDelivery<'a, '_> {
    /// Returns the requests of the tool and the objects that it spares.
    pub fn withdrawal(&self) -> Withdrawal<'a> {
        match (self.tool, self.known) {
            (SourceTool::Flux, _) => self.with_kustomization(),
            (SourceTool::FluxRelease, _) => {
                let settings = HelmReleaseSettings::of(&self.object.object);
                flux::helm_release_deleted(self.leaving, self.choice.helm_version, settings)
            }
            (SourceTool::ArgoCd, Some(known)) => self.with_application(known),
            // The Applications of a set are deleted. If its policy permits no deletions, some of them stay (recorded).
            (SourceTool::ArgoCdSet, Some(known)) => Withdrawal {
                is_race: never_deletes(&known.settings),
                ..generated_deleted(self.leaving, known)
            },
            (SourceTool::ArgoCd | SourceTool::ArgoCdSet, None) => Withdrawal::nothing("is unknown"),
        }
    }

    fn with_kustomization(&self) -> Withdrawal<'a> {
        let settings = match self.known {
            Some(known) => KustomizationSettings::applied(&known.settings),
            None => KustomizationSettings::of(&self.object.object),
        };
        excluding_unpruned(self.leaving, self.known, |leaving| {
            flux::kustomization_deleted(leaving, settings)
        })
    }

    fn with_application(&self, known: &'a KnownDelivery) -> Withdrawal<'a> {
        let finalizers = known.settings.finalizers.iter().map(String::as_str);
        let Some(policy) = deletion_policy(finalizers) else {
            return Withdrawal::nothing("has no resources finalizer");
        };
        let (spared, leaving) = if has(&known.settings.sync_options, "Delete=false") {
            with_own_option(self.leaving, known, "Delete=false")
        } else {
            (Vec::new(), self.leaving.clone())
        };
        if leaving.members.is_empty() && !spared.is_empty() {
            return Withdrawal::nothing(DELETE_OPTION);
        }
        if any_has(&leaving, known, "Delete=confirm") {
            return Withdrawal::nothing(AWAITS_CONFIRMATION);
        }
        let policy = self.choice.cascade.unwrap_or(policy);
        let mut deleted = Withdrawal {
            is_possible: known.is_possible,
            ..excluding(
                &leaving,
                known,
                |marks| {
                    let hook = marks.is_transient.then_some(Exemption::Hook);
                    option(marks, "Delete=false").or(hook)
                },
                |leaving| argocd::application_deleted(leaving, policy),
            )
        };
        deleted.spared.extend(spared);
        deleted
    }
}

/// Returns the deletion of Applications that an ApplicationSet generated.
pub(super) fn generated_deleted<'a>(
    leaving: &Leaving<'a>,
    known: &KnownDelivery,
) -> Withdrawal<'a> {
    let mut withdrawal = argocd::generated_deleted(leaving);
    withdrawal.is_possible = known.is_possible;
    let keys = withdrawal.requests.iter().map(|request| &request.key);
    let possible = keys.filter(|key| known.objects.possible.contains(&key.to_string()));
    withdrawal.possible = possible.cloned().collect();
    withdrawal
}

/// Applies `act` to the removed objects, except those that the build marks as never pruned by Flux.
pub fn excluding_unpruned<'a>(
    leaving: &Leaving<'a>,
    known: Option<&'a KnownDelivery>,
    act: impl FnOnce(&Leaving<'a>) -> Withdrawal<'a>,
) -> Withdrawal<'a> {
    let Some(known) = known else {
        return act(leaving);
    };
    excluding(
        leaving,
        known,
        |marks| {
            marks
                .is_spared_by_flux
                .then_some(Exemption::FluxOptOut(FLUX_PRUNE))
        },
        act,
    )
}

/// Applies `act` to the removed objects, except those that `spares` keeps because of a mark of the build.
pub(super) fn excluding<'a>(
    leaving: &Leaving<'a>,
    known: &'a KnownDelivery,
    spares: impl Fn(&'a DeliveredMarks) -> Option<Exemption<'a>>,
    act: impl FnOnce(&Leaving<'a>) -> Withdrawal<'a>,
) -> Withdrawal<'a> {
    let mut spared = Vec::new();
    let mut members = Vec::new();
    for member in &leaving.members {
        match known.marks_of(member).and_then(&spares) {
            Some(by) => spared.push((member.id, Exempted { by, place: None })),
            None => members.push(*member),
        }
    }
    let mut withdrawal = act(&Leaving {
        members,
        ..leaving.clone()
    });
    withdrawal.spared.extend(spared);
    withdrawal
}
