//! Divides the files of a state into parts: where each file is applied, and under which names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashSet;

use super::{Parsed, destination_of};
use crate::changes::{Destination, PlacedFile, TreePart, WholeTree};
use crate::delivery::release_folder;
use crate::engine::SessionError;
use crate::engine::compare::built::BuildRoot;
use crate::engine::compare::cluster::ClusterInput;
use crate::engine::compare::definitions::Definitions;
use crate::engine::input::BundleInput;
use crate::inventory::{AppliedFile, BuiltKeys, Settings};
use crate::kustomize::{ancestors, folder_of, resolve};
use crate::manifest::ParsedFile;

/// A configured cluster, with its bundles in one state.
pub(in crate::engine::compare) struct ConfiguredCluster<'c> {
    cluster: &'c ClusterInput,
    bundles: Vec<BundleFiles<'c>>,
}

/// The files that the paths of a bundle lead to, and its roots, by index.
struct BundleFiles<'c> {
    bundle: &'c BundleInput,
    named: BTreeSet<usize>,
    roots: Vec<usize>,
}

impl Parsed {
    /// Divides the state into parts: one for each of the `configured` clusters, one for all other applied files, one
    /// for each of [`Self::clusters`], and one for the files that are not applied.
    ///
    /// - `rest`: the settings for files of no bundle.
    /// - `are_apart`: whether no state [shares](Self::shares_deliveries) a delivery among the configured clusters.
    /// - `beside`: files that are in each cluster.
    /// - `elsewhere`: the kinds that CRDs of any part define.
    /// - `free`: the files that the other state has outside of all kustomizations.
    pub(in crate::engine::compare) fn arrange(
        self,
        (configured, rest, are_apart): (&[ConfiguredCluster<'_>], &Settings, bool),
        beside: &[ParsedFile],
        elsewhere: &Definitions,
        free: &BTreeSet<Arc<str>>,
    ) -> Vec<TreePart> {
        let built = self.roots.iter().flat_map(|root| &root.files);
        let built = built.map(|(file, _)| *file).collect();
        let mut assigned = Assignment {
            state: &self,
            built,
            are_apart,
            roots: HashSet::default(),
            reached: BTreeSet::new(),
            rendered: BTreeSet::new(),
        };
        let mut trees = Vec::new();
        for ConfiguredCluster { cluster, bundles } in configured {
            let settings = cluster.settings();
            let mut files = Vec::new();
            for found in bundles {
                let own = found
                    .bundle
                    .input
                    .settings
                    .namespace
                    .as_deref()
                    .filter(|_| settings.namespace.is_none());
                let own: Option<Arc<str>> = own.map(Arc::from);
                let mut of_bundle = assigned.bundle(found);
                for file in &mut of_bundle {
                    file.file.namespace.clone_from(&own);
                }
                files.extend(of_bundle);
            }
            trees.push((files, settings, cluster.called()));
        }
        let (applied, unapplied) = assigned.rest(free);
        let mut of_clusters: BTreeMap<Option<&str>, Vec<PlacedFile>> = BTreeMap::new();
        let names = self.clusters.iter().map(|cluster| Some(&**cluster));
        of_clusters.extend(names.chain([None]).map(|name| (name, Vec::new())));
        for file in applied {
            let by = file.destination.deliverer();
            let cluster = by.and_then(|by| self.clusters.get(&by.place()));
            let there = of_clusters.entry(cluster.map(|name| &**name)).or_default();
            there.push(file);
        }
        // The cluster without a name comes first.
        trees.extend(
            of_clusters
                .into_iter()
                .map(|(cluster, files)| (files, rest.clone(), cluster)),
        );
        for (files, ..) in &mut trees {
            files.extend(beside.iter().map(|file| placed(file, Destination::Context)));
        }
        trees.push((unapplied, rest.clone(), None));
        let whole = Arc::new(WholeTree {
            folders: self.folders.clone(),
            unbuildable: self.unbuildable().collect(),
            deliveries: self.delivered.known(),
            unread_releases: self.delivered.unread_releases(),
            kept: self.delivered.kept(),
        });
        let trees = trees.into_iter().map(|(files, mut settings, cluster)| {
            let own = Definitions::of(files.iter().map(|file| &file.file.file));
            settings.extra_kinds.extend(elsewhere.beyond(&own));
            TreePart::new(files, settings, cluster, Arc::clone(&whole))
        });
        trees.collect()
    }

    /// Finds the files and the roots of the bundles of `configured` clusters.
    ///
    /// # Errors
    /// A glob of a bundle is malformed.
    pub(in crate::engine::compare) fn bundles<'c>(
        &self,
        configured: &'c [ClusterInput],
    ) -> Result<Vec<ConfiguredCluster<'c>>, SessionError> {
        let clusters = configured.iter().map(|cluster| {
            let bundles = cluster.bundles.iter().map(|bundle| {
                let named = self.named(bundle)?;
                Ok(BundleFiles {
                    bundle,
                    roots: self.roots_of(&named),
                    named,
                })
            });
            Ok(ConfiguredCluster {
                cluster,
                bundles: bundles.collect::<Result<_, SessionError>>()?,
            })
        });
        clusters.collect()
    }

