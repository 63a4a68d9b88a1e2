//! The builds of Flux and Argo CD in a state. Files outside of them are assigned by folder.

mod builds;
mod doubt;
mod known;
mod refused;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::charted::{render_differing, titles, unread};
use super::parsed::Parsed;
use super::unchanged::unchanged;
use crate::charts::Charts;
use crate::engine::SessionError;
use crate::graph::argo::Terms;
use crate::graph::delivery::Delivery;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{Builds, Origin};
use crate::graph::scopes::ClusterScopes;
use crate::graph::unread::{UnreadInput, What};
use crate::graph::{self, argo, unreached};
use crate::kustomize::{BeyondLimit, Deliverer, SourceTool, ancestors, folder_of};

#[derive(Debug, Default)]
pub(super) struct Delivered {
    /// The deliveries, in the order of their ids.
    all: Vec<Delivery>,
    /// The kustomizations that no delivery names, and the charts that a person installs.
    roots: Vec<Delivery>,
    /// The folders that have a kustomization.
    governed: BTreeSet<String>,
    /// The folders of deliveries that fail and whose objects are not known.
    failing: BTreeSet<String>,
    memory: argo::Memory,
    /// The files whose effects on builds are evaluated.
    evaluated: BTreeSet<String>,
    scopes: Arc<ClusterScopes>,
    /// The clusters into which both states deliver equal objects.
    unchanged: BTreeSet<Arc<str>>,
    charted: Charted,
    /// Titles of the charts of deliveries, by the ids of the deliveries.
    titles: BTreeMap<String, String>,
}

/// The files and folders of a state that decide what charts render to.
#[derive(Debug, Default)]
struct Charted {
    read: BTreeSet<String>,
    /// Files whose chart was not rendered, with the reason.
    failed: BTreeMap<String, String>,
    /// The folders of the charts that were rendered in the other state.
    beside: BTreeSet<String>,
    /// The folders of the charts that were rendered.
    folders: BTreeSet<String>,
}

/// Evaluates the deliveries of both states. Also returns the separate clusters into which they
/// deliver different objects; each gets a part of its own.
///
/// # Errors
/// A limit is exceeded, or there are charts to render and no `helm`.
pub(super) fn evaluated(
    states: [Parsed; 2],
    terms: Terms<'_>,
    charts: &Charts,
) -> Result<([Parsed; 2], BTreeSet<Arc<str>>), SessionError> {
    let [mut base, mut head] = states;
    let [of_base, of_head] = [&mut base, &mut head].map(|state| take(&mut state.tree_files));
    let trees = [base.tree(of_base), head.tree(of_head)];
    // Rendered charts may name further charts, so this is repeated until there are none.
    let [mut old, mut new] = loop {
        let both = both(&trees, terms, charts)?;
        let states = both.each_ref().map(Delivered::deliveries);
        if !render_differing(charts, states, &both[1].memory.kept)? {
            break both;
        }
    };
    old.note_charts(charts);
    new.note_charts(charts);
    old.titles = titles(charts, &old.deliveries(), &new.deliveries());
    let folders = &old.charted.folders | &new.charted.folders;
    old.charted.beside.clone_from(&new.charted.folders);
    new.charted.beside.clone_from(&old.charted.folders);
    old.charted.folders.clone_from(&folders);
    new.charted.folders = folders;
    let mut clusters = old.clusters();
    clusters.extend(new.clusters());
    let same = unchanged([(&old.all, &trees[0]), (&new.all, &trees[1])], &clusters);
    clusters.retain(|cluster| !same.contains(cluster));
    old.unchanged.clone_from(&same);
    new.unchanged = same;
    drop(trees);
    old.leave_out(|origin| base.leaves_out(origin));
    new.leave_out(|origin| head.leaves_out(origin));
    Ok(([base.delivered(old), head.delivered(new)], clusters))
}

