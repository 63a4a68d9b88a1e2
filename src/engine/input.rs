//! Reads bundles from paths and settings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use miette::Diagnostic;
use thiserror::Error;

use super::repository::Repositories;
use crate::cluster::Analysis;
use crate::delivery::DeliveryTool;
use crate::inventory::{
    self, CopyBudget, Files, InDocument, InputError, Inventory, Member, Overlay, Past, Walk,
    WalkBudget,
};
use crate::knowledge::Tables;
use crate::manifest::{ParsedFile, Skip};
use crate::rules::World;
use crate::text::{FileId, SourceFile};

/// The input of a bundle, and how it is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    /// Files, folders, globs and `-`.
    pub(super) paths: Vec<String>,
    /// Globs of files to leave out; they match the paths that reports show.
    pub(super) exclude: Vec<String>,
    /// Release, namespace, extra kinds.
    pub(super) settings: inventory::Settings,
}

impl Input {
    /// Lists the files.
    fn walk(
        &self,
        around: &Surroundings<'_>,
        files: &mut Files,
        budget: &WalkBudget,
    ) -> Result<Arc<Walk>, InputError> {
        let (paths, exclude) = (&self.paths, &self.exclude);
        let walk = match around.past {
            Some(past) => Arc::new(inventory::walk_past(paths, exclude, past, budget)?),
            None => files.walk(paths, exclude, around.overlays, budget)?,
        };
        budget.admit_files(walk.files.len() + around.beside.files.len())?;
        Ok(walk)
    }
}

#[derive(Clone, Debug)]
pub(super) struct BundleInput {
    /// Its name in the configuration; `None` for files of no bundle.
    pub(super) name: Option<String>,
    pub(super) input: Input,
    /// Whether the bundle is treated as the whole cluster.
    pub(super) world: World,
    /// The name of the cluster that it is applied to, if the configuration has one.
    pub(super) cluster: Option<String>,
    /// The tool that delivers the bundle, if the configuration says.
    pub(super) delivery: Option<DeliveryTool>,
    pub(super) tables: Arc<Tables>,
    pub(super) rendering: RenderSettings,
}

/// How the manifests of a bundle are rendered, where rendering is requested.
#[derive(Clone, Debug, Default)]
pub(super) struct RenderSettings {
    /// The folder of the configuration, in which its program is run.
    pub(super) folder: String,
    /// The program and its arguments, if the configuration names one.
    pub(super) arguments: Option<Vec<String>>,
    /// How long a program may take, if the configuration says.
    pub(super) timeout: Option<Duration>,
    /// The line of the configuration that names the bundle.
    pub(super) line: usize,
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
    /// The operator tables: the built-in ones with the rows of the configuration.
    pub tables: Arc<Tables>,
    /// The arguments that led to its files, in the order in which they were given.
    pub(super) arguments: Vec<String>,
    /// Whether globs may exclude some of the named files.
    pub(super) excludes: bool,
    /// Symbolic links to folders outside the tree, which were not followed.
    pub(super) outside: Vec<String>,
    /// Files that are read as context: those of other objects in its cluster, and of the repositories of its files.
    beside: BTreeSet<FileId>,
    /// The reported paths of files that the inventory has under another path, which begins at the root of a repository.
    named: BTreeMap<FileId, String>,
    /// The roots of the repositories that are read as context.
    pub(super) repositories: Vec<String>,
}

impl Bundle {
    /// Builds a bundle without a configuration.
    pub(super) fn of(inventory: Inventory, world: World, tables: Arc<Tables>) -> Self {
        Self {
            name: None,
            inventory,
            world,
            delivery: None,
            tables,
            arguments: Vec::new(),
            excludes: false,
            outside: Vec::new(),
            beside: BTreeSet::new(),
            named: BTreeMap::new(),
            repositories: Vec::new(),
        }
    }

    /// Returns its name for messages.
    pub(super) fn named(&self) -> String {
        self.name
            .as_ref()
            .map_or("the files outside any bundle".to_owned(), |name| {
                format!("`{name}`")
            })
    }

    /// Returns the index of the argument that led to the file at `path`; the number of arguments if none did.
    pub(super) fn argument_of(&self, path: &str) -> usize {
        self.arguments
            .iter()
            .position(|argument| leads(bare(argument), bare(path)))
            .unwrap_or(self.arguments.len())
    }

