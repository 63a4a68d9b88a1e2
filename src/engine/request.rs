//! The input of a command, as plain data that a command line, an editor or a test builds.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Overlay, Release};
use crate::kustomize::Deliverer;
use crate::rules::World;
use crate::text::RenderedPart;

/// The input, and how it is read. The configuration fills in what is missing; an entry here takes precedence.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// Files, folders, globs and `-`. If empty, the bundles of the configuration, else the current folder.
    pub paths: Vec<String>,
    /// Files, folders and globs of other objects in the cluster: read as context, but not the subject of a command.
    pub beside: Vec<String>,
    /// Whether the repositories of `paths` are read as context, so that a check of a folder has the findings that a check of
    /// its repository has for the files in it.
    pub in_repository: bool,
    /// Globs of files to leave out, besides those of the configuration; they match the paths that reports show.
    pub exclude: Vec<String>,
    /// The namespace of namespaced objects without one.
    pub namespace: Option<String>,
    /// The Kubernetes release whose built-in kinds are assumed.
    pub release: Option<Release>,
    /// Whether the input is treated as the whole cluster.
    pub world: Option<World>,
    /// The configuration to use.
    pub config: ConfigChoice,
    /// The one bundle of the configuration to read; with paths, the one whose settings apply to them.
    pub bundle: Option<String>,
    /// Unsaved texts in place of files.
    pub overlays: Vec<Overlay>,
    /// The overlays that are rendered charts.
    pub(crate) rendered: RenderedCharts,
    pub(crate) renders: bool,
    /// The charts that could not be rendered.
    pub(crate) unrendered: UnrenderedCharts,
    /// The paths of the overlays that programs of bundles printed, by the names of the bundles.
    pub(crate) printed: BTreeMap<String, String>,
    /// The parts of the overlays in `rendered`, by path.
    pub(crate) made: BTreeMap<String, Vec<RenderedPart>>,
}

/// The charts that could not be rendered, a sentence for each.
#[derive(Clone, Debug, Default)]
pub struct UnrenderedCharts {
    /// Charts that helm rejects with values that are all known: their tools reject them, too.
    pub(crate) rejected: BTreeSet<String>,
    /// Other charts, such as those that could not be fetched.
    pub(crate) others: BTreeSet<String>,
}

/// Rendered charts, by the path of the overlay, each with the object that delivers it; `None` if a person installs it.
pub(crate) type RenderedCharts = BTreeMap<String, Option<Deliverer>>;

impl Request {
    /// Builds a request for files, folders and globs that leaves everything else to the configuration. Without paths,
    /// it is for the bundles of the configuration, else the current folder.
    pub fn new<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self {
            paths: paths.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

/// The choice of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigChoice {
    /// The nearest one beside the first path or above it, if there is one.
    #[default]
    Discover,
    /// This file.
    File(String),
    /// No configuration.
    Without,
}

/// The choice of a baseline, whose findings are left out of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselineChoice {
    /// The configured file, else `ownerlint-baseline.json` beside the configuration, if there is one.
    #[default]
    Discover,
    /// This file.
    File(String),
    /// No baseline.
    Without,
}