/// Evaluates the deliveries of both states.
fn both(
    trees: &[TreeFiles<'_>; 2],
    terms: Terms<'_>,
    charts: &Charts,
) -> Result<[Delivered; 2], BeyondLimit> {
    let none = Delivered::default();
    let of_base = Builds::new(&trees[0], charts);
    let of_head = Builds::after(&of_base, &trees[1]);
    let mut old = Delivered::of(&of_base, terms, &none, &argo::Memory::default())?;
    let mut new = Delivered::of(&of_head, terms, &old, &old.memory)?;
    if old.memory.names_less_than(&new.memory) {
        old = Delivered::of(&of_base, terms, &none, &new.memory.only_clusters())?;
        new = Delivered::of(&of_head, terms, &old, &old.memory)?;
    }
    old.add_roots(&of_base, terms)?;
    new.add_roots(&of_head, terms)?;
    new.fail_on_removed_dependencies(&old, of_head.files());
    new.fail_on_unready_dependencies(Some(&old));
    old.fail_on_unready_dependencies(None);
    new.fail_on_shared_objects(&old);
    new.fail_if_emptied(&old);
    new.note_unknown_dependencies(&old);
    // Only charts that both states have and no delivery uses in either are roots: a chart that a delivery uses in one
    // state is not also installed by hand.
    let charts = [&old, &new].map(Delivered::charts_alone);
    let in_both = &charts[0] & &charts[1];
    for one in [&mut old, &mut new] {
        one.roots
            .retain(|root| !root.is_chart || in_both.contains(&root.path));
    }
    Ok([old, new])
}

impl Delivered {
    /// Evaluates the deliveries of a state, which follows the state `before`. `memory`: facts about Argo CD from
    /// another state.
    fn of(
        builds: &Builds<'_>,
        terms: Terms<'_>,
        before: &Self,
        memory: &argo::Memory,
    ) -> Result<Self, BeyondLimit> {
        let (mut all, memory) = graph::deliveries(builds, terms, (&before.all, memory))?;
        all.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(Self {
            all,
            memory,
            scopes: Arc::clone(builds.files().scopes()),
            ..Self::default()
        })
    }

    /// Evaluates the deliveries of a state that is not compared with another one.
    pub(super) fn alone(tree: &TreeFiles<'_>, terms: Terms<'_>) -> Result<Self, BeyondLimit> {
        let charts = Charts::unrendered();
        let builds = Builds::new(tree, &charts);
        let mut alone = Self::of(&builds, terms, &Self::default(), &argo::Memory::default())?;
        alone.add_roots(&builds, terms)?;
        Ok(alone)
    }

    /// Returns the deliverers by tool and key; `None` where several share a key. The clusters are left out, because
    /// another evaluation of the tree may name them differently.
    pub(super) fn by_key(&self) -> HashMap<(SourceTool, String), Option<&Deliverer>> {
        let mut found = HashMap::default();
        for by in self.all.iter().filter_map(|one| one.by.as_ref()) {
            let known = found.entry((by.tool, by.key()));
            known.and_modify(|known| *known = None).or_insert(Some(by));
        }
        found
    }

    /// Adds the roots that no tool of the tree delivers: kustomizations that a person builds and, if charts are
    /// rendered, charts that a person installs.
    fn add_roots(&mut self, builds: &Builds<'_>, terms: Terms<'_>) -> Result<(), BeyondLimit> {
        self.roots = unreached::roots(builds, &self.all, terms.limits)?;
        if builds.charts().are_rendered() {
            let charts = unreached::charts(builds, self.deliveries(), &|_| true);
            self.roots.extend(charts);
        }
        let governed = builds.files().kustomizations().iter();
        self.governed = governed.map(|doc| doc.folder.clone()).collect();
        let mut all = self.deliveries();
        all.extend(&self.memory.kept);
        self.evaluated = evaluated_files(builds.files(), &all);
        self.evaluated
            .extend(unapplied_files(builds.files(), &self.all));
        Ok(())
    }

    /// Removes the objects with the origins for which `is_left_out` holds.
    fn leave_out(&mut self, is_left_out: impl Fn(&Origin) -> bool) {
        for delivery in self.all.iter_mut().chain(&mut self.roots) {
            let mut resources = delivery.resources.iter();
            if resources.any(|resource| is_left_out(&resource.origin)) {
                let kept = Arc::make_mut(&mut delivery.resources);
                kept.retain(|resource| !is_left_out(&resource.origin));
            }
        }
    }

    pub(super) fn deliveries(&self) -> Vec<&Delivery> {
        self.all.iter().chain(&self.roots).collect()
    }

    /// Marks Applications, each with the id of its set, as no longer disputed.
    pub(super) fn settle(&mut self, applications: &BTreeSet<(String, String)>) {
        let sets: BTreeSet<&str> = applications.iter().map(|(set, _)| set.as_str()).collect();
        let all = self.all.iter_mut();
        for set in all.filter(|one| sets.contains(one.id.as_str())) {
            for resource in Arc::make_mut(&mut set.resources) {
                let application = (set.id.clone(), resource.id().key());
                resource.is_disputed &= !applications.contains(&application);
            }
        }
    }

    /// Returns the folders of charts that nothing names.
    fn charts_alone(&self) -> BTreeSet<String> {
        let charts = self.roots.iter().filter(|root| root.is_chart);
        charts.map(|root| root.path.clone()).collect()
    }

    /// Returns the folders of kustomizations that no delivery names and that have charts rendered.
    pub(super) fn with_charts(&self) -> BTreeSet<&str> {
        let roots = self.roots.iter();
        let roots = roots.filter(|root| !root.is_chart && !root.charts.is_empty());
        roots.map(|root| root.path.as_str()).collect()
    }

    /// Records the files that decide what charts render to, with the results.
    fn note_charts(&mut self, charts: &Charts) {
        let mut all = self.deliveries();
        all.extend(&self.memory.kept);
        let calls = all.iter().flat_map(|one| &one.charts);
        let mut found = Charted {
            folders: charts.folders(calls),
            ..Charted::default()
        };
        for one in all {
            for call in &one.charts {
                let Some(asked) = charts.call(call) else {
                    continue;
                };
                let outcome = charts.outcome(call);
                let outcome = match unread(one) {
                    Some(unread) if outcome.is_some() => Some(Err(unread.reason.clone())),
                    _ => outcome,
                };
                let places = asked.places().into_iter().chain([one.file.to_string()]);
                match outcome {
                    Some(Ok(())) => found.read.extend(places),
                    Some(Err(reason)) => {
                        let failed = places.map(|place| (place, reason.clone()));
                        found.failed.extend(failed);
                    }
                    None => {}
                }
            }
        }
        self.charted = found;
    }

    /// Returns the charts whose rendering failed, with their deliveries.
    pub(super) fn unrendered(&self) -> impl Iterator<Item = (&Delivery, &UnreadInput)> {
        let all = self.deliveries().into_iter();
        all.filter_map(|one| Some((one, unread(one)?)))
    }

    pub(super) fn delivery_or_root(&self, id: &str) -> Option<&Delivery> {
        self.delivery(id)
            .or_else(|| self.roots.iter().find(|root| root.id == id))
    }

    /// Returns the result of rendering the charts that the file at `place` affects, in this state or only in the other
    /// one; `None` if it affects none.
    pub(super) fn charted(&self, place: &str) -> Option<Result<(), String>> {
        let Charted {
            read,
            failed,
            beside,
            ..
        } = &self.charted;
        if read.is_empty() && failed.is_empty() && beside.is_empty() {
            return None;
        }
        if let Some(reason) = ancestors(place).find_map(|above| failed.get(above)) {
            return Some(Err(reason.clone()));
        }
        ancestors(place)
            .any(|above| read.contains(above) || beside.contains(above))
            .then_some(Ok(()))
    }

    /// Whether a file is part of a rendered chart, and so is not a manifest.
    pub(super) fn is_in_chart(&self, place: &str) -> bool {
        let folders = &self.charted.folders;
        !folders.is_empty() && ancestors(place).any(|above| folders.contains(above))
    }

    /// Whether builds evaluated the components, patches, generators and variables in the file at `place`.
    pub(super) fn evaluated(&self, place: &str) -> bool {
        self.evaluated.contains(place)
    }

    /// Returns the [`separate_clusters`] of the state.
    pub(super) fn clusters(&self) -> BTreeSet<Arc<str>> {
        separate_clusters(self.all.iter(), &self.memory)
    }

    pub(super) fn delivery(&self, id: &str) -> Option<&Delivery> {
        Delivery::find(&self.all, id)
    }

    /// Returns the delivery that delivers `delivery`; it may be a kept one.
    fn parent(&self, delivery: &Delivery) -> Option<&Delivery> {
        let id = delivery.parent.as_deref()?;
        self.delivery(id)
            .or_else(|| Delivery::find(&self.memory.kept, id))
    }

    /// Returns the cluster that contains a delivery object of Flux, which may deliver into another one.
    fn home<'d>(&'d self, delivery: &'d Delivery) -> &'d str {
        match (&delivery.parent, self.parent(delivery)) {
            // The own cluster of an entry point has the name of the folder that it builds.
            (None, _) => &delivery.path,
            (Some(_), Some(parent)) => &parent.cluster,
            (Some(_), None) => &delivery.cluster,
        }
    }

    /// Returns the files of clusters into which both states deliver equal objects.
    pub(super) fn files_of_unchanged(&self) -> BTreeSet<&str> {
        let unchanged = self.all.iter().filter(|one| self.is_unchanged(one));
        unchanged
            .flat_map(|one| one.reached.iter().map(String::as_str))
            .collect()
    }

    fn is_unchanged(&self, delivery: &Delivery) -> bool {
        !self.unchanged.is_empty()
            && delivery
                .by
                .as_ref()
                .is_some_and(|by| self.unchanged.contains(&by.place()))
    }

    /// Whether a file may belong to a delivery that fails.
    pub(super) fn may_fail(&self, place: &str) -> bool {
        let failing = &self.failing;
        !failing.is_empty() && ancestors(folder_of(place)).any(|above| failing.contains(above))
    }

    /// Whether a kustomization in or above the folder of a file decides whether the file is applied.
    pub(super) fn governs(&self, path: &str) -> bool {
        ancestors(folder_of(path)).any(|folder| self.governed.contains(folder))
    }
}

/// Returns the clusters of deliveries that are certainly different. With Flux: those whose entry points share a
/// key, and those into which another cluster delivers. With Argo CD: the control planes, if there are several, and the
/// clusters that are neither a control plane nor a cluster of Flux. `memory`: the facts about Argo CD of this state.
pub(super) fn separate_clusters<'d>(
    all: impl Iterator<Item = &'d Delivery> + Clone,
    memory: &argo::Memory,
) -> BTreeSet<Arc<str>> {
    let by_id: HashMap<&str, &Delivery> = all.clone().map(|one| (one.id.as_str(), one)).collect();
    let (flux, argo): (Vec<&Delivery>, Vec<&Delivery>) =
        all.partition(|one| one.by.as_ref().is_none_or(|by| by.tool.is_flux()));
    let mut entries: HashMap<&str, Vec<&Delivery>> = HashMap::default();
    for entry in flux.iter().filter(|one| one.parent.is_none()) {
        entries.entry(&entry.key).or_default().push(entry);
    }
    let alike = entries.into_values().filter(|alike| alike.len() > 1);
    let remote = flux.iter().copied().filter(|one| {
        let parent = one.parent.as_deref().and_then(|parent| by_id.get(parent));
        match parent {
            Some(parent) => parent.cluster != one.cluster,
            // An entry point's own cluster has the name of the folder that it builds.
            None => *one.cluster != *one.path,
        }
    });
    let apart = alike.flatten().chain(remote);
    let mut apart: BTreeSet<Arc<str>> = apart.map(|one| Arc::clone(&one.cluster)).collect();
    let planes = memory.planes();
    let of_flux: BTreeSet<&Arc<str>> = flux.iter().map(|one| &one.cluster).collect();
    let argo = argo.iter().filter_map(|one| one.by.as_ref());
    let argo = argo.map(Deliverer::place).filter(|place| {
        if planes.contains(place) {
            planes.len() > 1
        } else {
            !of_flux.contains(place)
        }
    });
    apart.extend(argo);
    apart
}

