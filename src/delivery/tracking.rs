//! The labels by which Argo CD recognises its objects.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::marks;
use crate::inventory::Inventory;

/// The labels by which Argo CD recognises its objects, from the ConfigMaps `argocd-cm` of the input. If these set no
/// tracking method, the label is assumed to be `argocd.argoproj.io/instance`, although Argo CD writes an annotation by
/// default since version 3 (argo-cd docs/user-guide/resource_tracking.md).
#[derive(Debug)]
pub struct TrackingLabels<'a> {
    inventory: &'a Inventory,
    /// Computed on first use.
    labels: OnceCell<BTreeSet<&'a str>>,
}

impl<'a> TrackingLabels<'a> {
    /// Creates the labels of an inventory, which are read on first use.
    pub fn of(inventory: &'a Inventory) -> Self {
        Self {
            inventory,
            labels: OnceCell::new(),
        }
    }

    /// Whether Argo CD recognises objects by `label`.
    pub fn contains(&self, label: &str) -> bool {
        self.labels
            .get_or_init(|| tracking_labels(self.inventory))
            .contains(label)
    }
}

/// Returns the labels by which the configurations of Argo CD in the input track objects.
fn tracking_labels(inventory: &Inventory) -> BTreeSet<&str> {
    let settings = inventory.with_name("", "ConfigMap", "argocd-cm");
    let labels = settings.iter().filter_map(|id| {
        let settings = inventory.member(*id).object.value();
        match settings.text_at(&["data", "application.resourceTrackingMethod"]) {
            Some("label") => {
                let key = settings.text_at(&["data", "application.instanceLabelKey"]);
                Some(key.unwrap_or(marks::INSTANCE))
            }
            Some(_) => None,
            None => Some(marks::ARGOCD_INSTANCE),
        }
    });
    let unset = settings.is_empty().then_some(marks::ARGOCD_INSTANCE);
    labels.chain(unset).collect()
}
