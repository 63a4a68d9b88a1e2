//! Kustomizations that wait until others are ready with the same revision (`spec.dependsOn`).

use std::collections::BTreeSet;

use super::part::{MergePart, delivering};
use super::replaced::ends_on_its_own;
use crate::changes::{KnownDelivery, TreePart};
use crate::inventory::Member;
use crate::kustomize::{Deliverer, SourceTool};

impl<'a> MergePart<'a> {
    /// Whether `one` waits in head, directly or not, for `other`.
    pub(super) fn waits_for(&self, one: &Deliverer, other: &Deliverer) -> bool {
        self.head
            .is_some_and(|head| awaited(head, one).contains(&other.key()))
    }

    /// Whether `one` waits in base, too, and both have the same source: it then certainly does not apply head before
    /// `other` is ready with it.
    pub(super) fn always_waits(&self, one: &Deliverer, other: &Deliverer) -> bool {
        let [source, awaited_source] = [one, other].map(|by| {
            let known = self.base.delivery(by);
            known.and_then(|known| known.settings.source.as_ref())
        });
        awaited(self.base, one).contains(&other.key()) && source == awaited_source
    }

    /// Returns a Kustomization for which one waits in head, directly or not, and that never becomes ready because the API
    /// server rejects the update of one of its objects; with the object, preferably one that does not end on its own.
    pub(super) fn awaits_rejected(&self, by: &Deliverer) -> Option<(&'a Deliverer, &'a Member)> {
        if self.rejected().is_empty() {
            return None;
        }
        let awaited = awaited(self.head?, by);
        let rejected = self.rejected().iter().filter_map(|id| {
            let member = self.base.inventory.member(*id);
            let by = self.base.destination(member.file).deliverer()?;
            let is_awaited = by.tool == SourceTool::Flux && awaited.contains(&by.key());
            (is_awaited && self.fails_on(by, member)).then_some((by, member))
        });
        rejected.min_by_key(|(_, member)| (ends_on_its_own(member), member.id))
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
