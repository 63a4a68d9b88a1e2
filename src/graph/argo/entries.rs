//! The entry points of Argo CD: Applications and ApplicationSets that are applied by hand.

use std::collections::{BTreeMap, BTreeSet};

use super::application::{Application, GROUP};
use super::generators::Surroundings;
use super::is_argo;
use super::set::{ApplicationSet, SetClusters};
use super::source::leads_to;
use super::sources::folder_of_source;
use crate::graph::delivery::Delivery;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{Builder, Resource, resources_of};
use crate::graph::reached::{Reached, left_out};
use crate::kustomize::{folder_of, shown};

/// A unit that may be applied by hand: a file, or the build of a kustomization.
#[derive(Debug)]
pub(super) struct Unit {
    /// The file, or the folder of the kustomization.
    pub(super) place: String,
    is_file: bool,
    /// Its Applications and ApplicationSets, as they are applied.
    pub(super) resources: Vec<Resource>,
    /// `false` for a file that the nearest kustomization above leaves out, which is an entry point
    /// only if it leads to other units.
    pub(super) may_be_entry: bool,
}

impl Unit {
    /// Returns the namespace of the first of its Applications that has one.
    pub(super) fn namespace(&self) -> String {
        let mut all = self.resources.iter().map(|one| one.id().namespace);
        let namespace = all.find(|namespace| !namespace.is_empty());
        namespace.unwrap_or_default().into()
    }

    /// Returns its folder, which names its control plane unless another unit has named it already.
    pub(super) fn place_name(&self) -> &str {
        let folder = if self.is_file {
            folder_of(&self.place)
        } else {
            &self.place
        };
        shown(folder)
    }
}

/// The Applications and ApplicationSets of a tree.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// The units that may be applied by hand, in order.
    pub(super) units: Vec<Unit>,
    /// All Applications and ApplicationSets, as files contain or kustomizations build them.
    pub(super) written: Vec<Resource>,
}

/// Finds the Applications and ApplicationSets of a tree.
pub(super) fn units(files: &TreeFiles<'_>, builder: &Builder<'_>) -> Units {
    let mut written: BTreeMap<&str, Vec<Resource>> = BTreeMap::new();
    for path in files.manifests() {
        if !files.mentions(path, GROUP) || files.builds_its_folder(path) {
            continue;
        }
        let found = resources_of(&files.parsed(path), path).unwrap_or_default();
        let found: Vec<Resource> = found.into_iter().filter(is_argo).collect();
        if !found.is_empty() {
            written.insert(path, found);
        }
    }
    if written.is_empty() {
        return Units::default();
    }
    let docs = files.kustomizations();
    let mut included_by: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for doc in docs {
        for place in doc.includes() {
            included_by.entry(place).or_default().push(&doc.folder);
        }
    }
    // The kustomizations that lead to an Application.
    let mut leading: BTreeSet<&str> = BTreeSet::new();
    let mut pending: Vec<&str> = written.keys().copied().collect();
    while let Some(place) = pending.pop() {
        let folders = included_by.get(place).into_iter().flatten();
        pending.extend(folders.copied().filter(|folder| leading.insert(folder)));
    }
    let mut all: Vec<Resource> = written.values().flatten().cloned().collect();
    let mut units = Vec::new();
    for doc in docs {
        let is_component = doc.node.str_at(&["kind"]) == Some("Component");
        let is_root = !is_component && !included_by.contains_key(&doc.folder);
        if !is_root || !leading.contains(&*doc.folder) {
            continue;
        }
        let built = builder.build(doc).unwrap_or_default().resources;
        let resources: Vec<Resource> = built.iter().filter(|one| is_argo(one)).cloned().collect();
        all.extend_from_slice(&resources);
        units.push(Unit {
            place: doc.folder.clone(),
            is_file: false,
            resources,
            may_be_entry: true,
        });
    }
    let free: Vec<&str> = written
        .keys()
        .copied()
        .filter(|path| !included_by.contains_key(*path))
        .collect();
    let left_out = left_out(files, free.iter().copied());
    for path in free {
        units.push(Unit {
            place: path.to_owned(),
            is_file: true,
            resources: written.remove(path).unwrap_or_default(),
            may_be_entry: !left_out.contains(path),
        });
    }
    units.sort_by(|one, other| one.place.cmp(&other.place));
    Units {
        units,
        written: all,
    }
}

/// Returns the units to which nothing else leads. A file that the nearest kustomization above does not list is
/// returned only if it leads to other units: it is then probably applied first, by hand.
pub(super) fn entries<'u>(
    around: Surroundings<'_>,
    units: &'u [Unit],
    flux: &[Delivery],
) -> Vec<&'u Unit> {
    let mut reached = Reached::new(around.files);
    let flux_number = units.len();
    for delivery in flux {
        reached.follow(flux_number, delivery.reached.iter().cloned().collect());
    }
    let places: BTreeSet<&str> = units.iter().map(|unit| &*unit.place).collect();
    let mut roots_of_others = BTreeSet::new();
    for (number, unit) in units.iter().enumerate() {
        let led: Vec<String> = unit
            .resources
            .iter()
            .flat_map(|resource| led_to(around, resource))
            .collect();
        let mut others = led.iter().filter(|place| **place != unit.place);
        if others.any(|place| places.contains(&**place)) {
            roots_of_others.insert(number);
        }
        reached.follow(number, led);
    }
    let found = units.iter().enumerate().filter(|(number, unit)| {
        (unit.may_be_entry || roots_of_others.contains(number))
            && !reached.by_another(&unit.place, *number)
    });
    found.map(|(_, unit)| unit).collect()
}

/// Returns the paths in the tree to which an Application or the Applications of a set lead.
fn led_to(around: Surroundings<'_>, resource: &Resource) -> Vec<String> {
    let applications: Vec<Application> = match ApplicationSet::from_resource(resource) {
        Some(set) => {
            let output = set.output(around, &mut SetClusters::default());
            let output = output.applications.iter();
            output
                .filter_map(|one| Application::from_resource(&one.resource))
                .collect()
        }
        None => Application::from_resource(resource).into_iter().collect(),
    };
    let mut led = BTreeSet::new();
    for source in applications.iter().flat_map(Application::sources) {
        let path = source
            .text_at(&["path"])
            .filter(|path| !path.contains("{{"));
        let repository = source.text_at(&["repoURL"]).unwrap_or_default();
        if let Some(path) = path.filter(|_| around.repositories.are_own(&repository)) {
            led.extend(leads_to(around.files, &folder_of_source(&path), &source));
        }
    }
    led.into_iter().collect()
}
