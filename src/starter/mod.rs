//! The configuration that `init` proposes for a tree: bundles, globs of files that are never applied, and charts that
//! have to be rendered first.

mod bundles;
mod cover;
mod exclude;
mod read;
mod tree;
mod variants;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::Inventory;
use crate::kustomize::{ancestors, folder_of};
use crate::text::glob;
use bundles::Proposed;
use cover::cover;
use tree::FileTree;

pub use exclude::{Exclusion, dominant, fixture_glob, fixtures, is_most};

/// The objects that are built from one folder, by a tool that delivers them or by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveredPart {
    /// The cluster; `None` if no tool of the tree delivers it.
    pub cluster: Option<String>,
    /// The folder that is built. Like `files`, it is relative to the folder of the configuration.
    pub folder: String,
    /// The files that contain the objects.
    pub files: BTreeSet<String>,
    /// The keys of the objects, as they are applied.
    pub keys: Vec<String>,
}

/// A proposed configuration. It is a pure function of a tree and its deliveries; [`Starter::to_yaml`] writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starter {
    /// Globs of files that are never applied.
    exclude: Vec<Exclusion>,
    /// The bundles; empty if one is enough, or if a person has to divide the tree.
    bundles: Vec<Proposed>,
    /// The folder of each chart.
    charts: Vec<String>,
    /// The clusters that tools deliver to, each with the number of objects.
    clusters: BTreeMap<String, usize>,
}

impl Starter {
    /// Proposes a configuration for `inventory`. Its paths begin with `folder`, which is empty or ends in a slash.
    pub fn propose(inventory: &Inventory, folder: &str, delivered: &[DeliveredPart]) -> Self {
        let tree = read::tree(inventory, folder);
        let exclude = exclusions(&tree);
        let tree = without(tree, &exclude);
        let mut clusters = BTreeMap::new();
        for part in delivered {
            if let Some(cluster) = &part.cluster {
                *clusters.entry(cluster.clone()).or_default() += part.keys.len();
            }
        }
        Self {
            bundles: bundles::bundles(&tree, delivered),
            charts: charts(&tree),
            exclude,
            clusters,
        }
    }

    /// Whether it proposes bundles.
    pub fn has_bundles(&self) -> bool {
        !self.bundles.is_empty()
    }

    /// Returns the number of charts, whose templates have to be rendered.
    pub fn charts(&self) -> usize {
        self.charts.len()
    }

    /// Returns the number of files that are left out.
    pub fn left_out(&self) -> usize {
        self.exclude.iter().map(|exclusion| exclusion.covers).sum()
    }

    /// Returns simpler proposals, the best one first, in case this one causes errors. The last
    /// excludes nothing.
    pub fn simpler(&self) -> impl Iterator<Item = Self> + use<> {
        let unparted = Self {
            bundles: Vec::new(),
            ..self.clone()
        };
        let nothing = Self {
            exclude: Vec::new(),
            ..unparted.clone()
        };
        [unparted, nothing].into_iter()
    }
}

/// Returns globs for fixtures, by their names, and for folders of tests.
fn exclusions(tree: &FileTree) -> Vec<Exclusion> {
    let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    let mut exclusions = fixtures(paths.iter().copied());
    let folders = tree.files.iter().flat_map(|file| &file.tests);
    let folders: BTreeSet<&str> = folders.map(String::as_str).collect();
    let tested: BTreeSet<usize> = (0..paths.len())
        .filter(|&file| ancestors(folder_of(paths[file])).any(|folder| folders.contains(folder)))
        .collect();
    let is_excluded = excluded(&paths, &exclusions);
    for path in cover(&paths, |file| tested.contains(&file)) {
        let is_file = tree.file(&path).is_some();
        let covers = tested
            .iter()
            .filter(|&&file| !is_excluded[file] && is_below(paths[file], &path))
            .count();
        let escaped = globset::escape(&path);
        // In a tree of tests only, the tests are meant to be checked.
        if covers > 0 && path != "." {
            let glob = if is_file {
                escaped
            } else {
                format!("{escaped}/**")
            };
            exclusions.push(Exclusion { glob, covers });
        }
    }
    exclusions
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn excluded(paths: &[&str], exclusions: &[Exclusion]) -> Vec<bool> {
    let globs: Vec<_> = exclusions
        .iter()
        .filter_map(|exclusion| glob::glob(&exclusion.glob).ok())
        .collect();
    paths
        .iter()
        .map(|path| globs.iter().any(|glob| glob.is_match(path)))
        .collect()
}

fn without(mut tree: FileTree, exclusions: &[Exclusion]) -> FileTree {
    let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    let mut excluded = excluded(&paths, exclusions).into_iter();
    tree.files.retain(|_| !excluded.next().unwrap_or_default());
    tree
}

/// Returns the folders of charts that are not part of another chart.
fn charts(tree: &FileTree) -> Vec<String> {
    let charts = tree.files.iter().filter(|file| file.is_chart);
    let folders: BTreeSet<&str> = charts.map(|file| folder_of(&file.path)).collect();
    folders
        .iter()
        .filter(|folder| {
            !ancestors(folder)
                .skip(1)
                .any(|above| folders.contains(above))
        })
        .map(|folder| (*folder).to_owned())
        .collect()
}
