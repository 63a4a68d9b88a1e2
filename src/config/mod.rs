//! The configuration, `ownerlint.yaml`: discovery, reading and validation. There is one file per run; nothing is
//! merged.
//!
//! It is read through ownerlint's YAML tree, so that every mistake is shown at its place. Unknown keys are mistakes.
//!
//! Does not depend on the command line, whose options override the configuration.

mod clusters;
mod controllers;
mod discover;
mod documents;
mod limits;
mod mistake;
mod operator_file;
mod operators;
mod read;
mod value;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::charts::ChartSettings;
use crate::delivery::DeliveryTool;
use crate::finding::Severity;
use crate::graph::argo::KnownCluster;
use crate::inventory::{ExtraKind, Release};
use crate::knowledge::Facts;
use crate::rules::World;
use crate::suppression::Ignore;
use crate::text::{Limits, SourceFile, Span};

pub(crate) use discover::relative;
pub use discover::{FILE_NAMES, discover, folder_of};
pub(crate) use documents::{ConfigDocument, StepsDocument};
pub use mistake::Mistake;
pub use operator_file::read_operator;
pub use read::{MAPPINGS, Mapping, NAMESPACE_NAME};
pub(crate) use value::{Values, tree_of};

/// The content of a configuration. Missing entries are `None` or empty.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its text, under the path that diagnostics show.
    pub source: SourceFile,
    /// Named sets of paths, sorted by name.
    pub bundles: Vec<BundleConfig>,
    /// The namespace of bundles that do not name one.
    pub namespace: Option<String>,
    /// The `world` of bundles that do not set it.
    pub world: Option<World>,
    /// Globs that are left out of every bundle.
    pub exclude: Vec<String>,
    /// The Kubernetes release whose built-in kinds are used.
    pub kubernetes_version: Option<Release>,
    /// Kinds beyond the built-in ones and the CRDs in the input.
    pub scopes: Vec<ExtraKind>,
    /// The lowest severity that makes a run fail; `Some(None)` means never.
    pub fail_on: Option<Option<Severity>>,
    /// The baseline file.
    pub baseline: Option<String>,
    /// Severities of rules.
    pub severities: BTreeMap<&'static str, Severity>,
    /// Rules that do not run.
    pub off: Vec<&'static str>,
    /// Suppressions of findings on objects.
    pub ignores: Vec<Ignore>,
    /// Facts about the user's operators. The scopes of kinds are in `scopes` instead.
    pub facts: Facts,
    /// Operator files that are not read yet, with the places that name them.
    pub(crate) operator_files: Vec<(String, Span)>,
    /// The clusters that Argo CD delivers into; if it is set, the list is complete.
    pub clusters: Option<Vec<KnownCluster>>,
    /// How charts are rendered.
    pub charts: ChartSettings,
    /// The limits of a run.
    pub limits: Limits,
    /// The place of the key `bundles`.
    #[doc(hidden)]
    pub bundles_place: Span,
}

impl Config {
    /// Keeps only names: bundles with their paths, clusters and namespaces, and scopes. Drops everything that affects
    /// findings, and excluded files, tools, operators and programs to run.
    #[must_use]
    pub fn names_only(self) -> Self {
        let bundles = self.bundles.into_iter().map(|bundle| BundleConfig {
            name: bundle.name,
            paths: bundle.paths,
            namespace: bundle.namespace,
            cluster: bundle.cluster,
            place: bundle.place,
            ..BundleConfig::default()
        });
        Self {
            bundles: bundles.collect(),
            namespace: self.namespace,
            scopes: self.scopes,
            bundles_place: self.bundles_place,
            ..Self::of_source(self.source)
        }
    }

    /// Creates an empty configuration.
    fn of_source(source: SourceFile) -> Self {
        Self {
            source,
            bundles: Vec::new(),
            namespace: None,
            world: None,
            exclude: Vec::new(),
            kubernetes_version: None,
            scopes: Vec::new(),
            fail_on: None,
            baseline: None,
            severities: BTreeMap::new(),
            off: Vec::new(),
            ignores: Vec::new(),
            facts: Facts::default(),
            operator_files: Vec::new(),
            clusters: None,
            charts: ChartSettings::default(),
            limits: Limits::default(),
            bundles_place: Span::empty(0),
        }
    }
}

/// A named set of paths with its own inventory. Paths are relative to the folder of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleConfig {
    /// Its name.
    pub name: String,
    /// Files, folders and globs.
    pub paths: Vec<String>,
    /// Globs to leave out.
    pub exclude: Vec<String>,
    /// The namespace of namespaced objects without one.
    pub namespace: Option<String>,
    /// Whether the bundle is treated as the whole cluster.
    pub world: Option<World>,
    /// The name of the cluster that it is applied to.
    pub cluster: Option<String>,
    /// The tool that delivers it.
    pub delivery: Option<DeliveryTool>,
    /// The program that prints its manifests, and the arguments.
    pub render: Option<Vec<String>>,
    /// The time limit of the program.
    pub timeout: Option<Duration>,
    /// The place of its name.
    pub place: Span,
}
