//! Deleted objects that a tool creates again.

use std::collections::{BTreeMap, BTreeSet};

use super::notes::named;
use crate::changes::TreePart;
use crate::delivery::Regime;
use crate::kube::ObjectKey;
use crate::kustomize::{Deliverer, SourceTool};
use crate::merge::delivering;

/// Returns sentences on targets that a tool creates again. `gone`: all objects that are deleted.
pub(super) fn created_again(
    part: &TreePart,
    targets: &[ObjectKey],
    gone: &BTreeSet<ObjectKey>,
) -> impl Iterator<Item = String> {
    let mut kept_up: BTreeMap<&Deliverer, Vec<String>> = BTreeMap::new();
    for key in targets {
        let ids = part.inventory.with_key(key).iter();
        let files = ids.map(|id| part.inventory.member(*id).file);
        let mut deliverers = files.filter_map(|file| part.destination(file).deliverer());
        let by = deliverers.find(|by| {
            let object = delivering(&part.inventory, &part.object_of(by));
            object.is_none_or(|object| !gone.contains(&object.key)) && keeps_up(part, by)
        });
        if let Some(by) = by {
            kept_up.entry(by).or_default().push(key.to_string());
        }
    }
    kept_up.into_iter().map(|(by, keys)| {
        format!(
            "{} creates again what {} delivers: {}. Deleted data does not come back.",
            Regime::from(by.tool).tool(),
            by.key(),
            named(&keys)
        )
    })
}

/// Whether a tool creates deleted objects of a delivery again.
fn keeps_up(part: &TreePart, by: &Deliverer) -> bool {
    let settings = part.delivery(by).map(|known| &known.settings);
    match by.tool {
        SourceTool::Flux => settings.is_some_and(|one| one.suspend != Some(true)),
        SourceTool::ArgoCd => {
            settings.is_some_and(|one| one.automated == Some(true) && one.self_heal == Some(true))
        }
        SourceTool::ArgoCdSet => settings.is_some(),
        SourceTool::FluxRelease => corrects_drift(part, by),
    }
}

/// Whether a HelmRelease creates deleted objects of its release again. It compares the release with
/// the cluster only with `spec.driftDetection.mode: enabled`.
fn corrects_drift(part: &TreePart, by: &Deliverer) -> bool {
    let release = delivering(&part.inventory, &part.object_of(by));
    release.is_some_and(|one| {
        let spec = one.object.value();
        spec.str_at(&["spec", "driftDetection", "mode"]) == Some("enabled")
            && !spec.is_true_at(&["spec", "suspend"])
    })
}
