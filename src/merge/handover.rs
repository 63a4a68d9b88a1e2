//! Objects that move from one deliverer (a Flux Kustomization or an Argo CD Application) to
//! another. They survive only if the new one belongs to the same tool and applies them before the
//! old one prunes or is deleted: their labels then name the new one, and the old one spares them
//! (fluxcd/pkg ssa/manager_delete.go; argo-cd docs/user-guide/resource_tracking.md).

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};

use super::effect::EffectCertainty;
use super::part::{MergePart, delivering};
use super::pruning::{Delivery, DeliveryChoice, Requested};
use crate::changes::{ChangeKind, Destination, Sides};
use crate::delivery::{Leaving, Withdrawal};
use crate::inventory::Member;
use crate::kube::{ApiVersion, GroupKind, Namespace, ObjectKey};
use crate::kustomize::{Deliverer, SourceTool};

/// Objects that one deliverer prunes and another one applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The old deliverer.
    pub from: Deliverer,
    /// The new deliverer.
    pub to: Deliverer,
    /// Whether the old one certainly deletes before the new one applies: the new one waits for it, or the old one is an
    /// ApplicationSet, which owns its Applications until they are deleted.
    pub pruned_first: bool,
    /// Why the new one never applies them: `it waits for flux-system/a, which …`.
    pub blocked: Option<String>,
    /// Whether the old delivery object is deleted too.
    pub leaves: bool,
    /// The objects, in the order of the requests.
    pub objects: Vec<ObjectKey>,
    /// The objects that are deleted because their delivery object is among the moved ones, each with that object.
    pub delivered: BTreeMap<ObjectKey, ObjectKey>,
}

/// Returns the handovers in a part, except those whose old deliverer waits for the new one, which then applies first.
/// `requested` contains the objects that tools delete.
pub(super) fn handovers(
    part: &MergePart<'_>,
    choice: &DeliveryChoice,
    requested: &Requested,
) -> Vec<Handover> {
    let Some(head) = part.head.filter(|_| choice.by.is_none()) else {
        return Vec::new();
    };
    let mut groups: BTreeMap<(&Destination, &Deliverer, &Deliverer), Vec<&Member>> =
        BTreeMap::new();
    for change in part
        .changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Moved)
    {
        let Sides::Both(was, is) = change.sides else {
            continue;
        };
        if was.tree != part.at || is.tree != part.at {
            continue;
        }
        let (was, is) = (
            part.base.inventory.member(was.id),
            head.inventory.member(is.id),
        );
        let left = part.base.destination(was.file);
        let (Some(from), Some(to)) = (left.deliverer(), head.destination(is.file).deliverer())
        else {
            continue;
        };
        // Compare without the cluster: the graph may name another one once a delivery object has another deliverer.
        if from.key() != to.key() {
            groups.entry((left, from, to)).or_default().push(was);
        }
    }
    let deliveries = LazyCell::new(|| deliveries_by_object(part));
    let found = groups
        .into_iter()
        .filter_map(|((destination, from, to), members)| {
            if part.waits_for(from, to) {
                return None;
            }
            let leaving = Leaving {
                inventory: &part.base.inventory,
                deliveries: part.analysis.deliveries(),
                members,
            };
            let delivery = Delivery {
                part,
                leaving: &leaving,
                destination,
                choice,
                requested,
            };
            let pruned = delivery.of(from);
            let is_awaited = part.waits_for(to, from);
            let pruned_first = is_awaited || is_deleted_by_set(from, &pruned);
            let objects: Vec<ObjectKey> = pruned
                .requests
                .into_iter()
                .map(|request| request.key)
                .collect();
            let from_before = part.delivering(from);
            let leaves = from_before.is_some_and(|from| requested.contain(part.at, from));
            if objects.is_empty() {
                return None;
            }
            let blocked = is_awaited.then(|| blocker(part, from, &objects));
            Some(Handover {
                from: from.clone(),
                to: to.clone(),
                pruned_first,
                blocked: blocked.flatten(),
                leaves,
                delivered: delivered(&delivery, &objects, &deliveries),
                objects,
            })
        });
    found.collect()
}

/// The deliveries of this part, by the keys of their objects.
type DeliveriesByObject<'a> =
    HashMap<&'a ObjectKey, Vec<(&'a Member, &'a Deliverer, &'a Destination)>>;

fn deliveries_by_object<'a>(part: &MergePart<'a>) -> DeliveriesByObject<'a> {
    let mut found = DeliveriesByObject::default();
    for destination in part.base.destinations() {
        let by = destination.deliverer();
        if let Some((by, object)) = by.and_then(|by| Some((by, part.delivering_here(by)?))) {
            let deliveries = found.entry(&object.key).or_default();
            deliveries.push((object, by, destination));
        }
    }
    found
}

/// Returns the objects that are deleted with the delivery objects among `moved`, directly or not, each with its
/// delivery object.
fn delivered(
    delivery: &Delivery<'_, '_>,
    moved: &[ObjectKey],
    deliveries: &DeliveriesByObject<'_>,
) -> BTreeMap<ObjectKey, ObjectKey> {
    let part = delivery.part;
    let mut found = BTreeMap::new();
    let mut seen: HashSet<ObjectKey> = moved.iter().cloned().collect();
    let mut pending = moved.to_vec();
    while let Some(above) = pending.pop() {
        for &(object, by, destination) in deliveries.get(&above).into_iter().flatten() {
            let leaving = Leaving {
                inventory: &part.base.inventory,
                deliveries: part.analysis.deliveries(),
                members: part.base.members_at(destination).collect(),
            };
            let below = Delivery {
                leaving: &leaving,
                destination,
                ..*delivery
            };
            for request in below.deleted(by, object).requests {
                if seen.insert(request.key.clone()) {
                    found.insert(request.key.clone(), above.clone());
                    pending.push(request.key);
                }
            }
        }
    }
    found
}

