//! The objects that Argo CD applies from a tree: from its entry points down to the last Application, each read from the
//! build of its parent.

mod application;
mod clusters;
mod combinations;
mod disputed;
mod entries;
mod environment;
mod folders;
mod follow;
mod generators;
mod gotemplate;
mod helm;
mod kept;
mod options;
mod parameters;
mod pattern;
mod plugins;
mod projects;
mod repository;
mod set;
mod set_cache;
mod source;
mod sources;
mod template;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use self::application::Application;
pub use self::application::{
    COSMETIC, OWN_NAME, OWN_SERVER, RESOURCES_FINALIZER, SKIP_RECONCILE, deletion_policy, is_true,
};
pub use self::clusters::KnownCluster;
use self::clusters::KnownClusters;
pub use self::disputed::disputed;
use self::entries::Unit;
use self::follow::Pending;
use self::generators::Surroundings;
pub use self::pattern::GitPattern;
use self::projects::Projects;
use self::repository::Repositories;
use self::set::SetClusters;
use self::set_cache::SetCache;
pub use self::source::overrides_source;
use self::sources::Sources;
use super::delivery::Delivery;
use super::kustomize::{Budget, Builder, Builds, Resource};
use crate::kustomize::BeyondLimit;
use crate::text::Limits;

/// Facts about Argo CD in one state of a tree, for the evaluation of the other state.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The names of control planes, by their entry points.
    planes: BTreeMap<String, Arc<str>>,
    /// The clusters that sets name, by the keys of the sets.
    clusters: BTreeMap<String, SetClusters>,
    /// Cache: the output of sets of both states.
    sets: SetCache,
    /// The places to which something led in this state. They are not entry points in the other
    /// state, even if nothing leads to them there.
    led: BTreeSet<String>,
    /// The repositories that are assumed to be this tree.
    own: Repositories,
    /// The Applications that nothing in the tree delivers, by delivery, with their control planes: they stay as they
    /// are until they are applied by hand.
    entries: BTreeMap<String, (Arc<str>, Resource)>,
    /// The objects that were followed in this state, by delivery, with their control planes.
    followed: BTreeMap<String, (Arc<str>, Pending)>,
    /// The AppProjects of this state.
    projects: Projects,
    /// The deliveries of the previous state that left the tree, with what they deliver in this state if their objects
    /// stay in the cluster. In the order of their ids.
    pub kept: Vec<Delivery>,
}

impl Memory {
    /// Whether the other state names clusters that this one does not: with them, this one can be evaluated further.
    pub fn names_less_than(&self, other: &Self) -> bool {
        let none = SetClusters::default();
        other
            .clusters
            .iter()
            .any(|(set, names)| self.clusters.get(set).unwrap_or(&none).are_less_than(names))
    }

    /// Returns the names of its control planes.
    pub fn planes(&self) -> BTreeSet<Arc<str>> {
        self.planes.values().map(Arc::clone).collect()
    }

    /// Returns the clusters that this state names and the cache, without the other facts.
    pub fn only_clusters(&self) -> Self {
        Self {
            clusters: self.clusters.clone(),
            sets: self.sets.clone(),
            ..Self::default()
        }
    }
}

/// Maximum depth to which two versions of an entry point are compared, and deliveries are ordered.
const DEPTH: usize = 50;

/// The limits of the evaluation, and the known clusters.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'t> {
    /// The limits of the evaluation.
    pub limits: &'t Limits,
    /// The clusters of Argo CD, if they are known.
    pub clusters: Option<&'t [KnownCluster]>,
}

