//! Updates that the API server rejects, and the reaction of the object's tool.

use std::collections::BTreeSet;

use foldhash::HashSet;

use super::by_argo::has;
use super::part::{MergePart, with_key};
use crate::changes::{ChangeKind, Destination, RejectedField, Sides, rejected_between};
use crate::charts::in_crds_folder;
use crate::delivery::marks;
use crate::delivery::{FluxObject, Regime};
use crate::inventory::{Member, ObjectId};
use crate::kube::kinds;
use crate::kustomize::{Deliverer, SourceTool};
use crate::yaml::Value;

/// An object that both sides apply at one destination with one key.
#[derive(Clone, Copy, Debug)]
pub struct KeptObject<'a> {
    /// The object in base.
    pub base: &'a Member,
    /// The object in head.
    pub head: &'a Member,
}

impl KeptObject<'_> {
    /// Whether both sides have the annotation.
    fn has_annotation(self, key: &str) -> bool {
        [self.base, self.head]
            .iter()
            .all(|member| member.object.metadata().annotation(key).is_some())
    }
}

/// The answer of a tool to an update that the API server rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The tool reports an error.
    Fails,
    /// The tool deletes the object and creates it again, because of a setting.
    Replaces {
        /// The setting.
        because: &'static str,
    },
    /// The tool recreates the object in any case: it is a hook.
    Recreates,
    /// The tool leaves the object as it is, because of a mark.
    Skips,
}

