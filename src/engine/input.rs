//! From paths and settings to bundles that are read.

use std::sync::Arc;

use miette::Diagnostic;
use thiserror::Error;

use crate::cluster::Analysis;
use crate::delivery::DeliveryTool;
use crate::inventory::{self, Files, InputError, Inventory, Overlay, Walk};
use crate::ownership::Tables;
use crate::rules::World;

/// What to read, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    /// Files, folders, globs and `-`.
    pub(super) paths: Vec<String>,
    /// Globs of reported paths that are left out.
    pub(super) exclude: Vec<String>,
    /// Release, namespace, extra kinds.
    pub(super) settings: inventory::Settings,
}

impl Input {
    fn walk(&self, overlays: &[Overlay]) -> Result<Walk, InputError> {
        inventory::walk_with(&self.paths, &self.exclude, overlays)
    }
}

/// A bundle to read.
#[derive(Clone, Debug)]
pub(super) struct BundleInput {
    /// Its name; `None` for the one bundle of a run without a configuration.
    pub(super) name: Option<String>,
    /// What to read, and how.
    pub(super) input: Input,
    /// Whether the bundle is treated as the whole cluster.
    pub(super) world: World,
    /// The tool that delivers the bundle, if the configuration says.
    pub(super) delivery: Option<DeliveryTool>,
    /// What is known of operators.
    pub(super) tables: Arc<Tables>,
}

/// One bundle, read.
#[derive(Debug)]
pub struct Bundle {
    /// Its name in the configuration; `None` for files of no bundle.
    pub name: Option<String>,
    /// Its content.
    pub inventory: Inventory,
    /// Whether it is treated as the whole cluster.
    pub world: World,
    /// The tool that delivers it, if the configuration says.
    pub delivery: Option<DeliveryTool>,
    /// What is known of operators: the bundled tables with the rows of the configuration.
    pub tables: Arc<Tables>,
}

impl Bundle {
    /// Its analysis; nothing is computed yet.
    pub(super) fn analysis(&self) -> Analysis<'_> {
        Analysis::of(&self.inventory).knowing(Arc::clone(&self.tables)).delivered_by(self.delivery)
    }
}

/// A bundle that cannot be read.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleError {
    /// A path of the command line.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Argument(#[from] InputError),
    /// A path of a bundle in the configuration.
    #[error("bundle `{name}`: {reason}")]
    #[diagnostic(help("paths of bundles are relative to the folder of the configuration"))]
    Named {
        /// The bundle's name.
        name: String,
        /// What is wrong.
        reason: InputError,
    },
}

impl BundleInput {
    fn read(self, walk: Walk, files: &mut Files) -> Bundle {
        let Self { name, input, world, delivery, tables } = self;
        Bundle { name, inventory: Inventory::new(files.read(walk), input.settings), world, delivery, tables }
    }
}

/// Reads whole bundles, with unsaved texts in place of files.
pub(super) fn read_bundles(
    bundles: Vec<BundleInput>,
    overlays: &[Overlay],
    files: &mut Files,
) -> Result<Vec<Bundle>, BundleError> {
    let read = |bundle: BundleInput| {
        let walk = bundle.input.walk(overlays).map_err(|reason| match bundle.name.clone() {
            Some(name) => BundleError::Named { name, reason },
            None => BundleError::Argument(reason),
        })?;
        Ok(bundle.read(walk, files))
    };
    bundles.into_iter().map(read).collect()
}

/// Reads the paths of `rest`. A file in one of `bundles` is read with that bundle's settings, together with the other
/// files of the bundle among the paths; the files of no bundle make up one more, with the settings of `rest`.
pub(super) fn read_paths(
    bundles: Vec<BundleInput>,
    rest: BundleInput,
    overlays: &[Overlay],
    files: &mut Files,
) -> Result<Vec<Bundle>, BundleError> {
    let named = rest.input.walk(overlays)?;
    // A bundle whose paths do not exist contains none of these paths.
    let walked = bundles.into_iter().filter_map(|bundle| bundle.input.walk(overlays).ok().map(|walk| (bundle, walk)));
    let walked: Vec<_> = walked.collect();
    let walks: Vec<_> = walked.iter().map(|(_, walk)| walk).collect();
    let outside = named.shared_with(&walks, false);
    let mut read = Vec::new();
    for (bundle, walk) in walked {
        let walk = named.shared_with(&[&walk], true);
        if !walk.files.is_empty() || !walk.unreadable.is_empty() {
            read.push(bundle.read(walk, files));
        }
    }
    if read.is_empty() || !outside.files.is_empty() || !outside.unreadable.is_empty() {
        read.push(rest.read(outside, files));
    }
    Ok(read)
}