/// Returns everything that Argo CD applies from a tree. `flux` contains the deliveries of Flux,
/// which may deliver Applications.
///
/// `before` and `memory` are the deliveries and the facts of the previous state of the tree. Objects of an Application or
/// a set that can no longer be built stay in the cluster, and the Applications among them are still followed.
///
/// # Errors
/// Returns an error if there are more deliveries or copies of objects than the limits allow.
pub fn deliveries(
    builds: &Builds<'_>,
    terms: Terms<'_>,
    flux: &[Delivery],
    (before, memory): (&[Delivery], &Memory),
) -> Result<(Vec<Delivery>, Memory), BeyondLimit> {
    let limits = terms.limits;
    let budget = Budget::new(limits);
    let files = builds.files();
    let builder = Builder::within(builds, &budget);
    let entries::Units { units, written } = entries::units(files, &builder);
    if units.is_empty() && !flux.iter().any(delivers_argo) && memory.followed.is_empty() {
        return Ok((Vec::new(), Memory::default()));
    }
    let mut run = Run {
        limits,
        clusters: KnownClusters::configured(terms.clusters),
        before,
        sources: Sources {
            files,
            repositories: Repositories::new(files, &written).and(&memory.own),
            plugins: plugins::of_kustomize(files),
            are_overridden: files.paths().any(overrides_source),
            builder,
            made: RefCell::default(),
        },
        known: memory,
        all: Vec::new(),
        memory: memory.only_clusters(),
    };
    for parent in flux.iter().filter(|one| delivers_argo(one)) {
        let starts = parent.resources.iter().filter(|one| is_argo(one)).cloned();
        let starts =
            starts.map(|resource| Pending::new(resource, &parent.cluster, Some(&parent.id)));
        run.follow(&parent.cluster, starts.collect(), &mut BTreeSet::new())?;
    }
    run.planes(&units, flux)?;
    run.fail_on_forbidden_objects(flux);
    run.memory.kept = run.kept()?;
    run.memory.own.clone_from(&run.sources.repositories);
    let Run {
        mut all, memory, ..
    } = run;
    Delivery::sort(&mut all);
    disputed::mark(&mut all);
    Ok((all, memory))
}

fn delivers_argo(delivery: &Delivery) -> bool {
    delivery.resources.iter().any(is_argo)
}

fn is_argo(resource: &Resource) -> bool {
    matches!(resource.kind(), "Application" | "ApplicationSet")
        && resource.group() == application::GROUP
}

struct Run<'r> {
    limits: &'r Limits,
    clusters: KnownClusters,
    before: &'r [Delivery],
    sources: Sources<'r>,
    /// The facts of the previous state.
    known: &'r Memory,
    all: Vec<Delivery>,
    /// The facts of this state.
    memory: Memory,
}

