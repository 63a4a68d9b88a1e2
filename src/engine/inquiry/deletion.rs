//! Effects of deleting single objects of a bundle.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::cluster::{Analysis, Reclaims, Scenario};
use crate::engine::plan::{PlannedCluster, cascaded, followed};
use crate::gc::{Change, Cluster, Effect, HeldObject, Hold, SimulationOptions, Step};
use crate::inventory::Inventory;
use crate::kube::{ObjectKey, Policy, kinds};
use crate::manifest::SkipReason;
use crate::ownership::{Implied, Products};

/// The effects of `kubectl delete` on one object, including the deletions by tools that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectDeletion {
    /// The object, as it is named in its cluster.
    pub object: ObjectKey,
    /// The name of the cluster, where there are several.
    pub cluster: Option<String>,
    /// Whether the API server rejects the request.
    pub is_rejected: bool,
    /// Number of unread documents (broken ones and templates) that may change these effects.
    pub hidden: usize,
    /// Whether anything applies the object.
    pub is_applied: bool,
    /// Whether it is not known what else is deleted, because not all delivered objects are known.
    pub is_incomplete: bool,
    /// The deleted objects, in the order of deletion.
    pub deleted: Vec<ObjectKey>,
    /// Number of deleted objects that hold data.
    pub with_data: usize,
    /// The objects that stay Terminating, in the order of their keys.
    pub stuck: BTreeMap<ObjectKey, StuckObject>,
}

/// An object that stays Terminating, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StuckObject {
    /// The remaining finalizers that only their controllers remove.
    pub finalizers: Vec<String>,
    /// The objects that have to be deleted first.
    pub waits_for: Vec<ObjectKey>,
    /// Whether a controller that the input does not contain may release it.
    pub is_unattended: bool,
}

/// A cluster of a bundle, with a cache of deletions from it.
#[derive(Debug)]
pub(super) struct Deletions {
    scenario: Scenario,
    reclaims: Reclaims,
    /// The objects whose deletion deletes data, each with a name for the data.
    data: BTreeMap<ObjectKey, String>,
    known: RefCell<BTreeMap<ObjectKey, Option<Rc<ObjectDeletion>>>>,
}

impl Deletions {
    /// Builds the cluster; `None` if it has more objects than the model can count.
    pub(super) fn of(analysis: &Analysis<'_>) -> Option<Self> {
        let implied = analysis.implied(Products::Owned);
        Some(Self {
            scenario: scenario(analysis, &implied, BTreeSet::new())?,
            reclaims: Reclaims::of(analysis.inventory(), &implied),
            data: analysis.data(&implied),
            known: RefCell::default(),
        })
    }

    /// Returns the effects of deleting an object; `None` if the cluster has no such object.
    pub(super) fn deletion(
        &self,
        planned: PlannedCluster<'_>,
        object: &ObjectKey,
    ) -> Option<Rc<ObjectDeletion>> {
        if let Some(known) = self.known.borrow().get(object) {
            return known.clone();
        }
        let deletion = match self.scenario.cluster.find(object) {
            Some(_) => Some(self.delete(&self.scenario, planned, object)),
            // A Namespace without a manifest exists because objects live in it.
            None if object.is(kinds::NAMESPACE) => {
                let analysis = planned.analysis();
                let implied = analysis.implied(Products::Owned);
                let namespaces = BTreeSet::from([object.name.to_string()]);
                let scenario = scenario(&analysis, &implied, namespaces);
                scenario.map(|scenario| self.delete(&scenario, planned, object))
            }
            None => None,
        };
        let deletion = deletion.map(Rc::new);
        self.known
            .borrow_mut()
            .insert(object.clone(), deletion.clone());
        deletion
    }