impl<'a> MergePart<'a> {
    /// Returns the objects that the change keeps at one destination, with other content. Another destination may be in
    /// another cluster.
    pub fn kept(&self) -> impl Iterator<Item = KeptObject<'a>> {
        self.changes.iter().filter_map(move |change| {
            let Sides::Both(was, is) = change.sides else {
                return None;
            };
            if change.kind == ChangeKind::Renamed || was.tree != self.at || is.tree != self.at {
                return None;
            }
            let (base, head) = (self.sides.of_base(was), self.sides.of_head(is));
            let left = self.base.destination(base.file);
            let reached = self.head?.destination(head.file);
            let same = left == reached || left.name().is_none() && reached.name().is_none();
            let applied = same && reached.is_applied() && base.key == head.key;
            applied.then_some(KeptObject { base, head })
        })
    }

    /// Whether the API server rejects the update of an object of base to its content in head.
    pub fn rejects(&self, base: &Member) -> bool {
        self.rejected().contains(&base.id)
    }

    /// Returns the objects of base whose updates the API server rejects.
    pub(super) fn rejected(&self) -> &HashSet<ObjectId> {
        self.rejected.get_or_init(|| {
            let changed = self.counterparts.keys().copied();
            let rejected = changed.filter(|id| {
                let base = self.base.inventory.member(*id);
                let head = self.updated(base);
                head.is_some_and(|head| !self.rejected_fields(KeptObject { base, head }).is_empty())
            });
            rejected.collect()
        })
    }

    /// Whether a Kustomization still applies an object of base and fails, because the API server rejects the update.
    pub(super) fn fails_on(&self, by: &Deliverer, base: &Member) -> bool {
        let regime = Regime::Flux(FluxObject::Kustomization);
        self.rejects(base)
            && self
                .applied_by(by, &base.key)
                .is_some_and(|head| self.answer(regime, KeptObject { base, head }) == Answer::Fails)
    }

    /// Returns the object of head with the key of `base`, preferably of the same deliverer.
    pub fn updated(&self, base: &Member) -> Option<&'a Member> {
        let by = self.base.destination(base.file).deliverer();
        let same = by.and_then(|by| self.applied_by(by, &base.key));
        same.or_else(|| with_key(&self.head?.inventory, &base.key).next())
    }

    /// Returns the fields of an object whose change the API server rejects.
    pub fn rejected_fields(&self, object: KeptObject<'_>) -> Vec<RejectedField> {
        let head = self.head.map(|head| (head, object.head));
        head.map_or_else(Vec::new, |head| {
            rejected_between((self.base, object.base), head)
        })
    }

    /// Returns the answer of a tool to an update that the API server rejects.
    pub fn answer(&self, regime: Regime, kept: KeptObject<'_>) -> Answer {
        let KeptObject { base, head } = kept;
        let built = self.head.and_then(|part| part.marks_of(head));
        let is_of_flux = regime == Regime::Flux(FluxObject::Kustomization);
        if kept.has_annotation(marks::HELM_HOOK) && !is_of_flux
            || regime == Regime::ArgoCd
                && (kept.has_annotation(marks::ARGOCD_HOOK)
                    || [self.base.marks_of(base), built]
                        .into_iter()
                        .all(|marks| marks.is_some_and(|marks| marks.is_hook)))
        {
            return Answer::Recreates;
        }
        let is_skipped = is_skipped(head) || built.is_some_and(|marks| marks.is_skipped_by_flux);
        if is_of_flux && is_skipped || self.leaves_definition(regime, base) {
            return Answer::Skips;
        }
        let because = match regime {
            Regime::ArgoCd => {
                let is_forced = match self.force_of_argo_cd(kept) {
                    Some(Force::Replace) => !is_updated_by_argo_cd(base),
                    Some(Force::Apply { is_server_side }) => !is_server_side,
                    None => false,
                };
                is_forced.then_some("the sync option `Force=true` of the object")
            }
            Regime::Flux(FluxObject::Kustomization)
                if is_forced_by_mark(head)
                    || built.is_some_and(|marks| marks.is_forced_by_flux) =>
            {
                Some("the annotation `kustomize.toolkit.fluxcd.io/force` of the object")
            }
            Regime::Flux(FluxObject::Kustomization) => {
                // It applies head with its settings of base first, and again once its parent has changed them.
                let by = self.base.destination(base.file).deliverer();
                let after = by.and_then(|by| self.delivering_in_head(&self.base.object_of(by)));
                let mut both = [self.deliverer_of(base), after].into_iter().flatten();
                both.any(|one| one.object.value().is_true_at(&["spec", "force"]))
                    .then_some("`spec.force` of the Kustomization")
            }
            // A HelmRelease's `force` replaces objects without deleting them (helm pkg/kube/client.go, updateResource).
            Regime::Helm | Regime::Flux(FluxObject::HelmRelease) | Regime::Kubectl => None,
        };
        because.map_or(Answer::Fails, |because| Answer::Replaces { because })
    }

    /// Whether an upgrade leaves an object as it is because its chart has it in the folder `crds`.
    fn leaves_definition(&self, regime: Regime, base: &Member) -> bool {
        let template = self
            .analysis
            .deliveries()
            .template(&self.base.inventory, base);
        let is_replaced = match regime {
            Regime::Helm => false,
            Regime::Flux(FluxObject::HelmRelease) => {
                self.deliverer_of(base).is_some_and(|release| {
                    let policy = release.object.value().str_at(&["spec", "upgrade", "crds"]);
                    policy == Some("CreateReplace")
                })
            }
            _ => return false,
        };
        template.is_some_and(in_crds_folder) && !is_replaced
    }

    /// Returns the unchanged objects that Argo CD nevertheless deletes and creates again: a sync
    /// applies all objects of an Application, unless `ApplyOutOfSyncOnly=true` is set (argo-cd
    /// gitops-engine/pkg/sync/sync_context.go, Sync and filterOutOfSyncTasks).
    pub(super) fn synced_unchanged(&self) -> Vec<KeptObject<'a>> {
        let Some(head) = self.head else {
            return Vec::new();
        };
        let changed = self.changes.iter();
        let changed = changed.filter(|change| change.kind != ChangeKind::Moved);
        let changed = changed.filter_map(|change| change.sides.head());
        let changed = changed.filter(|place| place.tree == self.at);
        let changed: BTreeSet<&Destination> = changed
            .map(|place| head.destination(head.inventory.member(place.id).file))
            .collect();
        let mut found = Vec::new();
        for destination in changed.into_iter().filter(|one| self.applies_all(one)) {
            for base in self.base.members_at(destination) {
                if self.counterparts.contains_key(&base.id) {
                    continue;
                }
                let mut same = with_key(&head.inventory, &base.key);
                let same = same.find(|member| head.destination(member.file) == destination);
                let kept = same.map(|head| KeptObject { base, head });
                found.extend(
                    kept.filter(|kept| self.is_replaced_at_any_sync(Regime::ArgoCd, *kept)),
                );
            }
        }
        found
    }

    /// Whether an Application of head syncs a change on its own and then applies all of its objects.
    fn applies_all(&self, destination: &Destination) -> bool {
        let by = destination.deliverer();
        let by = by.filter(|by| by.tool == SourceTool::ArgoCd);
        let Some(known) = by.and_then(|by| self.delivery_in_head(by)) else {
            return false;
        };
        let settings = &known.settings;
        settings.automated == Some(true)
            && settings.suspend != Some(true)
            && settings.revision.is_none()
            && known.error.is_none()
            && !has(&settings.sync_options, "ApplyOutOfSyncOnly=true")
    }

    /// Whether the tool deletes the object and creates it again whenever it applies it: Argo CD runs `kubectl replace
    /// --force`.
    pub fn is_replaced_at_any_sync(&self, regime: Regime, kept: KeptObject<'_>) -> bool {
        regime == Regime::ArgoCd
            && self.force_of_argo_cd(kept) == Some(Force::Replace)
            && !is_updated_by_argo_cd(kept.base)
            && self.answer(regime, kept) != Answer::Recreates
    }

    /// Returns how Argo CD forces changes of an object, by the sync options of the object in head and of its Application
    /// (argo-cd gitops-engine/pkg/sync/sync_context.go, applyObject).
    fn force_of_argo_cd(&self, kept: KeptObject<'_>) -> Option<Force> {
        let written = kept
            .head
            .object
            .metadata()
            .annotation(marks::ARGOCD_SYNC_OPTIONS);
        let written = written.map(|options| marks::sync_options(options.value));
        let built = self.head.and_then(|part| part.marks_of(kept.head));
        let built = built.iter().flat_map(|marks| &marks.sync_options);
        let options = written.into_iter().flatten();
        let options: Vec<&str> = options.chain(built.map(String::as_str)).collect();
        if !options.contains(&"Force=true") {
            return None;
        }
        let application = self.deliverer_of(kept.base);
        let of_all =
            application.and_then(|one| one.object.at(&["spec", "syncPolicy", "syncOptions"]));
        let of_all = of_all.into_iter().flat_map(Value::items);
        let of_all: Vec<&str> = of_all.filter_map(Value::as_str).collect();
        let replaces = [&options, &of_all]
            .iter()
            .any(|options| options.contains(&"Replace=true"));
        let is_server_side = options.contains(&"ServerSideApply=true")
            || of_all.contains(&"ServerSideApply=true")
                && !options.contains(&"ServerSideApply=false");
        Some(if replaces {
            Force::Replace
        } else {
            Force::Apply { is_server_side }
        })
    }
}

