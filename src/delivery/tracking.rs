//! By which labels Argo CD recognises its objects.

use std::collections::BTreeSet;

use super::marks;
use crate::inventory::Inventory;
use crate::yaml::Value;

/// The labels by which Argo CD recognises its objects, as far as the input shows: what its ConfigMaps `argocd-cm` say. Where
/// they say nothing, whoever writes `argocd.argoproj.io/instance` has Argo CD look at it; it writes an annotation by default
/// since version 3 (argo-cd docs/user-guide/resource_tracking.md).
pub fn tracking_labels(inventory: &Inventory) -> BTreeSet<&str> {
    let settings = inventory.with_name("", "ConfigMap", "argocd-cm");
    let mut labels = BTreeSet::new();
    for settings in settings.iter().map(|id| &inventory.member(*id).object) {
        let said = |key| settings.at(&["data", key]).and_then(Value::as_str).filter(|value| !value.is_empty());
        match said("application.resourceTrackingMethod") {
            Some("label") => labels.insert(said("application.instanceLabelKey").unwrap_or(marks::INSTANCE)),
            Some(_) => false,
            None => labels.insert(marks::ARGOCD_INSTANCE),
        };
    }
    if settings.is_empty() {
        labels.insert(marks::ARGOCD_INSTANCE);
    }
    labels
}
