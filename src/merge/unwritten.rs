//! Effects on claims of StatefulSets, products of controllers, and data: no manifest contains them.

use std::collections::BTreeMap;

use super::effect::{DiffEffect, EffectCertainty, EffectKind};
use super::effects::EffectInputs;
use crate::finding::Certainty;
use crate::gc::Fate;
use crate::inventory::Member;
use crate::knowledge::DataFate;
use crate::kube::{ObjectKey, Policy, kinds};
use crate::ownership::{ImpliedObject, TieKind, data_loss, reclaim_policy};

impl<'a> EffectInputs<'a> {
    /// Returns the claims that StatefulSets create. Other implied objects are reported with their owner or created
    /// again with it.
    pub(super) fn claims(&self) -> impl Iterator<Item = &'a ImpliedObject<'a>> + use<'a> {
        self.implied.objects.iter().filter(|object| {
            object.key.is(kinds::PERSISTENT_VOLUME_CLAIM) && object.owner.is(kinds::STATEFUL_SET)
        })
    }

    /// Returns the deletion of a claim of a StatefulSet, and the loss of its data unless the volume is retained.
    pub(super) fn lost_claim(
        &self,
        claim: &ImpliedObject<'_>,
        certainty: EffectCertainty,
        because: Vec<ObjectKey>,
    ) -> Vec<DiffEffect> {
        let certain = match reclaim_policy(&self.part.base.inventory, Some(&claim.key), claim.spec)
        {
            Some(DataFate::Lost) => Some(true),
            Some(DataFate::Unknown) | None => Some(false),
            Some(DataFate::Kept) => None,
        };
        let lost = certain.map(|certain| {
            let certainty = certainty.and(certain);
            self.effect(&claim.key, EffectKind::DataLost, certainty, because.clone())
        });
        let deleted = self.effect(&claim.key, EffectKind::GeneratedDeleted, certainty, because);
        lost.into_iter().chain([deleted]).collect()
    }

    /// Returns the deletion of objects that no manifest contains: those that a controller created for `member`, as
    /// dependents or in a namespace that is deleted. `with_owner` is the certainty for dependents, if they are deleted.
    pub(super) fn products(
        &self,
        member: &Member,
        (certainty, with_owner): (EffectCertainty, Option<EffectCertainty>),
        because: &[ObjectKey],
        fates: &BTreeMap<ObjectKey, Fate>,
    ) -> Vec<DiffEffect> {
        let inventory = &self.part.base.inventory;
        let products = self.part.analysis.ties().from(member.id).iter();
        let products = products.filter_map(|tie| {
            let namespace = tie.to.key.namespace.name().map(ObjectKey::of_namespace);
            let goes_with_namespace = match namespace.and_then(|namespace| fates.get(&namespace)) {
                Some(Fate::Present(present)) => present.terminating,
                Some(Fate::Gone) => true,
                None => false,
            };
            match tie.kind {
                TieKind::Generates { .. } if goes_with_namespace => Some((tie, certainty)),
                TieKind::Generates { owned: true } => Some((tie, with_owner?)),
                TieKind::Generates { owned: false } | TieKind::Uses => None,
            }
        });
        let unseen = products.filter(|(tie, _)| inventory.with_key(&tie.to.key).is_empty());
        let deleted = unseen.map(|(tie, certainty)| {
            let certainty = certainty.and(tie.certainty == Certainty::Certain);
            let chain = because.iter().chain([&tie.to.key]).cloned().collect();
            self.effect(&tie.to.key, EffectKind::GeneratedDeleted, certainty, chain)
        });
        deleted.collect()
    }

    /// Returns the policies of the first requests for the objects.
    pub(super) fn policies(&self) -> BTreeMap<&ObjectKey, Option<Policy>> {
        let mut policies = BTreeMap::new();
        for request in &self.withdrawn.requests {
            policies.entry(&request.key).or_insert(request.policy);
        }
        policies
    }

    /// Returns the loss of the data that is deleted with an object.
    pub(super) fn data(
        &self,
        member: &Member,
        certainty: EffectCertainty,
        because: &[ObjectKey],
    ) -> Option<DiffEffect> {
        let tables = self.part.analysis.tables();
        let data = data_loss(&self.part.base.inventory, tables, member)?;
        let certain = match data.fate {
            DataFate::Lost => data.verified,
            DataFate::Unknown => false,
            DataFate::Kept => return None,
        };
        Some(self.effect(
            &member.key,
            EffectKind::DataLost,
            certainty.and(certain),
            because.to_vec(),
        ))
    }
}

/// Returns how certain the garbage collector deletes the dependents of an owner whose deletion with `policy` may not
/// finish; `None` if it does not. It leaves them alone until the owner is gone, unless the policy is Foreground.
pub(super) fn certainty_with_stuck(
    policy: Option<Policy>,
    certainty: EffectCertainty,
) -> Option<EffectCertainty> {
    if policy == Some(Policy::Foreground) {
        return Some(certainty);
    }
    (certainty != EffectCertainty::Certain).then_some(EffectCertainty::Possible)
}
