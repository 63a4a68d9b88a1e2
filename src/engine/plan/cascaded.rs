//! Delivery objects that a plan deletes although no request names them, such as those in a deleted Namespace.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use super::notes::named;
use super::planner::targets_of;
use crate::cluster::Analysis;
use crate::delivery::Regime;
use crate::gc::{Plan, Step};
use crate::kube::ObjectKey;
use crate::ownership::DeliveryKind;

/// Returns the delivery objects that `steps` delete only by cascade, and whose delivered objects
/// are deleted in turn. These deletions are not followed, because the controller may be gone by
/// then. `verdict` returns the simulated plan that contains the steps.
pub(in crate::engine) fn cascaded<'c, P: Borrow<Plan<'c>>>(
    analysis: &Analysis<'_>,
    steps: &[Step],
    verdict: impl FnOnce() -> P,
) -> Vec<(DeliveryKind, ObjectKey)> {
    let requested: BTreeSet<&ObjectKey> = steps.iter().flat_map(targets_of).collect();
    let objects = analysis.delivery_objects().iter();
    let objects = objects.filter(|object| object.deletes()).map(|object| {
        let member = analysis.inventory().member(object.id);
        (object.kind, &member.key)
    });
    let mut objects = objects
        .filter(|(_, key)| !requested.contains(key))
        .peekable();
    if objects.peek().is_none() {
        return Vec::new();
    }
    let plan = verdict();
    let keeps = plan.borrow().keeps();
    let deleted = objects.filter(|(_, key)| !keeps(key));
    deleted.map(|(kind, key)| (kind, key.clone())).collect()
}

/// Returns a sentence for each tool on its objects.
pub(super) fn notes(cascaded: &[(DeliveryKind, ObjectKey)]) -> impl Iterator<Item = String> {
    let mut tools: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (kind, key) in cascaded {
        let tool = Regime::of(*kind).tool();
        tools.entry(tool).or_default().push(key.to_string());
    }
    tools.into_iter().map(|(tool, keys)| {
        format!(
            "Not part of this plan: {tool} also deletes the objects that {} delivered, unless its \
             controller is deleted first.",
            named(&keys)
        )
    })
}