/// Whether an ApplicationSet certainly deletes the objects. The controller deletes an Application that has an owner
/// reference to the old set and that this set no longer generates. The new set fails to update the Application until
/// then, because an object has only one controller (argo-cd applicationset/controllers/applicationset_controller.go,
/// `createOrUpdateInCluster` and `deleteInCluster`).
fn is_deleted_by_set(from: &Deliverer, pruned: &Withdrawal<'_>) -> bool {
    from.tool == SourceTool::ArgoCdSet
        && !pruned.is_race
        && !pruned.is_possible
        && pruned.possible.is_empty()
}

/// Returns why a deliverer that waits for `from` never applies the `moved` objects: `from` never
/// becomes ready, because it checks the health of an object that it deletes.
fn blocker(part: &MergePart<'_>, from: &Deliverer, moved: &[ObjectKey]) -> Option<String> {
    let old = delivering(&part.head?.inventory, from)?;
    let checked = checked(old, moved)?;
    Some(format!(
        "it waits for `{from}`, which checks the health of {} `{}`, deletes it and so never becomes ready",
        checked.kind(),
        checked.name
    ))
}

/// Returns the first of the `moved` objects among the health checks of a Kustomization (kustomize-controller
/// internal/controller/kustomization_controller.go, `checkHealth` after `prune`).
fn checked<'k>(kustomization: &Member, moved: &'k [ObjectKey]) -> Option<&'k ObjectKey> {
    let spec = kustomization.object.at(&["spec"])?;
    if spec.is_true_at(&["wait"]) {
        return None;
    }
    let moved: BTreeSet<&ObjectKey> = moved.iter().collect();
    spec.items_at("healthChecks").find_map(|check| {
        let [version, kind, name, namespace] =
            ["apiVersion", "kind", "name", "namespace"].map(|key| check.str_at(&[key]));
        let group = ApiVersion::split(version.unwrap_or_default()).group;
        let kind = GroupKind::new(group, kind?);
        let namespaces = [
            Namespace::None,
            Namespace::Named(namespace.unwrap_or_default().into()),
        ];
        let keys = namespaces.map(|own| ObjectKey::new(kind, own, name.unwrap_or_default()));
        keys.iter().find_map(|key| moved.get(key).copied())
    })
}

impl Handover {
    /// Returns how certain the deletion of the objects is.
    pub fn certainty(&self) -> EffectCertainty {
        if self.pruned_first {
            EffectCertainty::Certain
        } else {
            EffectCertainty::Race
        }
    }

    /// Returns a note with the annotation that makes the old deliverer spare the objects, if there is one.
    pub(super) fn note(&self) -> String {
        let kind = self.kind();
        let (objects, they, them) = match self.objects.as_slice() {
            [first, others @ ..] if !others.is_empty() => (
                format!("{first} and {} more move", others.len()),
                "they are",
                "them",
            ),
            objects => (
                objects.iter().map(|one| format!("{one} moves")).collect(),
                "it is",
                "it",
            ),
        };
        let (from, to) = (&self.from, &self.to);
        let Some(recipe) = self.recipe(them) else {
            let possibly = if self.pruned_first { "" } else { "possibly " };
            return format!(
                "{objects} from the {kind} {from} to {to}: {they} {possibly}deleted and created again"
            );
        };
        let outcome = if let Some(blocked) = &self.blocked {
            format!(
                "{they} deleted and not created again, because {to} never applies {them}: {}",
                blocked.replace('`', "")
            )
        } else if self.pruned_first {
            format!("{to} waits for {from}, so {they} deleted and created again")
        } else {
            format!("{they} deleted and created again if {from} prunes before {to} applies")
        };
        format!("{objects} from the {kind} {from} to {to}: {outcome}. To keep {them}, {recipe}")
    }

    /// Returns the kind of the old deliverer in words.
    pub fn kind(&self) -> &'static str {
        match self.from.tool {
            SourceTool::Flux => "Flux Kustomization",
            SourceTool::FluxRelease => "HelmRelease",
            SourceTool::ArgoCd => "Application",
            SourceTool::ArgoCdSet => "ApplicationSet",
        }
    }

    /// Explains how to move objects (`it` or `them`) without deleting them, if an annotation can.
    pub fn recipe(&self, them: &str) -> Option<String> {
        let protection = match self.from.tool {
            SourceTool::Flux => "kustomize.toolkit.fluxcd.io/prune: disabled",
            SourceTool::FluxRelease => "helm.sh/resource-policy: keep",
            SourceTool::ArgoCd => "argocd.argoproj.io/sync-options: Prune=false,Delete=false",
            SourceTool::ArgoCdSet => return None,
        };
        Some(format!(
            "annotate {them} with `{protection}` and merge; then move {them} and merge; then remove the annotation"
        ))
    }
}
