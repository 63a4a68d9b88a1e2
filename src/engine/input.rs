//! From paths and settings to bundles that are read.

use miette::Diagnostic;
use thiserror::Error;

use crate::inventory::{self, Files, InputError, Inventory, Overlay, Walk};
use crate::rules::World;

/// What to read, and how.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Files, folders, globs and `-`.
    pub paths: Vec<String>,
    /// Globs of reported paths that are left out.
    pub exclude: Vec<String>,
    /// Release, namespace, extra kinds.
    pub settings: inventory::Settings,
}

impl Input {
    /// Finds and reads the input.
    ///
    /// # Errors
    /// An argument that cannot be read.
    pub fn read(self) -> Result<Inventory, InputError> {
        let walk = self.walk(&[])?;
        Ok(self.read_walk(walk, &mut Files::default()))
    }

    fn walk(&self, overlays: &[Overlay]) -> Result<Walk, InputError> {
        inventory::walk_with(&self.paths, &self.exclude, overlays)
    }

    fn read_walk(self, walk: Walk, files: &mut Files) -> Inventory {
        Inventory::new(files.read(walk), self.settings)
    }
}

/// A bundle to read.
#[derive(Clone, Debug, Default)]
pub struct BundleInput {
    /// Its name; `None` for the one bundle of a run without a configuration.
    pub name: Option<String>,
    /// What to read, and how.
    pub input: Input,
    /// Whether the bundle is taken for a whole cluster.
    pub world: World,
}

/// One bundle, read.
#[derive(Debug)]
pub struct Bundle {
    /// What it holds.
    pub inventory: Inventory,
    /// Whether it is taken for a whole cluster.
    pub world: World,
}

/// A bundle that cannot be read.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
pub enum BundleError {
    /// A path of the command line.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Argument(#[from] InputError),
    /// A path of a bundle of the configuration.
    #[error("bundle `{name}`: {source}")]
    #[diagnostic(help("paths of bundles start at the folder of the configuration"))]
    Named {
        /// The bundle's name.
        name: String,
        /// What is wrong.
        source: InputError,
    },
}

/// Reads whole bundles, with unsaved texts in place of files.
///
/// # Errors
/// A path that cannot be read.
pub fn read_bundles(bundles: Vec<BundleInput>, overlays: &[Overlay]) -> Result<Vec<Bundle>, BundleError> {
    let mut files = Files::default();
    let read = |bundle: BundleInput| {
        let BundleInput { name, input, world } = bundle;
        let walk = input.walk(overlays).map_err(|source| match name {
            Some(name) => BundleError::Named { name, source },
            None => BundleError::Argument(source),
        })?;
        Ok(Bundle { inventory: input.read_walk(walk, &mut files), world })
    };
    bundles.into_iter().map(read).collect()
}

/// Reads the paths of `rest`. A file that lies in one of `bundles` is read with that bundle's settings, together with the
/// other files of the bundle among the paths; the files of no bundle make up one more, with the settings of `rest`.
///
/// # Errors
/// A path of `rest` that cannot be read.
pub fn read_paths(
    bundles: Vec<BundleInput>,
    rest: BundleInput,
    overlays: &[Overlay],
) -> Result<Vec<Bundle>, BundleError> {
    let mut files = Files::default();
    let named = rest.input.walk(overlays)?;
    // A bundle that leads nowhere holds none of the paths.
    let walked: Vec<_> =
        bundles.into_iter().filter_map(|bundle| bundle.input.walk(overlays).ok().map(|w| (bundle, w))).collect();
    let walks: Vec<_> = walked.iter().map(|(_, walk)| walk).collect();
    let outside = named.shared_with(&walks, false);
    let mut read = Vec::new();
    for (bundle, walk) in &walked {
        let walk = named.shared_with(&[walk], true);
        if !walk.files.is_empty() || !walk.unreadable.is_empty() {
            read.push(Bundle { inventory: bundle.input.clone().read_walk(walk, &mut files), world: bundle.world });
        }
    }
    if read.is_empty() || !outside.files.is_empty() || !outside.unreadable.is_empty() {
        read.push(Bundle { inventory: rest.input.read_walk(outside, &mut files), world: rest.world });
    }
    Ok(read)
}