/// Returns the files with Kustomizations of Flux that nothing applies: no kustomization includes them, or their
/// delivery was removed.
fn unapplied_files(files: &TreeFiles<'_>, all: &[Delivery]) -> Vec<String> {
    let applied: BTreeSet<&str> = all.iter().map(|delivery| &*delivery.file).collect();
    let flux = SourceTool::Flux.kind().group;
    files
        .manifests()
        .filter(|path| !applied.contains(path) && files.mentions(path, flux))
        .map(str::to_owned)
        .collect()
}

/// Returns the files whose effects on builds are evaluated, including those of a failing build: its failure is
/// reported, and nothing more is known of its inputs.
fn evaluated_files(tree: &TreeFiles<'_>, all: &[&Delivery]) -> BTreeSet<String> {
    let reached = all.iter().flat_map(|delivery| delivery.reached.iter());
    let reached: HashSet<&String> = reached.collect();
    let kustomizations = reached.into_iter();
    let mut evaluated: BTreeSet<String> = kustomizations
        .filter_map(|folder| tree.kustomization_of(folder))
        .collect();
    for delivery in all {
        let is_known = delivery.unread.iter().all(|one| one.what != What::Variable);
        if is_known {
            evaluated.insert(delivery.file.to_string());
        }
    }
    // Files that are programs, or that name one, are not evaluated.
    let programs = [
        What::Transformer,
        What::Generator,
        What::Template,
        What::Plugin,
        What::Jsonnet,
    ];
    for unread in all.iter().flat_map(|delivery| &delivery.unread) {
        if programs.contains(&unread.what) {
            evaluated.remove(&unread.file);
        }
    }
    evaluated
}