    /// Whether several of the `configured` clusters contain the same delivery. A delivery goes into one cluster only,
    /// so the configuration does not describe the clusters of deliveries then.
    pub(in crate::engine::compare) fn shares_deliveries(
        &self,
        configured: &[ConfiguredCluster<'_>],
    ) -> bool {
        let mut known = HashSet::default();
        configured.iter().any(|cluster| {
            let roots = cluster.bundles.iter().flat_map(|found| &found.roots);
            let own: BTreeSet<usize> = roots.copied().collect();
            let mut delivered = own.iter().filter(|at| self.roots[**at].by.is_some());
            delivered.any(|at| !known.insert(*at))
        })
    }

    /// Returns the indices of the roots that build one of the files `named` by a bundle, and whose folder contains one.
    fn roots_of(&self, named: &BTreeSet<usize>) -> Vec<usize> {
        let folders = named
            .iter()
            .flat_map(|at| ancestors(folder_of(&self.places[*at])));
        let folders: HashSet<&str> = folders.collect();
        let roots = self.roots.iter().enumerate().filter(|(_, root)| {
            folders.contains(root.folder.as_str())
                && root.files.iter().any(|(file, _)| named.contains(file))
        });
        roots.map(|(at, _)| at).collect()
    }
}

/// Gives a destination to a file that is not in the tree.
fn placed(file: &ParsedFile, destination: Destination) -> PlacedFile {
    PlacedFile {
        place: Arc::from(file.source().path()),
        destination,
        file: file.clone().into(),
        build: None,
    }
}

/// Assigns destinations to files, and records which files have one.
struct Assignment<'s> {
    state: &'s Parsed,
    /// Files that some root builds.
    built: HashSet<usize>,
    /// Whether the configured clusters decide on the cluster of a delivery.
    are_apart: bool,
    /// Roots of bundles.
    roots: HashSet<usize>,
    reached: BTreeSet<usize>,
    /// Files of bundles that a command of the configuration renders.
    rendered: BTreeSet<usize>,
}

