//! Applications that several ApplicationSets of a control plane generate. The set that creates such an Application owns it,
//! and the others report an error, because an object has only one controller (argo-cd
//! applicationset/controllers/applicationset_controller.go, createOrUpdateInCluster). Only the cluster knows the owner.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::DEPTH;
use crate::graph::delivery::Delivery;
use crate::graph::kustomize::Resource;
use crate::kustomize::SourceTool;

/// The indices of the sets that generate an Application, by the cluster that contains it and its key.
type Generating = BTreeMap<(Arc<str>, String), BTreeSet<usize>>;

/// Returns the Applications that several of the sets generate.
pub fn disputed(all: &[&Delivery]) -> Generating {
    let mut generating = Generating::new();
    for (at, set) in all.iter().enumerate().filter(|(_, one)| is_set(one)) {
        let named = set.resources.iter().map(Resource::id);
        for id in named.filter(|id| !id.name.contains("{{")) {
            let key = (Arc::clone(&set.cluster), id.key());
            generating.entry(key).or_default().insert(at);
        }
    }
    generating.retain(|_, sets| sets.len() > 1);
    generating
}

/// Marks disputed Applications. If their sets differ, marks their deliveries as possible, too.
pub(super) fn mark(all: &mut [Delivery]) {
    let generating = disputed(&all.iter().collect::<Vec<_>>());
    if generating.is_empty() {
        return;
    }
    let mut of_set: BTreeMap<usize, BTreeSet<&String>> = BTreeMap::new();
    for ((_, key), sets) in &generating {
        for set in sets {
            of_set.entry(*set).or_default().insert(key);
        }
    }
    let mut contents: BTreeMap<(Arc<str>, &String), BTreeSet<String>> = BTreeMap::new();
    for (set, keys) in of_set {
        let cluster = Arc::clone(&all[set].cluster);
        for resource in Arc::make_mut(&mut all[set].resources) {
            if let Some(key) = keys.get(&resource.id().key()) {
                resource.is_disputed = true;
                let contents = contents.entry((Arc::clone(&cluster), key)).or_default();
                contents.insert(resource.node.to_json(DEPTH).to_string());
            }
        }
    }
    let mut doubtful = BTreeSet::new();
    for ((_, key), sets) in generating
        .iter()
        .filter(|((cluster, key), _)| contents[&(Arc::clone(cluster), key)].len() > 1)
    {
        doubtful.extend(sets.iter().map(|set| (all[*set].id.clone(), key.clone())));
    }
    for one in all {
        let made = one
            .parent
            .as_deref()
            .map(|set| (set.to_owned(), one.key.clone()));
        one.is_possible |= made.is_some_and(|made| doubtful.contains(&made));
    }
}

fn is_set(delivery: &Delivery) -> bool {
    let by = delivery.by.as_ref();
    by.is_some_and(|by| by.tool == SourceTool::ArgoCdSet)
}
