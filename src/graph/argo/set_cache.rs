//! A cache of the output of sets: states of a tree, control planes and the search for entry points evaluate the same
//! sets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;

use super::clusters::KnownClusters;
use super::generators::GitElement;
use super::set::{ApplicationSet, SetClusters, SetOutput};
use crate::graph::kustomize::{Budget, Taken};
use crate::graph::node::Address;

/// A cache that all clones share.
#[derive(Clone, Debug, Default)]
pub(super) struct SetCache(Arc<Mutex<Cache>>);

#[derive(Debug, Default)]
struct Cache {
    /// The output of sets that do not read the tree, by the addresses of their objects.
    outputs: HashMap<Address, Vec<CachedOutput>>,
    /// The elements that git generators read in revisions that never change, by the revision and the patterns.
    fixed: HashMap<String, Vec<GitElement>>,
}

/// The output of a set.
#[derive(Clone, Debug)]
pub(super) struct CachedOutput {
    pub(super) output: SetOutput,
    /// The clusters that the set names.
    pub(super) named: SetClusters,
    /// Whether at most one merge names clusters: the output then depends on the listed clusters only through the union
    /// of `named` and `given`.
    pub(super) names_once: bool,
    /// The set, which is kept so that no other object gets its address; the fields below are the other inputs.
    pub(super) set: ApplicationSet,
    pub(super) known: KnownClusters,
    pub(super) given: SetClusters,
    pub(super) taken: Taken,
}

impl SetCache {
    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the output of a set for the `known` clusters and those that the set is `given`, and charges the text that
    /// it makes to the budget. `None` if no such output is cached, or if the budget does not suffice.
    pub(super) fn find(
        &self,
        set: &ApplicationSet,
        known: &KnownClusters,
        given: &SetClusters,
        budget: &Budget,
    ) -> Option<(SetOutput, SetClusters)> {
        let all = self.lock();
        let mut outputs = all.outputs.get(&set.node.address()?)?.iter();
        let found =
            outputs.find(|one| one.set == *set && one.known == *known && one.is_for(given))?;
        let is_left = budget.repeat(&found.taken);
        is_left.then(|| (found.output.clone(), found.named.clone()))
    }

    pub(super) fn add(&self, output: CachedOutput) {
        if let Some(address) = output.set.node.address() {
            let mut all = self.lock();
            all.outputs.entry(address).or_default().push(output);
        }
    }

    /// Returns the elements that a search of a git generator in a fixed revision found.
    pub(super) fn fixed(&self, search: &str) -> Option<Vec<GitElement>> {
        self.lock().fixed.get(search).cloned()
    }

    /// Adds the elements that a search of a git generator in a fixed revision found.
    pub(super) fn add_fixed(&self, search: String, found: Vec<GitElement>) {
        self.lock().fixed.insert(search, found);
    }
}

impl CachedOutput {
    /// Whether the output is the same if the set is `given` these clusters.
    fn is_for(&self, given: &SetClusters) -> bool {
        self.given == *given
            || self.names_once
                && self.given.selected == given.selected
                && self.named.and(&self.given).listed == self.named.and(given).listed
    }
}
