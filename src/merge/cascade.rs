//! Losses with one cause, grouped: a removed Flux Kustomization, the Namespace that it delivers, and the objects in it.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashSet;

use super::effect::DiffEffect;
use super::loss::{Loss, Losses};
use super::part::MergePart;
use super::scaled::ScaledSets;
use super::surprise::Standing;
use super::withdraw::PartWithdrawal;
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::{GroupKind, ObjectKey, kinds};
use crate::ownership::Tie;

/// All objects that are deleted or get stuck because one object is removed.
#[derive(Clone, Debug)]
pub struct Cascade<'a> {
    /// The object whose removal explains the worst losses, and is visible in the change. The finding points at it.
    pub culprit: &'a Member,
    /// The kind of the culprit.
    pub kind: CascadeKind,
    /// The highest severity among the losses.
    pub severity: Severity,
    /// The objects that are deleted or get stuck, the worst first.
    pub losses: Vec<Loss<'a>>,
    /// A remote source that head adds, whose content is not in the tree: it may contain the culprit.
    pub instead: Option<String>,
}

/// The kind of the object whose removal explains a cascade, as far as rules distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CascadeKind {
    /// A CustomResourceDefinition.
    Definition,
    /// A delivery object of Flux or Argo CD.
    Delivery,
    /// A Namespace.
    Namespace,
    /// A claim, a volume, or a workload with claims.
    Volume,
    /// A custom resource that is data.
    Data,
    /// A custom resource for which a controller creates objects.
    Generator,
    /// An owner of other objects.
    Owner,
    /// An object that head still refers to, and with which nothing else is deleted.
    Used,
}

/// Returns the cascades of a part, ordered by culprit.
pub(super) fn cascades<'a>(
    part: &MergePart<'a>,
    withdrawn: &PartWithdrawal,
    effects: &[DiffEffect],
) -> Vec<Cascade<'a>> {
    if withdrawn.requests.is_empty() {
        return Vec::new();
    }
    let causes = Causes {
        part,
        requested: withdrawn.deleted(),
    };
    let losses = Losses { part, withdrawn }.of(effects, |because| causes.complete(because));
    let removed: BTreeSet<ObjectKey> = losses
        .iter()
        .filter(|loss| loss.standing == Standing::Removed)
        .map(|loss| loss.key.clone())
        .collect();
    let mut by_root: BTreeMap<ObjectKey, Vec<Loss<'a>>> = BTreeMap::new();
    for loss in losses {
        by_root
            .entry(loss.because[0].clone())
            .or_default()
            .push(loss);
    }
    // Blocked moves and scaled StatefulSets have findings of their own.
    let blocked = withdrawn.handovers.iter();
    let blocked = blocked.filter(|handover| handover.blocked.is_some() && !handover.leaves);
    for key in blocked.flat_map(|handover| &handover.objects) {
        by_root.remove(key);
    }
    for set in ScaledSets::of(part).keys() {
        by_root.remove(set);
    }
    let mut found: Vec<Cascade<'a>> = by_root
        .into_values()
        .filter_map(|losses| cascade(part, losses, &removed))
        .collect();
    found.sort_by_key(|cascade| cascade.culprit.id);
    found
}

fn cascade<'a>(
    part: &MergePart<'a>,
    mut losses: Vec<Loss<'a>>,
    removed: &BTreeSet<ObjectKey>,
) -> Option<Cascade<'a>> {
    losses.sort_by(|a, b| (b.severity, a.standing, &a.key).cmp(&(a.severity, b.standing, &b.key)));
    let severity = losses.first()?.severity?;
    let common = losses
        .iter()
        .take_while(|loss| loss.severity == Some(severity))
        .map(|loss| -> Vec<&ObjectKey> {
            let because = loss.because.iter().enumerate();
            // The change shows a removal if there is no cause above it, or if the change itself removes the object.
            let shown = because.filter(|(at, key)| *at == 0 || removed.contains(*key));
            shown.map(|(_, key)| key).collect()
        })
        .reduce(|all, one| {
            let same = all.iter().zip(&one).take_while(|(a, b)| a == b).count();
            all[..same].to_vec()
        })?;
    let (culprit, kind) = common.iter().rev().find_map(|key| {
        let member = part.applied_before(key)?;
        Some((member, kind(part, member, &losses)?))
    })?;
    let instead = part.unseen_source(culprit).map(str::to_owned);
    Some(Cascade {
        culprit,
        kind,
        severity,
        losses,
        instead,
    })
}