    /// Returns the objects of the input, without those of files that are read as context.
    pub(super) fn asked_for(&self) -> impl Iterator<Item = &Member> {
        self.inventory
            .members
            .iter()
            .filter(|member| self.is_asked_for(member.file))
    }

    /// Whether a file is the subject of a command, and not read as context.
    pub(super) fn is_asked_for(&self, file: FileId) -> bool {
        !self.beside.contains(&file)
    }

    /// Returns the files without those that are read as context.
    pub(super) fn files(&self) -> impl Iterator<Item = (FileId, &ParsedFile)> {
        let files = self.inventory.files();
        files.filter(|(file, _)| self.is_asked_for(*file))
    }

    /// Returns the skipped documents without those of files that are read as context.
    pub(super) fn skipped(&self) -> impl Iterator<Item = InDocument<Skip>> {
        let skipped = self.inventory.skipped();
        skipped.filter(|skip| self.is_asked_for(skip.file))
    }

    /// Returns the reported path of a file.
    pub(super) fn path(&self, file: FileId) -> &str {
        let named = self.named.get(&file).map(String::as_str);
        named.unwrap_or_else(|| self.inventory.sources.file(file).path())
    }

    /// Returns all files under their reported paths.
    pub(super) fn reported_files(&self) -> Vec<SourceFile> {
        let sources = self.inventory.sources.iter();
        let files = sources.map(|(id, file)| match self.named.get(&id) {
            Some(path) => file.seen_as(path.as_str(), file.side()),
            None => file.clone(),
        });
        files.collect()
    }

    /// Returns the paths that the inventory has for the files that are read as context.
    pub(super) fn beside(&self) -> BTreeSet<&str> {
        let sources = &self.inventory.sources;
        self.beside
            .iter()
            .map(|file| sources.file(*file).path())
            .collect()
    }

    /// Creates its analysis, which computes everything on first use.
    pub(super) fn analysis(&self) -> Analysis<'_> {
        Analysis::of(&self.inventory)
            .with_tables(Arc::clone(&self.tables))
            .delivered_by(self.delivery)
    }
}

/// Whether an argument, which may be a glob, leads to the file at `path`.
fn leads(argument: &str, path: &str) -> bool {
    let literal = argument.split(['*', '?', '[', '{']).next();
    let literal = literal.unwrap_or_default();
    let is_glob = literal.len() < argument.len();
    let folder = literal.trim_end_matches('/');
    folder.is_empty()
        || folder == "."
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| is_glob || rest.is_empty() || rest.starts_with('/'))
}

fn bare(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
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
        /// Why it cannot be read.
        reason: InputError,
    },
}

impl BundleInput {
    fn failed(&self, reason: InputError) -> BundleError {
        match self.name.clone() {
            Some(name) => BundleError::Named { name, reason },
            None => BundleError::Argument(reason),
        }
    }

    /// Reads the files of `walk` and `beside`.
    ///
    /// # Errors
    /// The files have more instances of objects than the limit allows.
    fn read(
        self,
        walk: &Walk,
        larger: Option<&Walk>,
        files: &mut Files,
        copies: &mut CopyBudget,
    ) -> Result<Bundle, BundleError> {
        let all = larger.unwrap_or(walk);
        let parsed = files.read(all);
        let limit = self.input.settings.limits.instances;
        copies
            .admit(all, &parsed, limit)
            .map_err(|reason| self.failed(reason))?;
        let inventory = Inventory::new(parsed, self.input.settings);
        let bundle = Bundle {
            name: self.name,
            delivery: self.delivery,
            arguments: self.input.paths,
            excludes: !self.input.exclude.is_empty(),
            outside: walk.outside.clone(),
            ..Bundle::of(inventory, self.world, self.tables)
        };
        let Some(larger) = larger else {
            return Ok(bundle);
        };
        let names = larger.names_in(walk);
        let (mut beside, mut named) = (BTreeSet::new(), BTreeMap::new());
        for (id, file) in bundle.inventory.sources.iter() {
            match names.get(file.path()) {
                None => drop(beside.insert(id)),
                Some(path) if path != file.path() => drop(named.insert(id, path.clone())),
                Some(_) => {}
            }
        }
        Ok(Bundle {
            beside,
            named,
            ..bundle
        })
    }
}

