//! The fate of objects that a delivery object no longer delivers.

use std::collections::BTreeSet;

use super::deleted::{DeletedDelivery, excluding_unpruned};
use super::part::MergePart;
use super::replaced::ends_on_its_own;
use super::uninstalled::uninstalling;
use super::withdraw::upgraded;
use crate::changes::{Destination, KnownDelivery, TreePlace};
use crate::delivery::flux::{HelmReleaseSettings, KustomizationSettings};
use crate::delivery::helm::HelmVersion;
use crate::delivery::{DeliveryTool, Leaving, Withdrawal, flux};
use crate::inventory::{Member, ObjectId};
use crate::kube::{GroupKind, Namespace, ObjectKey, Policy};
use crate::kustomize::{Deliverer, SourceTool, pointed_folders};

/// The user's choices about delivery tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryChoice {
    /// The tool that delivers everything; by default each object's own.
    pub by: Option<DeliveryTool>,
    /// The version of Helm.
    pub helm_version: HelmVersion,
    /// The propagation policy of the tools' deletes, instead of their own.
    pub cascade: Option<Policy>,
    /// Whether an unknown tool prunes; otherwise it deletes nothing.
    pub unknown_prunes: bool,
}

/// Why a tool that cannot build sends nothing.
pub(super) const CANNOT_BUILD: &str = "no longer applies its sources";

/// Why objects may be pruned although the change turns pruning off.
pub(super) const STOPS_PRUNING: &str = "stops pruning with this change, but handles the changed sources first if its own object \
    is not updated by then";

/// Why a tool that delivers another commit of the tree than the merged one sends nothing.
pub(super) const FIXED_REVISION: &str = "delivers a fixed revision, and not the merged one";

/// Objects that a delivery object no longer delivers.
pub(super) struct Delivery<'a, 'p> {
    pub(super) part: &'p MergePart<'a>,
    pub(super) leaving: &'p Leaving<'a>,
    pub(super) destination: &'p Destination,
    pub(super) choice: &'p DeliveryChoice,
    /// The objects that tools delete, in this part and in the parts before it.
    pub(super) requested: &'p Requested,
}

/// The objects that tools delete.
#[derive(Debug, Default)]
pub struct Requested {
    /// Keys in the current part.
    pub(super) here: BTreeSet<ObjectKey>,
    /// Objects of base in the parts before it.
    pub(super) elsewhere: BTreeSet<TreePlace>,
}

impl Requested {
    /// Whether a tool deletes an object of a part, seen from the part `here`.
    pub(super) fn contain(&self, here: usize, (tree, member): (usize, &Member)) -> bool {
        let id = member.id;
        if tree == here {
            self.here.contains(&member.key)
        } else {
            self.elsewhere.contains(&TreePlace { tree, id })
        }
    }

    /// Turns the requests of `part` into those of a previous part, before the next one is planned.
    pub(super) fn into_previous(mut self, part: &MergePart<'_>) -> Self {
        let inventory = &part.base.inventory;
        let tree = part.at;
        let ids = self.here.iter().flat_map(|key| inventory.with_key(key));
        let places = ids.map(|&id| TreePlace { tree, id });
        self.elsewhere.extend(places);
        self.here.clear();
        self
    }
}

