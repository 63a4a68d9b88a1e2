//! The clusters that a bundle is applied to. A plan is about one of them, with its objects as tools apply them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::question::PlanError;
use crate::changes::{Destination, TreePart};
use crate::cluster::Analysis;
use crate::engine::compare::{RenderedChart, UnlistedFiles, parts_of};
use crate::engine::input::Bundle;
use crate::engine::request::RenderedCharts;
use crate::graph::argo::Terms;
use crate::inventory::{Inventory, Member, Settings};
use crate::kube::{GroupKind, Namespace, ObjectKey, kinds};
use crate::kustomize::{SourceTool, ancestors, folder_of, resolve};
use crate::manifest::{ParsedFile, is_kustomization};
use crate::merge::delivering;
use crate::ownership::tops;

/// The kinds whose objects deliver files of a repository.
const DELIVERING: [GroupKind<&str>; 3] = [
    kinds::FLUX_KUSTOMIZATION,
    kinds::APPLICATION,
    kinds::APPLICATION_SET,
];

/// A bundle, with the objects of each of its clusters.
#[derive(Debug)]
pub(in crate::engine) struct Clusters<'b> {
    bundle: &'b Bundle,
    /// The reported paths of the files that `Request::beside` adds.
    beside: BTreeSet<&'b str>,
    /// For each repository, a part for each cluster, and last a part with the objects that nothing applies.
    repositories: Vec<Vec<TreePart>>,
}

#[derive(Clone, Copy)]
pub(in crate::engine) struct PlannedCluster<'g> {
    pub(super) bundle: &'g Bundle,
    beside: &'g BTreeSet<&'g str>,
    /// The parts of the repository; empty if objects are applied as they are written.
    pub(super) parts: &'g [TreePart],
    /// The index of its part.
    pub(super) at: usize,
}

impl<'g> PlannedCluster<'g> {
    pub(in crate::engine) fn part(&self) -> Option<&'g TreePart> {
        self.parts.get(self.at)
    }

    /// Returns the cluster at index `at` of the same repository.
    pub(super) fn with_part(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// Whether anything applies its objects.
    pub(in crate::engine) fn is_applied(&self) -> bool {
        self.parts.is_empty() || self.at + 1 < self.parts.len()
    }

    /// Returns its name; `None` if it may be the same cluster as another.
    pub(in crate::engine) fn name(&self) -> Option<&'g str> {
        self.part()?.cluster.as_deref()
    }

    /// Whether `name` is its name in `list --deliveries` or the configuration. A cluster without a
    /// name has the names of all entry points that deliver into it.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let Some(part) = self.part() else {
            return false;
        };
        let mut by = part.destinations().filter_map(Destination::deliverer);
        self.name() == Some(name) || by.any(|by| *by.place() == *name)
    }

    pub(in crate::engine) fn inventory(&self) -> &'g Inventory {
        self.part()
            .map_or(&self.bundle.inventory, |part| &part.inventory)
    }

    /// Returns the objects of the input, without those that `Request::beside` adds.
    pub(super) fn asked_for(&self) -> impl Iterator<Item = &'g Member> + use<'g> {
        let (inventory, beside) = (self.inventory(), self.beside);
        inventory.members.iter().filter(move |member| {
            beside.is_empty() || !beside.contains(inventory.sources.file(member.file).path())
        })
    }

    /// Returns the Kustomizations that the Flux Operator creates for FluxInstances: they deliver, and no file contains
    /// them.
    pub(super) fn synced(&self) -> BTreeSet<ObjectKey> {
        let Some(part) = self.part() else {
            return BTreeSet::new();
        };
        let deliverers = part.destinations().filter_map(Destination::deliverer);
        let synced = deliverers.filter(|by| {
            let is_entry = part
                .delivery(by)
                .is_some_and(|known| known.parent.is_none());
            by.tool == SourceTool::Flux
                && is_entry
                && delivering(&self.bundle.inventory, by).is_none()
        });
        let keys = synced.map(|by| {
            let namespace = Namespace::Named(by.namespace.as_str().into());
            ObjectKey::new(kinds::FLUX_KUSTOMIZATION, namespace, &by.name)
        });
        keys.collect()
    }

    /// Returns the destination of an object of its inventory; `None` if objects are applied as they are written.
    pub(in crate::engine) fn destination(&self, member: &Member) -> Option<&'g Destination> {
        Some(self.part()?.destination(member.file))
    }

    /// Creates its analysis, which computes everything on first use.
    pub(in crate::engine) fn analysis(&self) -> Analysis<'g> {
        let Some(part) = self.part() else {
            return self.bundle.analysis();
        };
        Analysis::of(&part.inventory)
            .with_tables(Arc::clone(&self.bundle.tables))
            .delivered_by(self.bundle.delivery)
            .delivered_as(|file| part.destination(file).deliverer())
    }
}