    fn delete(
        &self,
        scenario: &Scenario,
        planned: PlannedCluster<'_>,
        object: &ObjectKey,
    ) -> ObjectDeletion {
        let analysis = planned.analysis();
        let mut steps = scenario.steps.clone();
        let first = steps.len();
        steps.push(Step::delete(vec![object.clone()], Some(Policy::Background)));
        let by_tools = followed(planned, &analysis, std::slice::from_ref(object), None);
        let is_unread = !by_tools.unread.is_empty();
        by_tools.add_to(&mut steps, &self.reclaims, |steps| {
            scenario.verdict_of(steps)
        });
        let (cluster, plan) = (&scenario.cluster, scenario.verdict_of(&steps));
        let with_others = cascaded(&analysis, &steps[first..], || &plan);
        let is_incomplete = is_unread || !with_others.is_empty();
        let follows = is_incomplete || steps.len() > first + 1;
        let last = steps.len() - 1;
        let changes: Vec<Change> = (first..=last).flat_map(|step| plan.changes(step)).collect();
        let deleted: Vec<ObjectKey> = changes
            .iter()
            .filter(|change| change.effect == Effect::Gone)
            .map(|change| cluster.key(change.object))
            .collect();
        let stuck = stuck(cluster, &changes, plan.stuck(last));
        let inventory = planned.inventory();
        let hidden = if follows || !stuck.is_empty() || affects_any(object) {
            inventory.hidden_documents()
        } else {
            hidden_about(inventory, object)
        };
        ObjectDeletion {
            object: object.clone(),
            cluster: planned.name().map(str::to_owned),
            is_rejected: plan.steps[first].responses.contains(&403),
            hidden,
            is_applied: planned.is_applied(),
            is_incomplete,
            with_data: deleted
                .iter()
                .filter(|key| self.data.contains_key(key))
                .count(),
            stuck,
            deleted,
        }
    }
}

/// Returns the objects among `held` whose deletion begins in `changes`: objects that were Terminating before are not an
/// effect of the changes.
fn stuck(
    cluster: &Cluster,
    changes: &[Change],
    held: Vec<HeldObject>,
) -> BTreeMap<ObjectKey, StuckObject> {
    let begun = changes
        .iter()
        .filter(|change| change.effect == Effect::Deleted);
    let begun: BTreeSet<_> = begun.map(|change| change.object).collect();
    let held = held.into_iter().filter(|held| begun.contains(&held.object));
    let stuck = held.map(|held| (cluster.key(held.object), StuckObject::of(cluster, held)));
    stuck.collect()
}

impl StuckObject {
    fn of(cluster: &Cluster, held: HeldObject) -> Self {
        let mut stuck = Self {
            is_unattended: held.unattended,
            ..Self::default()
        };
        let mut others = Vec::new();
        for hold in held.holds {
            match hold {
                Hold::Finalizers(names) | Hold::SpecFinalizers(names) | Hold::Unhandled(names) => {
                    stuck.finalizers.extend(names);
                }
                Hold::InUse { by: ids, .. } | Hold::Instances(ids) => others.extend(ids),
                Hold::NamespaceContent { pods, others: rest } => {
                    others.extend(pods);
                    others.extend(rest);
                }
                Hold::BlockingDependents { dependents, .. } => others.extend(dependents),
                _ => {}
            }
        }
        stuck.waits_for = others.into_iter().map(|id| cluster.key(id)).collect();
        stuck
    }
}

/// Whether a deletion of `object` may be affected by objects that do not name it: the content of a
/// Namespace, the objects of a kind, and the Pods that use a claim by the name of a template.
fn affects_any(object: &ObjectKey) -> bool {
    object.is(kinds::NAMESPACE)
        || object.is(kinds::CUSTOM_RESOURCE_DEFINITION)
        || object.is(kinds::PERSISTENT_VOLUME_CLAIM)
}

/// Counts the documents that are not read and that may depend on an object: they contain its name, or are templates
/// with owner references. A file that cannot be read may contain anything, and counts as one.
fn hidden_about(inventory: &Inventory, object: &ObjectKey) -> usize {
    let about = inventory.skipped().filter(|skip| {
        if !skip.what.reason.hides_objects() {
            return false;
        }
        let file = inventory.sources.file(skip.file);
        let text = match inventory.document(skip.file, skip.document) {
            Some(document) => file.slice(document.span),
            None => file.text(),
        };
        let is_template = matches!(skip.what.reason, SkipReason::Template(..));
        text.contains(object.name.as_str()) || (is_template && text.contains("ownerReferences"))
    });
    about.count() + inventory.unreadable_files().count()
}

fn scenario(
    analysis: &Analysis<'_>,
    implied: &Implied<'_>,
    namespaces: BTreeSet<String>,
) -> Option<Scenario> {
    // The verdict is enough: a hover does not list what depends on races.
    let options = SimulationOptions::verdict();
    let mut scenario = Scenario::of(analysis, implied, namespaces, Vec::new(), options).ok()?;
    scenario.settle_first();
    Some(scenario)
}
