//! Objects that stay although the tool removes everything, with the reasons.

use std::collections::BTreeSet;

use super::withdraw::Withdrawn;
use crate::delivery::{Exempted, Exemption, Withdrawal, marks};
use crate::engine::plan::clusters::PlannedCluster;
use crate::inventory::Inventory;
use crate::kube::{ObjectKey, kinds};
use crate::story::{ImpliedDependent, words};
use crate::text::plain;

/// Returns the spared objects, each once, with the reason as half a sentence.
pub(super) fn spared(
    cluster: PlannedCluster<'_>,
    Withdrawn {
        withdrawal, stays, ..
    }: &Withdrawn<'_>,
) -> Vec<(ObjectKey, String)> {
    let mut all: Vec<(ObjectKey, String)> = if let Some(reason) = &withdrawal.nothing {
        let asked = cluster.asked_for();
        asked
            .map(|member| (member.key.clone(), format!("what delivers it {reason}")))
            .collect()
    } else {
        spared_one_by_one(cluster.inventory(), withdrawal)
    };
    all.extend(stays.iter().cloned());
    let mut seen = BTreeSet::new();
    all.retain(|(key, _)| seen.insert(key.clone()));
    all
}

/// Returns the objects that a tool spares although it deletes others, with the reason as half a sentence.
pub(in crate::engine::plan) fn spared_one_by_one(
    inventory: &Inventory,
    withdrawal: &Withdrawal<'_>,
) -> Vec<(ObjectKey, String)> {
    let spared = withdrawal.spared.iter();
    let spared = spared.map(|(id, spared)| (*id, why(spared)));
    let outside = withdrawal.outside.iter();
    let outside = outside.map(|id| (*id, "not in the namespace".to_owned()));
    spared
        .chain(outside)
        .map(|(id, why)| (inventory.member(id).key.clone(), why))
        .collect()
}

fn why(spared: &Exempted<'_>) -> String {
    let until = if spared.until_confirmed() {
        ", until it is annotated with argocd.argoproj.io/deletion-approved"
    } else {
        ""
    };
    let why = match spared.by {
        Exemption::Keep => format!("{}: keep", marks::HELM_RESOURCE_POLICY),
        Exemption::UnknownPolicy(policy) => format!(
            "{}: {}, which Helm does not know: it neither deletes nor reports the object",
            marks::HELM_RESOURCE_POLICY,
            plain::one_line(policy)
        ),
        Exemption::Hook => "a hook is not part of the release".to_owned(),
        Exemption::CrdsFolder => "from crds/, which Helm never deletes".to_owned(),
        Exemption::Definition => {
            "Argo CD deletes no CustomResourceDefinition with an Application".to_owned()
        }
        Exemption::SyncOption(option) => format!("sync option {}", plain::one_line(option)),
        Exemption::Owned => "has an owner, so Argo CD does not manage it".to_owned(),
        Exemption::FluxOptOut(key) => key.to_owned(),
    };
    why + until
}

/// Returns the claims that StatefulSets created and do not delete.
pub(super) fn claims(
    implied: &[ImpliedDependent],
    lives: impl Fn(&ObjectKey) -> bool,
) -> impl Iterator<Item = (ObjectKey, String)> {
    let claims = implied.iter().filter(move |object| {
        let of_set = object.owner.is(kinds::STATEFUL_SET);
        of_set && object.key.is(kinds::PERSISTENT_VOLUME_CLAIM) && lives(&object.key)
    });
    claims.map(|claim| (claim.key.clone(), words::kept_claims(&claim.owner)))
}
