//! The configuration that `init` proposes for a tree: what is applied to one cluster, what is never applied, what is
//! rendered first.

mod bundles;
mod cover;
mod exclude;
mod read;
mod tree;
mod units;
mod write;

use std::collections::BTreeSet;

use crate::inventory::Inventory;
use crate::text::glob;
use bundles::Proposed;
use cover::cover;
use tree::{FileTree, folder_of};

pub use exclude::{Exclusion, dominant, fixture_glob, fixtures};
pub use read::PathRoots;

/// A proposal. It is a pure function of a tree; [`Starter::to_yaml`] writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starter {
    /// Globs of what is never applied.
    exclude: Vec<Exclusion>,
    /// What is applied to one cluster; empty for a tree that only a person can divide.
    bundles: Vec<Proposed>,
    /// Name and folder of each chart.
    charts: Vec<(String, String)>,
}

impl Starter {
    /// A proposal for what `inventory` contains.
    pub fn propose(inventory: &Inventory, roots: PathRoots<'_>) -> Self {
        let tree = read::tree(inventory, roots);
        let exclude = exclusions(&tree);
        let tree = without(tree, &exclude);
        Self {
            bundles: bundles::bundles(&tree),
            charts: charts(&tree),
            exclude,
        }
    }

    /// Whether it says what is applied to one cluster.
    pub fn has_bundles(&self) -> bool {
        !self.bundles.is_empty()
    }

    /// How many files are left out.
    pub fn left_out(&self) -> usize {
        self.exclude.iter().map(|exclusion| exclusion.covers).sum()
    }

    /// Simpler proposals, the best one first, for a tree that this one does not suit: the last one changes nothing.
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

    /// The configuration as a text with comments.
    pub fn to_yaml(&self) -> String {
        write::to_yaml(&self.bundles, &self.exclude, &self.charts)
    }
}

/// Fixtures by their names, then the folders of tests.
fn exclusions(tree: &FileTree) -> Vec<Exclusion> {
    let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    let mut exclusions = fixtures(paths.iter().copied());
    let tested: BTreeSet<usize> = tree
        .files
        .iter()
        .flat_map(|file| &file.tests)
        .filter_map(|folder| tree.below(folder))
        .flatten()
        .collect();
    let is_excluded: Vec<bool> = excluded(&paths, &exclusions);
    for path in cover(&paths, |file| tested.contains(&file)) {
        let is_file = tree.file(&path).is_some();
        let covers = tested
            .iter()
            .filter(|&&file| !is_excluded[file] && is_below(paths[file], &path))
            .count();
        let escaped = globset::escape(&path);
        // A whole tree of tests is what somebody wants to have checked.
        if covers > 0 && path != "." {
            exclusions.push(Exclusion {
                glob: if is_file {
                    escaped
                } else {
                    format!("{escaped}/**")
                },
                covers,
            });
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

/// Charts that are not part of another one.
fn charts(tree: &FileTree) -> Vec<(String, String)> {
    let charts = tree
        .files
        .iter()
        .filter_map(|file| Some((file.chart.clone()?, folder_of(&file.path))));
    let charts: Vec<(String, &str)> = charts.collect();
    let folders: BTreeSet<&str> = charts.iter().map(|(_, folder)| *folder).collect();
    let above = |folder: &str| {
        folder
            .match_indices('/')
            .map(|(at, _)| folder[..at].to_owned())
            .collect::<Vec<_>>()
    };
    let is_part = |folder: &str| {
        (!folder.is_empty() && folders.contains(""))
            || above(folder)
                .iter()
                .any(|above| folders.contains(above.as_str()))
    };
    charts
        .into_iter()
        .filter(|(_, folder)| !is_part(folder))
        .map(|(name, folder)| (name, folder.to_owned()))
        .collect()
}
