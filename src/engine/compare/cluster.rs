//! Bundles that are applied to one cluster. They are one part of the tree, because a deletion in one of them may
//! cascade to objects of another.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::changes::{Destination, TreePart};
use crate::delivery::BundleTools;
use crate::engine::input::BundleInput;
use crate::inventory::Settings;
use crate::knowledge::Tables;

/// The bundles of one cluster; at least one.
#[derive(Debug)]
pub(super) struct ClusterInput {
    /// In the order of their names.
    pub(super) bundles: Vec<BundleInput>,
}

impl ClusterInput {
    /// Wraps a bundle that shares its cluster with no other one.
    pub(super) fn alone(bundle: BundleInput) -> Self {
        Self {
            bundles: vec![bundle],
        }
    }

    /// Groups bundles by cluster. A bundle that names no cluster has its own.
    pub(super) fn of(bundles: Vec<BundleInput>) -> Vec<Self> {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut clusters: Vec<Self> = Vec::new();
        for bundle in bundles {
            let name = bundle.cluster.clone();
            let place = name.map(|name| *places.entry(name).or_insert(clusters.len()));
            match place.and_then(|place| clusters.get_mut(place)) {
                Some(cluster) => cluster.bundles.push(bundle),
                None => clusters.push(Self::alone(bundle)),
            }
        }
        clusters
    }

    /// Returns the first bundle; there always is one.
    fn first(&self) -> &BundleInput {
        &self.bundles[0]
    }

    /// Returns its name in the configuration.
    pub(super) fn called(&self) -> Option<&str> {
        self.first().cluster.as_deref()
    }

    /// Returns its name in reports: as in the configuration, else that of its only bundle.
    pub(super) fn name(&self) -> Option<&str> {
        self.called().or(self.first().name.as_deref())
    }

    /// Returns the settings for reading its objects. If its bundles have different namespaces, each file has its own.
    pub(super) fn settings(&self) -> Settings {
        let mut settings = self.first().input.settings.clone();
        let mut namespaces = self.bundles.iter().map(|one| &one.input.settings.namespace);
        if !namespaces.all(|namespace| *namespace == settings.namespace) {
            settings.namespace = None;
        }
        settings
    }

    /// Returns the tables of operators, which are equal in all bundles.
    pub(super) fn tables(&self) -> Arc<Tables> {
        Arc::clone(&self.first().tables)
    }

    /// Returns the tools that deliver the files of a side.
    pub(super) fn tools(&self, tree: &TreePart) -> BundleTools {
        let files = tree.inventory.sources.iter().filter_map(|(file, _)| {
            let bundle = match tree.destination(file) {
                Destination::Bundle(name) => self
                    .bundles
                    .iter()
                    .position(|bundle| bundle.name.as_deref() == Some(name))?,
                // No bundle has a tool for these files.
                Destination::Context => self.bundles.len(),
                Destination::Root { .. } if self.first().name.is_some() => self.bundles.len(),
                _ => return None,
            };
            Some((file, bundle))
        });
        BundleTools::of(
            self.bundles.iter().map(|bundle| bundle.delivery).collect(),
            files.collect(),
        )
    }
}