impl Assignment<'_> {
    /// Assigns the files of a bundle: those that roots within its paths build, and those that no kustomization governs.
    /// A root that the tree delivers keeps its tool.
    fn bundle(&mut self, found: &BundleFiles<'_>) -> Vec<PlacedFile> {
        let state = self.state;
        let BundleFiles {
            bundle,
            named,
            roots,
        } = found;
        let called = bundle.name.as_deref().unwrap_or_default();
        let name = Destination::Bundle(called.into());
        let rendered = state.rendered.bundles.get(called);
        let mut files = Vec::new();
        let mut destinations = BTreeSet::new();
        for &at in roots {
            let root = &state.roots[at];
            let by = root.by.as_deref();
            // The manifests that a command of the configuration prints replace every root.
            let is_left = by.is_some_and(|by| {
                let is_here = self.are_apart && !state.clusters.contains(&by.place());
                (!is_here && rendered.is_none()) || self.roots.contains(&at)
            });
            if !is_left {
                let destination = by.map_or_else(|| name.clone(), |_| destination_of(root));
                files.extend(self.root(root, &destination, &BTreeSet::new()));
                self.roots.insert(at);
                destinations.insert(destination);
            }
        }
        for &at in named {
            let place = &state.places[at];
            let is_built = self.built.contains(&at) || state.delivered.may_fail(place);
            if !is_built && !state.delivered.governs(place) {
                files.push(self.file(at, name.clone(), None));
            }
        }
        match rendered {
            Some(file) => {
                self.rendered.extend(named);
                let only = destinations.pop_first();
                let only = only.filter(|_| destinations.is_empty());
                vec![placed(file, only.unwrap_or(name))]
            }
            None => files,
        }
    }

    /// Whether a root is a chart of a bundle that a command of the configuration renders.
    fn is_chart_of_rendered_bundle(&self, root: &BuildRoot) -> bool {
        let file = resolve(&root.folder, "Chart.yaml");
        let place = self.state.index_of(&file).filter(|_| root.is_chart);
        place.is_some_and(|at| self.rendered.contains(&at))
    }

    /// Assigns the files of a root, except those that are `claimed`. If no file is, and kustomize
    /// rendered the root, assigns its output instead.
    fn root(
        &mut self,
        root: &BuildRoot,
        destination: &Destination,
        claimed: &BTreeSet<usize>,
    ) -> Vec<PlacedFile> {
        let own = root.files.iter();
        let own = own.filter(|(file, _)| !claimed.contains(file));
        let sources: Vec<PlacedFile> = own
            .map(|(file, built)| PlacedFile {
                build: root.objects.clone(),
                ..self.file(*file, destination.clone(), Some(Arc::clone(built)))
            })
            .collect();
        let generated = root.generated.iter();
        let generated = generated.map(|(place, file)| PlacedFile {
            place: Arc::clone(place),
            build: root.objects.clone(),
            ..placed(file, destination.clone())
        });
        let rendered = self.state.rendered.roots.get(&root.folder);
        match rendered.filter(|_| sources.len() == root.files.len()) {
            Some(file) => vec![placed(file, destination.clone())],
            None => sources.into_iter().chain(generated).collect(),
        }
    }

    /// Assigns the files of no bundle. Returns those that are applied, and those that are not.
    fn rest(&mut self, free: &BTreeSet<Arc<str>>) -> (Vec<PlacedFile>, Vec<PlacedFile>) {
        let state = self.state;
        let delivered = &state.delivered;
        let claimed = std::mem::take(&mut self.reached);
        let none = BTreeSet::new();
        let mut applied = Vec::new();
        for (at, root) in state.roots.iter().enumerate() {
            if !self.roots.contains(&at) && !self.is_chart_of_rendered_bundle(root) {
                let claimed = root.by.as_ref().map_or(&claimed, |_| &none);
                applied.extend(self.root(root, &destination_of(root), claimed));
            }
        }
        let mut unapplied = Vec::new();
        let elsewhere = delivered.files_of_unchanged();
        for (at, place) in state.places.iter().enumerate() {
            if claimed.contains(&at)
                || self.reached.contains(&at)
                || elsewhere.contains(&**place)
                || delivered.is_in_chart(place)
                || delivered.may_fail(place)
            {
                continue;
            }
            let release = release_folder(place, state.files[at].source());
            let folder = Arc::from(release.unwrap_or(folder_of(place)));
            match (delivered.governs(place), free.contains(place)) {
                (true, false) => {
                    unapplied.push(self.file(at, Destination::Unapplied(folder), None));
                }
                // Disowned files stay with applied ones, so that relations between them are found.
                (true, true) => {
                    applied.push(self.file(at, Destination::NewlyGoverned(folder), None));
                }
                (false, _) => applied.push(self.file(at, Destination::Folder(folder), None)),
            }
        }
        (applied, unapplied)
    }

    fn file(
        &mut self,
        at: usize,
        destination: Destination,
        built: Option<Arc<BuiltKeys>>,
    ) -> PlacedFile {
        self.reached.insert(at);
        let file = AppliedFile {
            built,
            ..self.state.files[at].clone().into()
        };
        PlacedFile {
            place: Arc::clone(&self.state.places[at]),
            destination,
            file,
            build: None,
        }
    }
}
