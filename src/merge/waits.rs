//! Kustomizations that wait until others are ready with the same revision (`spec.dependsOn`).

use std::collections::BTreeSet;

use super::part::{MergePart, delivering};
use crate::changes::{KnownDelivery, TreePart};
use crate::kustomize::Deliverer;

impl MergePart<'_> {
    /// Whether `one` waits in head, directly or not, for `other`.
    pub(super) fn waits_for(&self, one: &Deliverer, other: &Deliverer) -> bool {
        self.head
            .is_some_and(|head| awaited(head, one).contains(&other.key()))
    }
}

/// Returns the keys of the Kustomizations for which one waits, directly or not. Clusters are left out: the graph may
/// name another one once a delivery object has another deliverer.
fn awaited(part: &TreePart, by: &Deliverer) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let known = part.delivery(by).or_else(|| {
        delivering(&part.inventory, by)?;
        part.delivery_with_key(by)
    });
    let mut pending: Vec<&KnownDelivery> = known.into_iter().collect();
    while let Some(known) = pending.pop() {
        for next in &known.awaits {
            if found.insert(next.key()) {
                pending.extend(part.delivery(next));
            }
        }
    }
    found
}
