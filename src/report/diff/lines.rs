//! Lines about the effects of a merge, shared by several formats that people read.

use std::collections::BTreeSet;

use super::words::unless;
use crate::kube::kinds;
use crate::kustomize::SourceTool;
use crate::merge::{DiffEffect, EffectKind};
use crate::report::deliveries::spoken;

/// Returns a line for each effect. Equal lines for several clusters become one that counts them.
pub(super) fn effect_lines<'e>(effects: impl Iterator<Item = &'e DiffEffect>) -> Vec<String> {
    let lines = effects.map(|effect| (effect_line(effect), effect.cluster.as_deref()));
    let lines = in_clusters(lines).into_iter();
    lines
        .map(|(line, clusters)| line + &several_clusters(&clusters))
        .collect()
}

/// Returns the object, the object that it is deleted with, and the condition. For a kept CRD, returns the reason
/// instead.
pub(super) fn effect_line(effect: &DiffEffect) -> String {
    let is_argo = effect.regime == Some(SourceTool::ArgoCd.as_str());
    if effect.effect == EffectKind::Kept
        && is_argo
        && effect.key.is(kinds::CUSTOM_RESOURCE_DEFINITION)
    {
        return format!("{}, which Argo CD never deletes", effect.key);
    }
    let root = effect.because.first().filter(|root| **root != effect.key);
    let because = root.map(|root| format!(", with {root}"));
    let because = because.unwrap_or_default();
    let mut keepers = effect.also.iter().filter(|other| other.keeps);
    let kept = keepers.find_map(|other| other.delivery.key.as_deref());
    let kept = kept.map(|keeper| format!(", although {} keeps it", spoken(keeper)));
    let kept = kept.unwrap_or_default();
    format!("{}{because}{}{kept}", effect.key, unless(effect.certainty))
}

/// Merges consecutive equal items and collects their clusters.
pub(super) fn in_clusters<'c, T: PartialEq>(
    items: impl Iterator<Item = (T, Option<&'c str>)>,
) -> Vec<(T, BTreeSet<&'c str>)> {
    let mut merged: Vec<(T, BTreeSet<&str>)> = Vec::new();
    for (item, cluster) in items {
        match merged.last_mut().filter(|(last, _)| *last == item) {
            Some((_, clusters)) => clusters.extend(cluster),
            None => merged.push((item, cluster.into_iter().collect())),
        }
    }
    merged
}

/// Returns `, in 2 clusters`; empty for fewer than two.
pub(super) fn several_clusters(clusters: &BTreeSet<&str>) -> String {
    match clusters.len() {
        0 | 1 => String::new(),
        several => format!(", in {several} clusters"),
    }
}
