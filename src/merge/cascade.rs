//! Losses of one cause, as one cascade: a removed Flux Kustomization, its Namespace and the nine objects in it.

use std::collections::{BTreeMap, BTreeSet};

use super::effect::DiffEffect;
use super::loss::{Loss, Losses};
use super::part::MergePart;
use super::surprise::Standing;
use super::withdraw::PartWithdrawal;
use crate::delivery::Op;
use crate::finding::Severity;
use crate::inventory::{Member, ScopeSource};
use crate::kube::{GroupKind, Namespace, ObjectKey, kinds};
use crate::ownership::Tie;

/// Everything that dies or gets stuck because of one object that leaves.
#[derive(Clone, Debug)]
pub struct MergeCascade<'a> {
    /// The object that the change shows leaving and that explains the worst of it: where the finding is.
    pub culprit: &'a Member,
    /// The kind of the culprit.
    pub kind: CascadeKind,
    /// As bad as the worst of the losses.
    pub severity: Severity,
    /// The objects that are deleted or get stuck, the worst first.
    pub losses: Vec<Loss<'a>>,
    /// A source that head adds instead of the culprit, and the tree does not show: it may contain the culprit.
    pub instead: Option<String>,
}

/// The kind of the object whose removal explains a cascade, as far as rules distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CascadeKind {
    /// A CustomResourceDefinition.
    Definition,
    /// An object by which a tool delivers others.
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
    /// Nothing else goes with it, and head still refers to it.
    Used,
}

/// The cascades of a part, in the order of their culprits.
pub(super) fn cascades<'a>(
    part: &MergePart<'a>,
    withdrawn: &PartWithdrawal,
    effects: &[DiffEffect],
) -> Vec<MergeCascade<'a>> {
    if withdrawn.requests.is_empty() {
        return Vec::new();
    }
    let causes = Causes {
        part,
        requested: requested(withdrawn),
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
    let mut found: Vec<MergeCascade<'a>> = by_root
        .into_values()
        .filter_map(|losses| cascade(part, losses, &removed))
        .collect();
    found.sort_by_key(|cascade| cascade.culprit.id);
    found
}

fn requested(withdrawn: &PartWithdrawal) -> BTreeSet<&ObjectKey> {
    let deletes = withdrawn
        .requests
        .iter()
        .filter(|request| request.op == Op::Delete);
    deletes.map(|request| &request.key).collect()
}

fn cascade<'a>(
    part: &MergePart<'a>,
    mut losses: Vec<Loss<'a>>,
    removed: &BTreeSet<ObjectKey>,
) -> Option<MergeCascade<'a>> {
    losses.sort_by(|a, b| (b.severity, a.standing, &a.key).cmp(&(a.severity, b.standing, &b.key)));
    let severity = losses.first()?.severity?;
    let worst = losses
        .iter()
        .take_while(|loss| loss.severity == Some(severity));
    // The change shows it: nothing above it took it along, or its own removal is in the change.
    let shown = |(at, key): &(usize, &ObjectKey)| *at == 0 || removed.contains(*key);
    let common = worst
        .map(|loss| -> Vec<ObjectKey> {
            loss.because
                .iter()
                .enumerate()
                .filter(shown)
                .map(|(_, key)| key.clone())
                .collect()
        })
        .reduce(|all, one| {
            let same = all.iter().zip(&one).take_while(|(a, b)| a == b).count();
            all[..same].to_vec()
        })?;
    let explains = |key| {
        let member = part.applied_before(key)?;
        Some((member, kind(part, member, &losses)?))
    };
    let (culprit, kind) = common.iter().rev().find_map(explains)?;
    let instead = part.unseen_source(culprit).map(str::to_owned);
    Some(MergeCascade {
        culprit,
        kind,
        severity,
        losses,
        instead,
    })
}

impl CascadeKind {
    /// The kind of the removal of an object, as far as the object's kind decides it.
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

/// The kind of an object, as far as its removal explains the losses.
fn kind(part: &MergePart<'_>, member: &Member, losses: &[Loss<'_>]) -> Option<CascadeKind> {
    if let Some(kind) = CascadeKind::of(member.object.group_kind()) {
        return Some(kind);
    }
    let lost = losses
        .iter()
        .filter(|loss| loss.because.contains(&member.key));
    let generates = || part.analysis.ties().from(member.id).iter().any(Tie::owns);
    if lost
        .clone()
        .any(|loss| loss.key == member.key && loss.data.is_some())
    {
        return Some(CascadeKind::Data);
    }
    if generates() {
        return Some(CascadeKind::Generator);
    }
    let own = |loss: &&Loss<'_>| loss.key == member.key;
    if lost.clone().any(|loss| !own(&loss)) {
        return Some(CascadeKind::Owner);
    }
    let is_used = lost.clone().any(|loss| !loss.users.is_empty());
    is_used.then_some(CascadeKind::Used)
}

/// Causes above the root of a chain: objects that took it along outside of a simulation.
struct Causes<'a, 'p> {
    part: &'p MergePart<'a>,
    requested: BTreeSet<&'p ObjectKey>,
}

impl Causes<'_, '_> {
    fn complete(&self, because: &[ObjectKey]) -> Vec<ObjectKey> {
        let mut chain = because.to_vec();
        while let Some(above) = chain.first().and_then(|root| self.above(root)) {
            // A Kustomization may deliver itself.
            if chain.contains(&above) {
                break;
            }
            chain.insert(0, above);
        }
        chain
    }

    /// The object that delivers, contains or defines an object, if that is deleted as well.
    fn above(&self, key: &ObjectKey) -> Option<ObjectKey> {
        let member = self.part.applied_before(key)?;
        let delivers = || {
            self.part
                .deliverer_of(member)
                .map(|member| member.key.clone())
        };
        let contains = || match &key.namespace {
            Namespace::Named(name) => Some(ObjectKey::of_namespace(name.clone())),
            _ => None,
        };
        let defines = || match member.resolution.source {
            ScopeSource::Crd(id) => Some(self.part.base.inventory.member(id).key.clone()),
            _ => None,
        };
        let deleted = |key: &ObjectKey| self.requested.contains(key);
        delivers()
            .filter(deleted)
            .or_else(|| contains().filter(deleted))
            .or_else(|| defines().filter(deleted))
            .filter(|above| above != key)
    }
}