/// How Argo CD changes an object with the sync option `Force=true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Force {
    /// With `Replace=true`: it deletes the object and creates it again.
    Replace,
    /// It does so only if the API server rejects the update; a server-side apply never does.
    Apply { is_server_side: bool },
}

/// Whether Argo CD updates an object in place of a replacement: it is a Namespace or a CRD.
fn is_updated_by_argo_cd(member: &Member) -> bool {
    member.object.is(kinds::NAMESPACE) || member.object.is(kinds::CUSTOM_RESOURCE_DEFINITION)
}

/// Whether an object is a Job with a TTL: the cluster has usually deleted it before it changes.
pub fn ends_on_its_own(member: &Member) -> bool {
    let object = &member.object;
    object.is(kinds::JOB) && object.at(&["spec", "ttlSecondsAfterFinished"]).is_some()
}

/// Whether an annotation or label makes Flux leave an object that exists as it is (fluxcd/pkg ssa/manager_apply.go,
/// `shouldSkipApply`).
fn is_skipped(member: &Member) -> bool {
    let metadata = member.object.metadata();
    marks::FLUX_SKIPS.iter().any(|(key, value)| {
        let marks = [metadata.annotation(key), metadata.label(key)];
        let mut marks = marks.into_iter().flatten();
        marks.any(|mark| mark.value.eq_ignore_ascii_case(value))
    })
}

/// Whether a label or annotation makes Flux recreate the object if it cannot be updated.
fn is_forced_by_mark(member: &Member) -> bool {
    let metadata = member.object.metadata();
    let marks = [
        metadata.annotation(marks::FLUX_FORCE),
        metadata.label(marks::FLUX_FORCE),
    ];
    let mut marks = marks.into_iter().flatten();
    marks.any(|mark| mark.value.eq_ignore_ascii_case("enabled"))
}
