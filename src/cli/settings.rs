//! Command line, environment and configuration, resolved once into what a run does. The command line has the last word.

use std::io::Read;
use std::path::Path;

use super::args::{InputArgs, WorldArg};
use super::error::Error;
use crate::baseline::{self, Baseline};
use crate::config::{self, Config, ConfigError};
use crate::engine::{self, Bundle, BundleInput, Check, Input, Selection};
use crate::finding::Severity;
use crate::inventory::{self, Inventory, Overlay, Release, STDIN};
use crate::rules::World;
use crate::suppression::Date;
use crate::text::{SourceFile, decode};

/// What a run reads, and how it judges that.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    config: Option<Config>,
    /// The bundles of the configuration.
    bundles: Vec<BundleInput>,
    /// The paths of the command line, or the current folder; `None` when the bundles are read as they are.
    paths: Option<BundleInput>,
    overlay: Option<Overlay>,
}

impl Settings {
    /// Resolves what to read. Reads the configuration, and the unsaved text of `--stdin-filename`.
    pub(super) fn resolve(args: InputArgs, world: Option<WorldArg>) -> Result<Self, Error> {
        let overlay = args.stdin_filename.as_deref().map(unsaved_text).transpose()?;
        let mut given = args.paths.clone();
        given.retain(|path| overlay.is_none() || path != STDIN);
        // The unsaved text's file says where its configuration is when nothing else does.
        let anchor = overlay.as_ref().map(|overlay| overlay.path.clone());
        let anchors = if given.is_empty() { anchor.into_iter().collect() } else { given.clone() };
        let config = load(&args, &anchors)?;
        let resolver = Resolver { args: &args, world: world.map(World::from), config: config.as_ref() };
        let configured = config.iter().flat_map(|config| &config.bundles);
        let bundles: Vec<_> = configured.map(|bundle| resolver.bundle(bundle)).collect();
        let paths = match (given.is_empty(), bundles.is_empty()) {
            (true, false) => None,
            (true, true) => Some(resolver.paths(vec![".".to_owned()])),
            (false, _) => Some(resolver.paths(given)),
        };
        Ok(Self { config, bundles, paths, overlay })
    }

    /// Reads the bundles.
    pub(super) fn read(&self) -> Result<Vec<Bundle>, Error> {
        let bundles = match &self.paths {
            None => engine::read_bundles(self.bundles.clone(), self.overlay.as_slice())?,
            Some(paths) => engine::read_paths(self.bundles.clone(), paths.clone(), self.overlay.as_slice())?,
        };
        if let Some(overlay) = &self.overlay
            && !bundles.iter().any(|bundle| holds(&bundle.inventory, &overlay.path))
        {
            return Err(Error::OutsideOfBundles { path: overlay.path.clone() });
        }
        Ok(bundles)
    }

    /// How to judge what is read, apart from the report's own options.
    pub(super) fn check(&self, select: &[String], ignore: &[String]) -> Result<Check, Error> {
        let off = self.config.iter().flat_map(|config| &config.off).map(|id| (*id).to_owned());
        // A rule that is asked for by name runs, whatever the configuration says.
        let off = off.filter(|id| !select.contains(id));
        let ignore: Vec<_> = ignore.iter().cloned().chain(off).collect();
        let ignores = self.config.as_ref().filter(|config| !config.ignores.is_empty());
        Ok(Check {
            selection: Selection::new(select, &ignore)?,
            severities: self.config.as_ref().map(|config| config.severities.clone()).unwrap_or_default(),
            ignores: ignores.map(|config| (config.source.clone(), config.ignores.clone())),
            complete: self.paths.is_none(),
            today: Some(today()),
            ..Check::default()
        })
    }

    /// The least severity that fails: of the command line, else of the configuration, else `error`.
    pub(super) fn fail_on(&self, given: Option<Option<Severity>>) -> Option<Severity> {
        let configured = || self.config.as_ref().and_then(|config| config.fail_on);
        given.or_else(configured).unwrap_or(Some(Severity::Error))
    }

    /// Where known findings are kept: as given, else as configured, else beside the configuration or here.
    pub(super) fn baseline_path(&self, given: Option<&str>) -> String {
        let config = self.config.as_ref();
        let folder = config.map_or("", |config| config::folder_of(config.source.path()));
        let named = config.and_then(|config| config.baseline.as_deref());
        given.map_or_else(|| joined(folder, named.unwrap_or(baseline::FILE_NAME)), str::to_owned)
    }

    /// The known findings. A file that nobody names need not exist.
    pub(super) fn baseline(&self, given: Option<&str>) -> Result<Option<(SourceFile, Baseline)>, Error> {
        let path = self.baseline_path(given);
        let named = given.is_some() || self.config.as_ref().is_some_and(|config| config.baseline.is_some());
        if !named && !Path::new(&path).exists() {
            return Ok(None);
        }
        read_baseline(&path).map(Some)
    }
}