impl<'b> Clusters<'b> {
    /// Evaluates the clusters of a bundle; `charts` are its rendered charts.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(in crate::engine) fn of(
        bundle: &'b Bundle,
        charts: &RenderedCharts,
        terms: Terms<'_>,
    ) -> Result<Self, PlanError> {
        let inventory = &bundle.inventory;
        let is_delivered = inventory.of_kinds(&DELIVERING).next().is_some();
        if !is_delivered && inventory.neighbourhood().kustomizations().is_empty() {
            return Ok(Self::as_written(bundle));
        }
        let mut tops = tops(inventory, bundle.analysis().delivery_objects());
        if tops.is_empty() {
            tops.insert(String::new());
        }
        let (mut repositories, mut beside) = by_repository(bundle, &tops, charts);
        if repositories.len() > 1 {
            // Their repository is unknown, so they are put into the one at the top, not into each.
            let files = beside
                .drain(..)
                .map(|file| (file.source().path().into(), file));
            repositories.entry("").or_default().files.extend(files);
        }
        let settings = Settings {
            release: inventory.kinds.release(),
            namespace: inventory.namespace.clone(),
            extra_kinds: inventory.kinds.extra().to_vec(),
            limits: inventory.limits,
        };
        let others = UnlistedFiles::below(&folders(bundle));
        let parts = repositories.into_iter().map(|(top, repository)| {
            let RepositoryFiles { files, charts } = repository;
            let files = (files, others.within(top));
            parts_of(files, charts, &beside, (terms, &settings)).map_err(Box::new)
        });
        Ok(Self {
            repositories: parts.collect::<Result<_, _>>()?,
            ..Self::as_written(bundle)
        })
    }

    /// Returns the one cluster of a bundle whose objects are applied as they are written.
    pub(in crate::engine) fn as_written(bundle: &'b Bundle) -> Self {
        Self {
            bundle,
            beside: bundle.beside(),
            repositories: Vec::new(),
        }
    }

    /// Returns a cluster with all objects of the bundle as they are written.
    pub(in crate::engine) fn written(&self) -> PlannedCluster<'_> {
        self.cluster(&[], 0)
    }

    /// Returns the clusters that have objects. The last one of each repository has the objects that nothing applies.
    pub(in crate::engine) fn all(&self) -> Vec<PlannedCluster<'_>> {
        let mut all: Vec<PlannedCluster<'_>> = Vec::new();
        for parts in &self.repositories {
            for (at, part) in parts.iter().enumerate() {
                if part.inventory.members.iter().any(|one| part.is_own(one)) {
                    all.push(self.cluster(parts, at));
                }
            }
        }
        if all.is_empty() {
            all.push(self.written());
        }
        all
    }

    fn cluster<'c>(&'c self, parts: &'c [TreePart], at: usize) -> PlannedCluster<'c> {
        PlannedCluster {
            bundle: self.bundle,
            beside: &self.beside,
            parts,
            at,
        }
    }
}

#[derive(Default)]
struct RepositoryFiles {
    /// The files, with their paths from its root.
    files: Vec<(Arc<str>, ParsedFile)>,
    charts: Vec<RenderedChart>,
}

/// Returns the folders in which the builds of a bundle may read files that are not manifests: its arguments, and the
/// folders of its kustomizations.
fn folders(bundle: &Bundle) -> BTreeSet<String> {
    let arguments = bundle.arguments.iter().map(String::as_str);
    let arguments = arguments.filter(|path| Path::new(path).is_dir());
    let paths = bundle.inventory.sources.iter();
    let paths = paths.map(|(_, file)| file.path());
    let kustomized = paths.filter(|path| is_kustomization(path)).map(folder_of);
    let folders = arguments.chain(kustomized);
    folders.map(|folder| resolve("", folder)).collect()
}

/// Groups the files of a bundle by the tops of their repositories; files below no top are returned separately.
fn by_repository<'t>(
    bundle: &Bundle,
    tops: &'t BTreeSet<String>,
    charts: &RenderedCharts,
) -> (BTreeMap<&'t str, RepositoryFiles>, Vec<ParsedFile>) {
    let mut repositories: BTreeMap<&str, RepositoryFiles> = BTreeMap::new();
    let mut outside = Vec::new();
    for (_, file) in bundle.inventory.files() {
        let path = resolve("", file.source().path());
        let top = ancestors(folder_of(&path)).find_map(|folder| tops.get(folder));
        let Some(top) = top else {
            outside.push(file.clone());
            continue;
        };
        let repository = repositories.entry(top).or_default();
        let file = file.clone();
        if let Some(by) = charts.get(file.source().path()) {
            let by = by.clone();
            repository.charts.push(RenderedChart { by, file });
        } else {
            let place = path.strip_prefix(top.as_str()).unwrap_or(&path);
            let place = Arc::from(place.trim_start_matches('/'));
            repository.files.push((place, file));
        }
    }
    (repositories, outside)
}