/// The input that all bundles share.
#[derive(Debug, Default)]
pub(super) struct Surroundings<'a> {
    /// Unsaved texts in place of files.
    pub(super) overlays: &'a [Overlay],
    /// The earlier contents of changed files, if the state before a change is read.
    pub(super) past: Option<&'a Past>,
    /// The files of other objects in the cluster of each bundle.
    pub(super) beside: Walk,
}

impl Surroundings<'_> {
    /// Returns the union of `walk` and the files of other objects; `None` if there are none.
    fn around(&self, walk: &Walk) -> Option<Walk> {
        let is_alone = self.beside.files.is_empty() && self.beside.unreadable.is_empty();
        (!is_alone).then(|| walk.joined(&self.beside))
    }
}

pub(super) fn read_bundles(
    bundles: Vec<BundleInput>,
    around: &Surroundings<'_>,
    files: &mut Files,
) -> Result<Vec<Bundle>, BundleError> {
    let budget = WalkBudget::default();
    // All bundles are walked before the first is read: together, they may have too many files.
    let walked = bundles
        .into_iter()
        .map(|bundle| {
            let walk = bundle.input.walk(around, files, &budget);
            let walk = walk.map_err(|reason| bundle.failed(reason))?;
            Ok((bundle, walk))
        })
        .collect::<Result<Vec<_>, BundleError>>()?;
    let mut copies = CopyBudget::default();
    walked
        .into_iter()
        .map(|(bundle, walk)| bundle.read(&walk, around.around(&walk).as_ref(), files, &mut copies))
        .collect()
}

/// Reads the paths of `rest`. A file in one of `bundles` is read with that bundle's settings, together with the other
/// files of that bundle among the paths. The files of no bundle become one more bundle, with the settings of `rest`.
///
/// With `repositories`, all other files of these bundles and of the repositories are read as context.
pub(super) fn read_paths(
    bundles: Vec<BundleInput>,
    rest: BundleInput,
    repositories: Option<&Repositories>,
    around: &Surroundings<'_>,
    files: &mut Files,
) -> Result<Vec<Bundle>, BundleError> {
    let named = rest.input.walk(around, files, &WalkBudget::default())?;
    let budget = WalkBudget::default();
    let walked = bundles.into_iter().filter_map(|bundle| {
        match bundle.input.walk(around, files, &budget) {
            Ok(walk) => Some(Ok((bundle, walk))),
            Err(reason @ InputError::TooMany { .. }) => Some(Err(bundle.failed(reason))),
            // A bundle whose paths do not exist contains none of these paths.
            Err(_) => None,
        }
    });
    let walked: Vec<_> = walked.collect::<Result<_, _>>()?;
    let mut copies = CopyBudget::default();
    let walks: Vec<&Walk> = walked.iter().map(|(_, walk)| &**walk).collect();
    let outside = named.without(&walks);
    let larger = match repositories {
        Some(repositories) => {
            let input = Input {
                paths: repositories.paths(),
                ..rest.input.clone()
            };
            let whole = input.walk(around, files, &WalkBudget::default())?;
            Some(repositories.with(&whole, &named).without(&walks))
        }
        None => around.around(&outside),
    };
    let asked_for = named.shared();
    let mut read = Vec::new();
    for (mut bundle, walk) in walked {
        let named = asked_for.with(&walk);
        if !named.files.is_empty() || !named.unreadable.is_empty() {
            let larger = match repositories {
                Some(_) => Some((*walk).clone()),
                None => around.around(&named),
            };
            bundle.input.paths.clone_from(&rest.input.paths);
            read.push(bundle.read(&named, larger.as_ref(), files, &mut copies)?);
        }
    }
    if read.is_empty() || !outside.files.is_empty() || !outside.unreadable.is_empty() {
        let rest = rest.read(&outside, larger.as_ref(), files, &mut copies)?;
        read.push(Bundle {
            repositories: repositories.map(Repositories::paths).unwrap_or_default(),
            ..rest
        });
    }
    Ok(read)
}