impl<'a> Delivery<'a, '_> {
    /// Returns the fate of the objects: pruned if their delivery object stays, deleted with it if
    /// it is deleted. Neither happens if only the tree loses it and its sources: its build fails.
    pub(super) fn of(&self, deliverer: &Deliverer) -> Withdrawal<'a> {
        let object = self.part.base.object_of(deliverer);
        let before = self.part.delivering(&object);
        let deleted = before.filter(|before| self.requested.contain(self.part.at, *before));
        let deleted = deleted.map(|(_, member)| member);
        // A file that nothing applies any more may still contain a deleted object.
        let after = self.part.delivering_in_head(&object);
        let after = after.filter(|_| {
            deleted.is_none()
                || self.part.is_still_delivering(&object)
                || uninstalling(self.part, &self.requested.here).is_some()
        });
        if deliverer.tool == SourceTool::FluxRelease {
            return self.of_release(deliverer, deleted, after);
        }
        if deliverer.tool != SourceTool::Flux {
            let Some(known) = self.part.base.delivery(deliverer) else {
                return Withdrawal::nothing("is unknown");
            };
            let stays = self.part.is_still_delivering(&object);
            return self.of_argo(deliverer, known, deleted, stays);
        }
        let mut withdrawal = match (before, after) {
            (_, Some(after)) if !self.finds_sources(deliverer, after) => {
                Withdrawal::nothing("no longer has sources")
            }
            (Some((_, before)), Some(after)) if kube_config(before) != kube_config(after) => {
                Withdrawal::nothing("delivers into another cluster now")
            }
            (_, Some(after)) => {
                let pruned = self.pruned(deliverer, after);
                Withdrawal {
                    anyway: keys_of(&pruned),
                    ..pruned
                }
            }
            (Some((_, before)), None) => {
                let pruned = self
                    .sources_stay()
                    .then(|| self.still_pruned(deliverer, before));
                match (deleted, pruned) {
                    (Some(object), pruned) => Withdrawal {
                        anyway: pruned.as_ref().map(keys_of).unwrap_or_default(),
                        ..self.deleted_by_flux(deliverer, object)
                    },
                    // A Kustomization that prunes itself is deleted with everything that it applied.
                    (None, Some(pruned)) if keys_of(&pruned).contains(&before.key) => {
                        self.deleted_by_flux(deliverer, before)
                    }
                    (None, Some(pruned)) => pruned,
                    (None, None) => Withdrawal::nothing("no longer has sources"),
                }
            }
            // A Kustomization that the Flux Operator created is in no tree.
            (None, None) => self
                .pruned_before_failing(deliverer)
                .or_else(|| self.pruned_by_flux(deliverer))
                .unwrap_or_else(|| Withdrawal::nothing("is unknown")),
        };
        // A delivery that fails in base may have applied the objects before it failed.
        let known = self.part.base.delivery(deliverer);
        let doubts = known.filter(|known| !known.objects.possible.is_empty());
        let keys = withdrawal.requests.iter().map(|request| &request.key);
        let doubtful = keys.filter(|key| {
            doubts.is_some_and(|known| known.objects.possible.contains(&key.to_string()))
        });
        let doubtful: Vec<ObjectKey> = doubtful.cloned().collect();
        withdrawal.possible.extend(doubtful);
        withdrawal.is_possible |= known.is_some_and(|known| known.error.is_some());
        withdrawal
    }

    /// Returns the fate of objects that are removed from a rendered HelmRelease. `deleted` is its object in base, if a
    /// tool deletes it; `after` is its object in head.
    fn of_release(
        &self,
        by: &Deliverer,
        deleted: Option<&Member>,
        after: Option<&Member>,
    ) -> Withdrawal<'a> {
        let known = self.part.base.delivery(by);
        let in_head = self.part.delivery_in_head(by);
        let mut withdrawal = match (in_head, deleted) {
            (Some(is), _) if is.settings.suspend == Some(true) => {
                Withdrawal::nothing("is suspended")
            }
            (Some(is), _) if is.error.is_some() => Withdrawal::nothing(CANNOT_BUILD),
            // Helm-controller uninstalls a release before it installs one of another name (internal/action/verify.go).
            (Some(is), _) if self.part.is_another_release(by) => self.reinstalled(known, is, after),
            (Some(_), _) => upgraded(self.part, self.leaving, self.destination, self.choice),
            (None, Some(object)) => self.deleted(by, object),
            (None, None) => Withdrawal::nothing("stays in the cluster"),
        };
        let mut both = [known, in_head].into_iter().flatten();
        withdrawal.may_fail = in_head.and_then(|known| known.may_fail.as_deref());
        withdrawal.is_possible =
            withdrawal.may_fail.is_some() || both.any(|known| !known.unread.is_empty());
        withdrawal
    }

    /// Returns the uninstallation of a release that another one replaces. Namespaced objects without a written namespace
    /// stay if the namespace changes: the uninstall looks for them in the new one (recorded:
    /// helm-target-namespace-changed).
    fn reinstalled(
        &self,
        known: Option<&KnownDelivery>,
        is: &KnownDelivery,
        after: Option<&Member>,
    ) -> Withdrawal<'a> {
        let [was, is] =
            [known, Some(is)].map(|known| Some(&known?.settings.release.as_ref()?.namespace));
        let all = self.part.base.members_at(self.destination);
        let (left, members): (Vec<&Member>, Vec<&Member>) = all.partition(|member| {
            let marks = known.and_then(|known| known.marks_of(member));
            let is_placed = marks.is_some_and(|marks| marks.is_placed_by_release);
            was != is && is_placed && member.key.namespace != Namespace::None
        });
        let leaving = Leaving {
            members,
            ..self.leaving.clone()
        };
        let settings = after.map(|member| HelmReleaseSettings::of(&member.object));
        let settings = settings.unwrap_or_default();
        let version = self.choice.helm_version;
        let mut withdrawal = flux::helm_release_deleted(&leaving, version, settings);
        let left = left.iter().map(|member| member.id);
        withdrawal.outside.extend(left);
        withdrawal
    }

    /// Returns the pruning by a deliverer that left the tree and stays in the cluster, and whose folder still exists.
    fn still_pruned(&self, by: &Deliverer, deliverer: &Member) -> Withdrawal<'a> {
        let (built, left) = self.parted(|member| self.part.is_built(member));
        if left.members.is_empty() {
            return Withdrawal::nothing("stays in the cluster with all of its sources");
        }
        let mut pruned = Delivery {
            leaving: &left,
            ..*self
        }
        .pruned(by, deliverer);
        pruned.outside.extend(built);
        pruned
    }

    /// Splits the removed objects into those that the sources still build and the rest.
    pub(super) fn parted(
        &self,
        is_built: impl Fn(&Member) -> bool,
    ) -> (Vec<ObjectId>, Leaving<'a>) {
        let all = self.leaving.members.iter();
        let (built, left): (Vec<&Member>, Vec<&Member>) = all.partition(|member| is_built(member));
        let left = Leaving {
            members: left,
            ..self.leaving.clone()
        };
        (built.iter().map(|member| member.id).collect(), left)
    }

    /// Returns the pruning by a Kustomization of the delivery graph. It reconciles the change once with its settings in
    /// base before its own object is updated: an entry point always, others almost always (recorded: three of three).
    fn pruned_by_flux(&self, by: &Deliverer) -> Option<Withdrawal<'a>> {
        let known = self.part.base.delivery(by);
        let after = self.part.delivery_in_head(by).or(known)?;
        let may_fail = after.may_fail.as_deref();
        let is_entry = after.parent.is_none();
        if keeps_revision(known, after) {
            return Some(Withdrawal::nothing(FIXED_REVISION));
        }
        let after = KustomizationSettings::applied(&after.settings);
        let deleted_before = known.map(|known| KustomizationSettings::applied(&known.settings));
        let deleted_before = deleted_before.filter(|before| before.deletes());
        // Without pruning, an object that leaves the sources leaves the inventory for good
        // (kustomize-controller internal/controller/kustomization_controller.go, `reconcile`).
        let forgets = known.is_some_and(|known| {
            known.settings.prune == Some(false) && known.settings.suspend != Some(true)
        });
        let pruned = match deleted_before {
            None if forgets && is_entry => Withdrawal::nothing("does not prune yet"),
            None if forgets => Withdrawal {
                is_race: true,
                ..excluding_unpruned(self.leaving, known, |leaving| flux::prune(leaving, after))
            },
            Some(before) if !after.deletes() => Withdrawal {
                is_race: !is_entry,
                late: Some(STOPS_PRUNING),
                ..excluding_unpruned(self.leaving, known, |leaving| flux::prune(leaving, before))
            },
            _ => excluding_unpruned(self.leaving, known, |leaving| flux::prune(leaving, after)),
        };
        Some(Withdrawal {
            is_possible: pruned.is_possible || may_fail.is_some(),
            may_fail,
            ..pruned
        })
    }

    /// Returns the pruning by a Kustomization whose build succeeds once before it fails.
    fn pruned_first(&self, by: &Deliverer) -> Option<Withdrawal<'a>> {
        self.pruned_once(self.part.delivery_in_head(by)?, |left| {
            Delivery {
                leaving: left,
                ..*self
            }
            .pruned_by_flux(by)
        })
    }

    /// Returns the pruning by a delivery that fails after its first build, if it has one. `prune` decides about the objects
    /// that leave that build.
    pub(super) fn pruned_once(
        &self,
        failing: &KnownDelivery,
        prune: impl FnOnce(&Leaving<'a>) -> Option<Withdrawal<'a>>,
    ) -> Option<Withdrawal<'a>> {
        let built = failing.built_first.as_ref()?;
        let (kept, left) = self.parted(|member| built.contains(&member.key.to_string()));
        let pruned = prune(&left)?;
        (!pruned.requests.is_empty()).then_some(Withdrawal {
            is_race: true,
            kept,
            ..pruned
        })
    }

    fn pruned(&self, by: &Deliverer, deliverer: &Member) -> Withdrawal<'a> {
        if let Some(pruned) = self.pruned_before_failing(by) {
            return pruned;
        }
        let rejected = self.rejected(by);
        if let Some(rejected) = rejected.iter().find(|one| !ends_on_its_own(one)) {
            return Withdrawal {
                rejected: Some(rejected.key.clone()),
                ..Withdrawal::nothing("can no longer apply its sources")
            };
        }
        let mut pruned = self.pruned_by_flux(by).unwrap_or_else(|| {
            flux::prune(self.leaving, KustomizationSettings::of(&deliverer.object))
        });
        // The rejected Jobs may be gone by now.
        pruned.is_possible |= !rejected.is_empty();
        self.waiting(by, pruned)
    }

    /// Adjusts the pruning by a Kustomization: it prunes nothing while it waits for one that can no
    /// longer apply its sources.
    fn waiting(&self, by: &Deliverer, pruned: Withdrawal<'a>) -> Withdrawal<'a> {
        if pruned.requests.is_empty() {
            return pruned;
        }
        let Some(rejection) = self.part.awaits_rejected(by) else {
            return pruned;
        };
        if !self.part.always_waits(by, rejection) || rejection.ends_on_its_own {
            return Withdrawal {
                is_race: true,
                ..pruned
            };
        }
        Withdrawal {
            rejected: Some(rejection.key.clone()),
            ..Withdrawal::nothing("waits for a Kustomization that can no longer apply its sources")
        }
    }

    /// Returns the pruning by a Kustomization that cannot build the objects in head: it applies and deletes nothing,
    /// unless its build succeeds once before it fails. `None` if it can build them.
    fn pruned_before_failing(&self, by: &Deliverer) -> Option<Withdrawal<'a>> {
        self.part.head?.unbuildable(self.destination)?;
        let pruned = self.pruned_first(by);
        Some(pruned.unwrap_or_else(|| Withdrawal::nothing(CANNOT_BUILD)))
    }

    /// Returns the objects that the Kustomization still applies and whose updates the API server rejects. It then applies
    /// and prunes nothing, unless a setting makes it recreate or skip such objects (fluxcd/kustomize-controller
    /// internal/controller/kustomization_controller.go, `apply` before `prune`).
    fn rejected(&self, by: &Deliverer) -> Vec<&'a Member> {
        if self.leaving.members.is_empty() {
            return Vec::new();
        }
        let there = self.part.base.members_at(self.destination);
        there.filter(|base| self.part.fails_on(by, base)).collect()
    }

    /// Returns the fate of the objects of a deleted Kustomization.
    fn deleted_by_flux(&self, by: &Deliverer, object: &Member) -> Withdrawal<'a> {
        let known = self.part.base.delivery(by).map(|known| &known.settings);
        let account = known.and_then(|known| known.service_account.as_deref());
        let account = account.map(|name| {
            ObjectKey::new(
                GroupKind::new("", "ServiceAccount"),
                Namespace::Named(by.namespace.as_str().into()),
                name,
            )
        });
        // The Flux Operator may stop the controller before it deletes anything.
        let is_uninstalled = uninstalling(self.part, &self.requested.here).is_some();
        Withdrawal {
            // Without its account, it usually lacks permission to delete (recorded:
            // flux-service-account-removed-too).
            is_race: is_uninstalled
                || account.is_some_and(|account| self.requested.here.contains(&account)),
            ..self.deleted(by, object)
        }
    }

    /// Returns the fate of objects whose delivery object a tool deletes.
    pub(super) fn deleted(&self, by: &Deliverer, object: &Member) -> Withdrawal<'a> {
        DeletedDelivery {
            leaving: self.leaving,
            tool: by.tool,
            object,
            known: self.part.base.delivery(by),
            choice: self.choice,
        }
        .withdrawal()
    }

    /// Whether head still has the folder of the sources.
    fn sources_stay(&self) -> bool {
        let Destination::Root { folder, .. } = self.destination else {
            return false;
        };
        self.exists(folder)
    }

    /// Whether an object of head finds a folder that it points at. Without one it cannot build, and a tool that cannot
    /// build prunes nothing (fluxcd/kustomize-controller internal/controller/kustomization_controller.go,
    /// "kustomization path not found"; argo-cd util/app/path/path.go, "app path does not exist"). Other repositories
    /// are assumed to exist.
    fn finds_sources(&self, by: &Deliverer, deliverer: &Member) -> bool {
        let known = self.part.delivery_in_head(by);
        let pointers = pointed_folders(&deliverer.object);
        // The graph is more precise than the object: a source may have a folder as its root.
        known.map_or_else(|| self.sources_stay(), |known| known.error.is_none())
            || pointers.is_empty()
            || pointers
                .iter()
                .any(|pointer| pointer.folder.is_empty() || self.exists(&pointer.folder))
    }

    fn exists(&self, folder: &str) -> bool {
        let mut parts = self.part.sides.head.iter();
        parts.any(|part| part.contains_folder(folder))
    }
}

/// Whether a delivery has the same fixed revision as before.
pub(super) fn keeps_revision(before: Option<&KnownDelivery>, after: &KnownDelivery) -> bool {
    let was = before.and_then(|known| known.settings.revision.as_ref());
    was.is_some() && was == after.settings.revision.as_ref()
}

fn keys_of(withdrawal: &Withdrawal<'_>) -> BTreeSet<ObjectKey> {
    let requests = withdrawal.requests.iter();
    requests.map(|request| request.key.clone()).collect()
}

/// Returns the name of the object with the kubeconfig of a Kustomization.
fn kube_config(kustomization: &Member) -> Option<&str> {
    let value = kustomization.object.value();
    let mut kinds = ["secretRef", "configMapRef"].into_iter();
    kinds.find_map(|kind| value.str_at(&["spec", "kubeConfig", kind, "name"]))
}