/// Reads a file of known findings.
pub(super) fn read_baseline(path: &str) -> Result<(SourceFile, Baseline), Error> {
    let unreadable = |reason: String| Error::Baseline { path: path.to_owned(), reason };
    let file = read_text(path).map_err(unreadable)?;
    let baseline = Baseline::read(&file)?;
    Ok((file, baseline))
}

/// What the settings of single bundles are made of.
struct Resolver<'a> {
    args: &'a InputArgs,
    world: Option<World>,
    config: Option<&'a Config>,
}

impl Resolver<'_> {
    fn bundle(&self, bundle: &config::Bundle) -> BundleInput {
        let folder = self.config.map_or("", |config| config::folder_of(config.source.path()));
        let paths = bundle.paths.iter().map(|path| joined(folder, path)).collect();
        let mut input = self.input(paths, bundle.namespace.as_deref());
        input.exclude.extend(bundle.exclude.iter().map(|glob| joined(folder, glob)));
        let world = self.world.or(bundle.world).or(self.config.and_then(|config| config.world)).unwrap_or_default();
        BundleInput { name: Some(bundle.name.clone()), input, world }
    }

    fn paths(&self, paths: Vec<String>) -> BundleInput {
        let world = self.world.or(self.config.and_then(|config| config.world)).unwrap_or_default();
        BundleInput { name: None, input: self.input(paths, None), world }
    }

    fn input(&self, paths: Vec<String>, namespace: Option<&str>) -> Input {
        let config = self.config;
        let folder = config.map_or("", |config| config::folder_of(config.source.path()));
        let excluded = config.iter().flat_map(|config| &config.exclude).map(|glob| joined(folder, glob));
        let configured = || config.and_then(|config| config.namespace.clone());
        let release = self.args.kubernetes_version.or(config.and_then(|config| config.kubernetes_version));
        Input {
            paths,
            exclude: self.args.exclude.iter().cloned().chain(excluded).collect(),
            settings: inventory::Settings {
                release: release.unwrap_or(Release::NEWEST),
                namespace: self.args.namespace.clone().or_else(|| namespace.map(str::to_owned)).or_else(configured),
                extra_kinds: config.map(|config| config.scopes.clone()).unwrap_or_default(),
            },
        }
    }
}

/// A path of the configuration as seen from the working directory.
fn joined(folder: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    match (folder, path) {
        ("", _) => path.to_owned(),
        _ if Path::new(path).is_absolute() => path.to_owned(),
        (_, ".") => folder.trim_end_matches('/').to_owned(),
        // The folder's name is no pattern, whatever characters it has.
        _ if path.contains(['*', '?', '[', '{']) => format!("{}{path}", globset::escape(folder)),
        _ => format!("{folder}{path}"),
    }
}

fn holds(inventory: &Inventory, path: &str) -> bool {
    let wanted = inventory::locate(path);
    inventory.sources.iter().any(|(_, file)| {
        let (file, own) = (Path::new(file.path()), Path::new(path));
        let likely = file.file_name() == own.file_name() || file.file_name() == wanted.file_name();
        likely && inventory::locate(&file.to_string_lossy()) == wanted
    })
}

fn load(args: &InputArgs, anchors: &[String]) -> Result<Option<Config>, Error> {
    if args.config.no_config {
        return Ok(None);
    }
    let from_environment = || std::env::var("OWNERLINT_CONFIG").ok().filter(|path| !path.is_empty());
    let path = match args.config.config.clone().or_else(from_environment) {
        Some(path) => Some(path.replace('\\', "/")),
        None => config::discover(anchors, Path::new("."))?.map(|found| found.path),
    };
    let Some(path) = path else { return Ok(None) };
    let source = read_text(&path).map_err(|reason| ConfigError::unreadable(&path, reason))?;
    Ok(Some(Config::read(source)?))
}

fn read_text(path: &str) -> Result<SourceFile, String> {
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    })?;
    let text = decode(bytes).map_err(|error| error.to_string())?;
    Ok(SourceFile::new(path, text))
}

fn unsaved_text(path: &str) -> Result<Overlay, Error> {
    let unreadable = |reason: String| Error::Stdin { reason };
    let mut bytes = Vec::new();
    let limited = std::io::stdin().lock().take(SourceFile::MAX_BYTES + 1).read_to_end(&mut bytes);
    limited.map_err(|error| unreadable(error.to_string()))?;
    let text = decode(bytes).map_err(|error| unreadable(error.to_string()))?;
    Ok(Overlay { path: path.to_owned(), text: text.into() })
}

/// The only look at the clock.
fn today() -> Date {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Date::from_unix_seconds(now.map_or(0, |now| now.as_secs()))
}

impl From<WorldArg> for World {
    fn from(world: WorldArg) -> Self {
        match world {
            WorldArg::Open => Self::Open,
            WorldArg::Closed => Self::Closed,
        }
    }
}