impl CascadeKind {
    /// Returns the kind of cascade that the removal of an object causes, if the object's kind decides it.
    pub fn of(kind: GroupKind<&str>) -> Option<Self> {
        match kind {
            kinds::CUSTOM_RESOURCE_DEFINITION => Some(Self::Definition),
            kinds::NAMESPACE => Some(Self::Namespace),
            kinds::APPLICATION
            | kinds::APPLICATION_SET
            | kinds::FLUX_KUSTOMIZATION
            | kinds::HELM_RELEASE => Some(Self::Delivery),
            kinds::PERSISTENT_VOLUME_CLAIM | kinds::PERSISTENT_VOLUME | kinds::STATEFUL_SET => {
                Some(Self::Volume)
            }
            _ => None,
        }
    }
}

/// Returns the kind of cascade that the removal of `member` causes; `None` if no kind fits.
fn kind(part: &MergePart<'_>, member: &Member, losses: &[Loss<'_>]) -> Option<CascadeKind> {
    let losses = losses.iter();
    let mut lost = losses.filter(|loss| loss.because.contains(&member.key));
    // A StatefulSet has no volumes of its own, and its claims stay unless its retention policy deletes them.
    let keeps_claims = member.object.is(kinds::STATEFUL_SET)
        && !lost
            .clone()
            .any(|loss| loss.key.is(kinds::PERSISTENT_VOLUME_CLAIM) || loss.data.is_some());
    let kind = CascadeKind::of(member.object.group_kind()).filter(|_| !keeps_claims);
    if kind.is_some() {
        return kind;
    }
    let mut own = lost.clone().filter(|loss| loss.key == member.key);
    if own.any(|loss| loss.data.is_some()) {
        Some(CascadeKind::Data)
    } else if part.analysis.ties().from(member.id).iter().any(Tie::owns) {
        Some(CascadeKind::Generator)
    } else if lost.clone().any(|loss| loss.key != member.key) {
        Some(CascadeKind::Owner)
    } else {
        let is_used = lost.any(|loss| !loss.users.is_empty());
        is_used.then_some(CascadeKind::Used)
    }
}

/// Finds causes above the root of a chain that the simulation does not show: a deleted deliverer, Namespace or CRD.
struct Causes<'a, 'p> {
    part: &'p MergePart<'a>,
    requested: BTreeSet<&'p ObjectKey>,
}

impl Causes<'_, '_> {
    fn complete(&self, because: &[ObjectKey]) -> Vec<ObjectKey> {
        let mut known: HashSet<ObjectKey> = because.iter().cloned().collect();
        let mut chain: Vec<ObjectKey> = because.iter().rev().cloned().collect();
        // A Kustomization may deliver itself.
        while let Some(above) = chain.last().and_then(|root| self.above(root))
            && known.insert(above.clone())
        {
            chain.push(above);
        }
        chain.reverse();
        chain
    }

    /// Returns the object that delivers, contains or defines an object, if a tool deletes it too.
    fn above(&self, key: &ObjectKey) -> Option<ObjectKey> {
        let member = self.part.applied_before(key)?;
        let deliverer = self.part.deliverer_of(member);
        deliverer
            .map(|deliverer| deliverer.key.clone())
            .into_iter()
            .chain(self.part.containers(member))
            .find(|above| self.requested.contains(above))
            .filter(|above| above != key)
    }
}
