//! What a command asks to have read: plain data, as a command line, an editor or a test puts it together.

use crate::inventory::{Overlay, Release};
use crate::rules::World;

/// What to read, and how. What it leaves out the configuration says; what it says has the last word.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files, folders, globs and `-`. None: the bundles of the configuration, else the current folder.
    pub paths: Vec<String>,
    /// Globs of reported paths that are left out, besides those of the configuration.
    pub exclude: Vec<String>,
    /// The namespace of namespaced objects that do not say theirs.
    pub namespace: Option<String>,
    /// The release whose built-in kinds count.
    pub release: Option<Release>,
    /// Whether the input is taken for a whole cluster.
    pub world: Option<World>,
    /// Which configuration counts.
    pub config: ConfigChoice,
    /// The one bundle of the configuration to read; with paths, the one whose settings count for them.
    pub bundle: Option<String>,
    /// Unsaved texts in place of files.
    pub overlays: Vec<Overlay>,
}

/// Which configuration counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConfigChoice {
    /// The one beside the first path or above it, if there is one.
    #[default]
    Discover,
    /// This file.
    File(String),
    /// None.
    Without,
}
