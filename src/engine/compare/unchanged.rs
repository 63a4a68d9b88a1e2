//! Finds clusters into which both states deliver equal objects, about which there is nothing to
//! report.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use foldhash::HashMap;

use super::built::{identity_of, marks_of};
use crate::changes::same_node;
use crate::graph::delivery::Delivery;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::Resource;
use crate::kustomize::Deliverer;

/// Returns those of `clusters` into which both states deliver equal objects.
pub(super) fn unchanged(
    states: [(&[Delivery], &TreeFiles<'_>); 2],
    clusters: &BTreeSet<Arc<str>>,
) -> BTreeSet<Arc<str>> {
    let mut of_objects = HashMap::default();
    let [old, new] = states.map(|(all, files)| {
        let prints = Prints {
            files,
            of_files: HashMap::default(),
            of_builds: HashMap::default(),
            of_objects: &mut of_objects,
        };
        prints.of(all, clusters)
    });
    let unchanged = old
        .into_iter()
        .filter(|(cluster, print)| new.get(cluster) == Some(print));
    let mut unchanged: BTreeSet<Arc<str>> = unchanged.map(|(cluster, _)| cluster).collect();
    // A kustomization, a patch or a setting may change objects without changing their files.
    let [(old, _), (new, _)] = states;
    let ids = new.iter().map(|one| (one.id.as_str(), &one.resources));
    let built: HashMap<&str, &Arc<Vec<Resource>>> = ids.collect();
    let mut compared = HashMap::default();
    for delivery in old {
        let place = delivery.by.as_ref().map(Deliverer::place);
        let Some(place) = place.filter(|place| unchanged.contains(place)) else {
            continue;
        };
        let (was, Some(is)) = (&delivery.resources, built.get(delivery.id.as_str())) else {
            continue;
        };
        let pair = (Arc::as_ptr(was), Arc::as_ptr(is));
        let is_same = *compared
            .entry(pair)
            .or_insert_with(|| is_built_alike(was, is));
        if !is_same {
            unchanged.remove(&place);
        }
    }
    unchanged
}

/// Whether two builds make the same objects, in the same order.
fn is_built_alike(one: &Arc<Vec<Resource>>, other: &Arc<Vec<Resource>>) -> bool {
    Arc::ptr_eq(one, other)
        || one.len() == other.len()
            && one
                .iter()
                .zip(other.iter())
                .all(|(was, is)| was.origin.template.is_some() || same_node(&was.node, &is.node))
}

/// Hashes of deliveries, which differ if a report on them can differ.
struct Prints<'p> {
    files: &'p TreeFiles<'p>,
    of_files: HashMap<String, u64>,
    /// By the addresses of the objects of a build and of the paths that it reads.
    of_builds: HashMap<(Objects, *const BTreeSet<String>), u64>,
    /// The hashes for both states, by the addresses of the objects.
    of_objects: &'p mut HashMap<Objects, u64>,
}

/// The address of the objects of a build. The states share it if they have the same build.
type Objects = *const Vec<Resource>;

impl Prints<'_> {
    fn of(
        mut self,
        deliveries: &[Delivery],
        clusters: &BTreeSet<Arc<str>>,
    ) -> BTreeMap<Arc<str>, u64> {
        let mut prints: BTreeMap<Arc<str>, DefaultHasher> = BTreeMap::new();
        for delivery in deliveries {
            let place = delivery.by.as_ref().map(Deliverer::place);
            let Some(place) = place.filter(|place| clusters.contains(place)) else {
                continue;
            };
            let build = self.build(&delivery.resources, &delivery.reached);
            let print = prints.entry(place).or_default();
            delivery.id.hash(print);
            delivery.path.hash(print);
            delivery.object.hash(print);
            (&delivery.settings, &delivery.error, &delivery.unread).hash(print);
            build.hash(print);
        }
        let prints = prints.into_iter();
        prints
            .map(|(cluster, print)| (cluster, print.finish()))
            .collect()
    }

    fn build(&mut self, resources: &Arc<Vec<Resource>>, reached: &Arc<BTreeSet<String>>) -> u64 {
        let place = (Arc::as_ptr(resources), Arc::as_ptr(reached));
        if let Some(known) = self.of_builds.get(&place) {
            return *known;
        }
        let mut print = DefaultHasher::new();
        self.objects(resources).hash(&mut print);
        for path in reached.iter() {
            self.file(path).hash(&mut print);
        }
        let print = print.finish();
        self.of_builds.insert(place, print);
        print
    }

    fn objects(&mut self, resources: &Arc<Vec<Resource>>) -> u64 {
        let place = Arc::as_ptr(resources);
        if let Some(known) = self.of_objects.get(&place) {
            return *known;
        }
        let mut print = DefaultHasher::new();
        for resource in resources.iter() {
            let id = resource.id();
            (id.namespace.as_str(), id.name.as_str(), id.kind.as_str()).hash(&mut print);
            (&resource.origin.file, resource.origin.offset).hash(&mut print);
            marks_of(resource).hash(&mut print);
            if resource.origin.is_generated {
                identity_of(resource).hash(&mut print);
            }
        }
        let print = print.finish();
        self.of_objects.insert(place, print);
        print
    }

    fn file(&mut self, path: &str) -> u64 {
        if let Some(known) = self.of_files.get(path) {
            return *known;
        }
        let mut print = DefaultHasher::new();
        if self.files.has_file(path) {
            self.files.bytes(path).ok().hash(&mut print);
        }
        let print = print.finish();
        self.of_files.insert(path.to_owned(), print);
        print
    }
}