impl Run<'_> {
    /// Returns the context of the generators of sets.
    fn around(&self) -> Surroundings<'_> {
        Surroundings {
            files: self.sources.files,
            repositories: &self.sources.repositories,
            clusters: &self.clusters,
            most: self.limits.deliveries,
            budget: self.sources.builder.budget(),
            sets: &self.memory.sets,
        }
    }

    /// Follows the entry points, each in its control plane. Entry points whose Applications are in one namespace share
    /// a control plane, unless they deliver the same key.
    fn planes(&mut self, units: &[Unit], flux: &[Delivery]) -> Result<(), BeyondLimit> {
        let mut seen_in: BTreeMap<Arc<str>, BTreeSet<String>> = BTreeMap::new();
        let mut of_namespace: BTreeMap<String, Arc<str>> = BTreeMap::new();
        let mut entries = entries::entries(self.around(), units, flux);
        entries.retain(|unit| !self.known.led.contains(&unit.place));
        let evaluated: BTreeSet<&str> = entries.iter().map(|unit| &*unit.place).collect();
        let mut pending: VecDeque<&Unit> = entries.into();
        let mut rest = units.iter();
        let of_flux = flux.iter().flat_map(|one| one.reached.iter().cloned());
        let mut reached: BTreeSet<String> = of_flux.collect();
        let mut followed = self.all.len();
        loop {
            while let Some(unit) = pending.pop_front() {
                let namespace = unit.namespace();
                let own: Arc<str> = Arc::from(unit.place_name());
                let known = self.known.planes.get(&unit.place).cloned();
                let plane = known
                    .or_else(|| of_namespace.get(&namespace).cloned())
                    .or_else(|| match namespace.as_str() {
                        "" => of_namespace.values().next().cloned(),
                        _ => of_namespace.get("").cloned(),
                    })
                    .unwrap_or_else(|| Arc::clone(&own));
                let seen = seen_in.entry(Arc::clone(&plane)).or_default();
                let plane = if self.enter(unit, &plane, seen)? {
                    plane
                } else {
                    let apart = if own == plane {
                        Arc::from(unit.place.as_str())
                    } else {
                        own
                    };
                    self.enter(unit, &apart, &mut BTreeSet::new())?;
                    apart
                };
                of_namespace
                    .entry(namespace)
                    .or_insert_with(|| Arc::clone(&plane));
                self.memory.planes.insert(unit.place.clone(), plane);
            }
            // If entry points lead to each other, the first one is followed.
            for delivery in &self.all[followed..] {
                reached.extend(delivery.reached.iter().cloned());
            }
            followed = self.all.len();
            let left = rest.find(|unit| {
                let is_led = reached.contains(&unit.place) || self.known.led.contains(&unit.place);
                unit.may_be_entry && !evaluated.contains(&*unit.place) && !is_led
            });
            match left {
                Some(unit) => pending.push_back(unit),
                None => break,
            }
        }
        let places = units.iter().map(|unit| &unit.place);
        let led = places
            .filter(|place| !self.memory.planes.contains_key(*place) && reached.contains(*place));
        self.memory.led = led.cloned().collect();
        self.left_behind()
    }

    /// Follows an entry point in a control plane. Returns `false` and adds nothing if one of its
    /// ids is in `seen`, the ids of all deliveries of the control plane: it belongs to another one.
    fn enter(
        &mut self,
        unit: &Unit,
        plane: &Arc<str>,
        seen: &mut BTreeSet<String>,
    ) -> Result<bool, BeyondLimit> {
        let before = self.all.len();
        let followed = std::mem::take(&mut self.memory.followed);
        let mut own = BTreeSet::new();
        let starts = unit
            .resources
            .iter()
            .map(|resource| self.as_it_stays(resource, plane));
        let starts: Vec<Pending> = starts.collect();
        self.follow(plane, starts.clone(), &mut own)?;
        let in_plane = self.all[before..]
            .iter()
            .filter(|one| one.cluster == *plane);
        let secrets = in_plane.flat_map(|one| one.resources.iter());
        if let Some(clusters) = self.clusters.with_secrets(secrets) {
            // The Applications of sets depend on these clusters: they are followed again.
            let configured = std::mem::replace(&mut self.clusters, clusters);
            self.all.truncate(before);
            self.memory.followed.clear();
            own.clear();
            self.follow(plane, starts, &mut own)?;
            self.clusters = configured;
        }
        let followed = std::mem::replace(&mut self.memory.followed, followed);
        if own.iter().any(|id| seen.contains(id)) {
            self.all.truncate(before);
            return Ok(false);
        }
        // As in `Delivery::sort`, the first object of an id counts.
        for (id, one) in followed {
            self.memory.followed.entry(id).or_insert(one);
        }
        for resource in &unit.resources {
            if let Some(id) = entry_id(resource, plane, &self.clusters) {
                let entry = (Arc::clone(plane), resource.clone());
                self.memory.entries.insert(id, entry);
            }
        }
        seen.append(&mut own);
        Ok(true)
    }

    /// Returns an entry point as it is in the cluster: nothing applies a new version automatically.
    fn as_it_stays(&self, resource: &Resource, plane: &Arc<str>) -> Pending {
        let known =
            entry_id(resource, plane, &self.clusters).and_then(|id| self.known.entries.get(&id));
        let Some((_, known)) = known else {
            return Pending::new(resource.clone(), plane, None);
        };
        // If charts are rendered, the entry point is followed as it is written now.
        if self.sources.builder.charts().are_rendered()
            && known.node.to_json(DEPTH) != resource.node.to_json(DEPTH)
        {
            let mut changed = Pending::new(resource.clone(), plane, None);
            changed.is_possible = true;
            return changed;
        }
        Pending::new(known.clone(), plane, None)
    }

    /// Follows the entry points of the previous state that left the tree: nothing deletes them.
    fn left_behind(&mut self) -> Result<(), BeyondLimit> {
        let there: BTreeSet<&str> = self.all.iter().map(|one| one.key.as_str()).collect();
        let scopes = self.sources.files.scopes();
        let gone: Vec<(Arc<str>, Resource)> = self
            .known
            .entries
            .values()
            .filter(|(_, resource)| !there.contains(&*scopes.key(&resource.id())))
            .cloned()
            .collect();
        for (plane, resource) in gone {
            let pending = Pending::new(resource, &plane, None);
            self.follow(&plane, vec![pending], &mut BTreeSet::new())?;
        }
        Ok(())
    }
}

/// Returns the id of the delivery of an Application that is applied by hand in a control plane.
fn entry_id(resource: &Resource, plane: &Arc<str>, clusters: &KnownClusters) -> Option<String> {
    let application = Application::from_resource(resource)?;
    let cluster = application.destination(plane, plane, None, clusters);
    Some(application.deliverer(&cluster, "").id(""))
}
