//! Volumes that are deleted after the claims that they were bound to.

use std::collections::BTreeMap;

use crate::gc::{Fate, Plan, Step};
use crate::inventory::{Inventory, VolumeChoice};
use crate::kube::{ObjectKey, kinds};
use crate::ownership::{Implied, deletes_with_its_claim};

/// The volumes with reclaim policy `Delete`, by the claim that each is bound to.
#[derive(Debug, Default)]
pub struct Reclaims {
    volumes: BTreeMap<ObjectKey, ObjectKey>,
}

impl Reclaims {
    /// Finds the volumes of claims in the input, and of claims that controllers create for workloads.
    pub fn of(inventory: &Inventory, implied: &Implied<'_>) -> Self {
        let written = inventory
            .members
            .iter()
            .map(|member| (&member.key, member.object.at(&["spec"])));
        let implied = implied
            .objects
            .iter()
            .map(|object| (&object.key, object.spec));
        let claims = written
            .chain(implied)
            .filter(|(claim, _)| claim.is(kinds::PERSISTENT_VOLUME_CLAIM));
        let volumes =
            claims.filter_map(
                |(claim, spec)| match inventory.volume_of(Some(claim), spec) {
                    VolumeChoice::Bound(volume) if deletes_with_its_claim(volume) => {
                        Some((claim.clone(), volume.key.clone()))
                    }
                    _ => None,
                },
            );
        Self {
            volumes: volumes.collect(),
        }
    }

    /// Whether there is no such volume.
    pub fn is_empty(&self) -> bool {
        self.volumes.is_empty()
    }

    /// Returns the deletion of the remaining volumes whose claims are gone at the end of a plan.
    /// The provisioner (external-provisioner, `Delete`) or the control plane sends it.
    pub fn step(&self, plan: &Plan<'_>) -> Option<Step> {
        let fates: BTreeMap<ObjectKey, Fate> = plan.fates(plan.verdict()?).into_iter().collect();
        let reclaimed = self.volumes.iter().filter(|(claim, volume)| {
            fates.get(claim) == Some(&Fate::Gone)
                && matches!(fates.get(volume), Some(Fate::Present(kept)) if !kept.terminating)
        });
        let targets: Vec<ObjectKey> = reclaimed.map(|(_, volume)| volume.clone()).collect();
        (!targets.is_empty()).then(|| Step::delete(targets, None))
    }
}
