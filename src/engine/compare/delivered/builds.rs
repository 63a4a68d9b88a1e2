//! The builds of deliveries, with the files of the state that have their objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;

use super::Delivered;
use crate::changes::BuiltObjects;
use crate::engine::compare::built::{BuildRoot, root_of};
use crate::engine::compare::variables::WrittenObjects;
use crate::graph::delivery::Delivery;
use crate::graph::kustomize::Resource;
use crate::kustomize::Deliverer;
use crate::manifest::ParsedFile;
use crate::text::Side;

impl Delivered {
    /// Returns the builds of deliveries and roots, in the order of their folders, for `files` with their places. Drops
    /// the objects of the roots, and records which folders fail.
    pub(in super::super) fn built<'f>(
        &mut self,
        files: impl Iterator<Item = (&'f str, &'f ParsedFile)>,
        side: Side,
    ) -> Vec<BuildRoot> {
        let (places, files): (Vec<&str>, Vec<&ParsedFile>) = files.unzip();
        let index: HashMap<&str, usize> = places.into_iter().zip(0..).collect();
        let known: BTreeMap<&Deliverer, &Delivery> = self
            .all
            .iter()
            .filter_map(|delivery| Some((delivery.by.as_ref()?, delivery)))
            .collect();
        let known = known.into_values();
        let apart = known.filter(|delivery| !self.is_unchanged(delivery));
        // Deliveries of one build share its objects.
        let mut objects_of = HashMap::default();
        let mut written = WrittenObjects::default();
        let mut built: Vec<BuildRoot> = apart
            .chain(&self.roots)
            .map(|delivery| BuildRoot {
                objects: self.objects_of(delivery, &mut objects_of),
                ..root_of(delivery, (&index, &files), &mut written, &self.scopes, side)
            })
            .collect();
        built.sort_by(|one, other| one.folder.cmp(&other.folder));
        for root in &mut self.roots {
            root.resources = Arc::default();
        }
        let failing = self
            .deliveries()
            .into_iter()
            .filter(|one| one.error.is_some() && one.attempt.is_none() && !one.path.is_empty());
        self.failing = failing.map(|one| one.path.clone()).collect();
        built
    }

    /// Returns the objects of a delivery, unless it fails. `known` shares them between deliveries
    /// of one build.
    fn objects_of(
        &self,
        delivery: &Delivery,
        known: &mut HashMap<(*const Vec<Resource>, *const BTreeSet<String>), Arc<BuiltObjects>>,
    ) -> Option<Arc<BuiltObjects>> {
        if delivery.error.is_some() {
            return None;
        }
        let (objects, reached) = (&delivery.resources, &delivery.reached);
        let built = known.entry((Arc::as_ptr(objects), Arc::as_ptr(reached)));
        let built = built.or_insert_with(|| {
            let (objects, reached) = (Arc::clone(objects), Arc::clone(reached));
            Arc::new(BuiltObjects::new(
                objects,
                reached,
                Arc::clone(&self.scopes),
            ))
        });
        Some(Arc::clone(built))
    }
}
