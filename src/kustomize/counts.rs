//! The sizes of builds, counted before anything is built: overlays that include each other in many ways build a few objects
//! over and over.

use std::fmt;

use foldhash::HashMap;

use super::path::resolve;
use super::tree::SourceTree;
use crate::text::Limits;

/// The size of the build of one kustomization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// The objects and, where there is none in them, the files and kustomizations: each as often as it is built.
    pub(super) instances: usize,
    /// Whether a kustomization among these includes itself.
    pub(super) is_circular: bool,
}

/// The size of the build of each kustomization of a tree, by its folder.
pub(super) type Counts = HashMap<String, Count>;

enum Visit {
    Enter(String),
    Leave(String),
}

/// Counts in one pass over the kustomizations, those that others include first.
pub(super) fn counts(tree: &SourceTree<'_>) -> Counts {
    // `None`: it is on the way to those that it includes.
    let mut known: HashMap<String, Option<Count>> = HashMap::default();
    let mut pending: Vec<Visit> = tree
        .kustomizations()
        .map(|(folder, _)| Visit::Enter(folder.to_owned()))
        .collect();
    while let Some(visit) = pending.pop() {
        match visit {
            Visit::Enter(folder) => {
                if known.contains_key(&folder) {
                    continue;
                }
                known.insert(folder.clone(), None);
                let inner: Vec<String> = included(tree, &folder).collect();
                pending.push(Visit::Leave(folder));
                pending.extend(
                    inner
                        .into_iter()
                        .filter(|inner| !known.contains_key(inner))
                        .map(Visit::Enter),
                );
            }
            Visit::Leave(folder) => {
                let count = count(tree, &folder, &known);
                known.insert(folder, Some(count));
            }
        }
    }
    known
        .into_iter()
        .filter_map(|(folder, count)| Some((folder, count?)))
        .collect()
}

fn count(tree: &SourceTree<'_>, folder: &str, known: &HashMap<String, Option<Count>>) -> Count {
    let mut all = Count {
        instances: 1,
        is_circular: false,
    };
    for path in included(tree, folder) {
        let found = match (tree.file(&path), known.get(&path)) {
            (Some((_, file)), _) => Count {
                instances: file.instances(),
                ..Count::default()
            },
            (None, Some(Some(inner))) => inner.clone(),
            (None, Some(None)) => Count {
                is_circular: true,
                ..Count::default()
            },
            (None, None) => continue,
        };
        all.instances = all.instances.saturating_add(found.instances);
        all.is_circular |= found.is_circular;
    }
    all
}

/// The paths that the kustomization of a folder includes, as often as it does.
fn included<'t>(
    tree: &'t SourceTree<'_>,
    folder: &'t str,
) -> impl Iterator<Item = String> + use<'t> {
    let written = tree
        .kustomization(folder)
        .into_iter()
        .flat_map(|one| one.resources.iter().chain(&one.components));
    written.map(move |written| resolve(folder, written))
}

/// A limit on builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The copies of objects.
    Instances,
    /// The clusters into which objects deliver others, each with its own part of the work as a bundle has it.
    Clusters,
    /// The objects that deliver others.
    Deliveries,
}

/// A place at which builds go beyond a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeyondLimit {
    /// The limit.
    pub limit: Limit,
    /// The number that it allows.
    pub most: usize,
    /// The kustomization, the folder or the file of the object that delivers.
    pub path: String,
}

impl BeyondLimit {
    /// The `limit` among `limits` that is exceeded at `path`.
    pub fn of(limit: Limit, limits: &Limits, path: impl Into<String>) -> Self {
        let most = match limit {
            Limit::Instances => limits.instances,
            Limit::Clusters => limits.bundles,
            Limit::Deliveries => limits.deliveries,
        };
        Self {
            limit,
            most,
            path: path.into(),
        }
    }

    /// This in a tree below `top`, whose limits are a part of `limits`.
    #[must_use]
    pub fn within(self, top: &str, limits: &Limits) -> Self {
        Self::of(self.limit, limits, resolve(top, &self.path))
    }

    /// The key of the limit in a configuration.
    pub fn key(&self) -> &'static str {
        match self.limit {
            Limit::Instances => "instances",
            Limit::Clusters => "bundles",
            Limit::Deliveries => "deliveries",
        }
    }
}

impl fmt::Display for BeyondLimit {
    /// Says which limit the path exceeds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.limit {
            Limit::Instances => write!(
                f,
                "with this one, builds make more than {most} copies of objects"
            ),
            Limit::Clusters => {
                write!(
                    f,
                    "with this one, objects deliver into more than {most} clusters"
                )
            }
            Limit::Deliveries => {
                write!(f, "with this one, more than {most} objects deliver others")
            }
        }
    }
}
