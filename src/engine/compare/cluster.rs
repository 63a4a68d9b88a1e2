//! Bundles that are applied to one cluster: they are one part of the tree, because what one of them deletes takes along
//! what another one delivers.

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
    /// A bundle that shares its cluster with no other one.
    pub(super) fn alone(bundle: BundleInput) -> Self {
        Self {
            bundles: vec![bundle],
        }
    }

    /// The cluster of that name, to which objects of the tree deliver what no bundle has; read as the `rest`.
    pub(super) fn delivered(name: &str, rest: &BundleInput) -> Self {
        Self::alone(BundleInput {
            cluster: Some(name.to_owned()),
            ..rest.clone()
        })
    }

    /// The clusters of some bundles. A bundle that names none has its own.
    pub(super) fn of(bundles: Vec<BundleInput>) -> Vec<Self> {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut clusters: Vec<Self> = Vec::new();
        for bundle in bundles {
            let place = bundle
                .cluster
                .clone()
                .map(|name| *places.entry(name).or_insert(clusters.len()));
            match place.and_then(|place| clusters.get_mut(place)) {
                Some(cluster) => cluster.bundles.push(bundle),
                None => clusters.push(Self::alone(bundle)),
            }
        }
        clusters
    }

    /// Its name in the configuration.
    pub(super) fn called(&self) -> Option<&str> {
        self.bundles.first()?.cluster.as_deref()
    }

    /// Its name in reports: as in the configuration, else that of its only bundle.
    pub(super) fn name(&self) -> Option<&str> {
        self.called().or(self.bundles.first()?.name.as_deref())
    }

    /// The settings with which its objects are read. Where its bundles have different namespaces, each file has its own.
    pub(super) fn settings(&self) -> Settings {
        let mut settings = self
            .bundles
            .first()
            .map(|first| first.input.settings.clone())
            .unwrap_or_default();
        if !self
            .bundles
            .iter()
            .all(|bundle| bundle.input.settings.namespace == settings.namespace)
        {
            settings.namespace = None;
        }
        settings
    }

    /// The tables of operators: equal in all bundles.
    pub(super) fn tables(&self) -> Arc<Tables> {
        self.bundles
            .first()
            .map_or_else(Tables::bundled, |first| Arc::clone(&first.tables))
    }

    /// Which tools deliver the files of a side.
    pub(super) fn tools(&self, tree: &TreePart) -> BundleTools {
        let bundle_of = |file| match tree.destination(file) {
            Destination::Bundle(name) => self
                .bundles
                .iter()
                .position(|bundle| bundle.name.as_deref() == Some(name)),
            // Deliveries of others say nothing about who delivers these.
            Destination::Beside => Some(self.bundles.len()),
            _ => None,
        };
        let files = tree
            .inventory
            .sources
            .iter()
            .filter_map(|(file, _)| Some((file, bundle_of(file)?)));
        BundleTools::of(
            self.bundles.iter().map(|bundle| bundle.delivery).collect(),
            files.collect(),
        )
    }
}
