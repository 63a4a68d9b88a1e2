//! The input of a command: plain data, as a command line, an editor or a test puts it together.

use std::collections::BTreeMap;

use crate::inventory::{Overlay, Release};
use crate::kustomize::Deliverer;
use crate::rules::World;

/// The input, and how it is read. The configuration fills in what is missing; an entry here takes precedence.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Request {
    /// Files, folders, globs and `-`. None: the bundles of the configuration, else the current folder.
    pub paths: Vec<String>,
    /// Files, folders and globs of other objects in the cluster: read with the paths, and never asked about.
    pub beside: Vec<String>,
    /// Globs of reported paths that are left out, besides those of the configuration.
    pub exclude: Vec<String>,
    /// The namespace of namespaced objects without one.
    pub namespace: Option<String>,
    /// The release whose built-in kinds count.
    pub release: Option<Release>,
    /// Whether the input is treated as the whole cluster.
    pub world: Option<World>,
    /// Which configuration counts.
    pub config: ConfigChoice,
    /// The one bundle of the configuration to read; with paths, the one whose settings count for them.
    pub bundle: Option<String>,
    /// Unsaved texts in place of files.
    pub overlays: Vec<Overlay>,
    /// Which of them are rendered charts.
    pub(crate) rendered: RenderedCharts,
}

/// Texts to which charts render, by their paths, each with the object that delivers the chart; `None` if a person installs it.
pub(crate) type RenderedCharts = BTreeMap<String, Option<Deliverer>>;

impl Request {
    /// Asks for these files, folders and globs, and leaves everything else to the configuration. None: the bundles of the
    /// configuration, else the current folder.
    pub fn new<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self {
            paths: paths.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

/// Which configuration counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigChoice {
    /// The one beside the first path or above it, if there is one.
    #[default]
    Discover,
    /// This file.
    File(String),
    /// None.
    Without,
}

/// Which known findings are left out of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselineChoice {
    /// Those of the configured file, else of `ownerlint-baseline.json` beside the configuration, if there is one.
    #[default]
    Discover,
    /// Those of this file.
    File(String),
    /// None.
    Without,
}
