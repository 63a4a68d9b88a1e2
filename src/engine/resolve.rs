//! Combines a request and the configuration into the bundles to read. The request takes precedence.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::SessionError;
use super::input::{BundleError, BundleInput, Input, RenderSettings};
use super::repository::Repositories;
use super::request::{ConfigChoice, Request};
use crate::config::{self, Config, Mistake};
use crate::inventory::{self, Escape, InputError, Release, admit_manifests, locate, read_own_file};
use crate::knowledge::Tables;
use crate::rules::World;
use crate::text::{ColumnUnit, SourceFile, decode, near};

/// The resolved input of a session.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    /// The bundles of the configuration; at most the requested one, if the request names one.
    pub(super) bundles: Vec<BundleInput>,
    /// The paths of the request, or the current folder; `None` if whole bundles are read.
    pub(super) paths: Option<BundleInput>,
    /// The repositories of the paths, if they are read as context.
    pub(super) repositories: Option<Repositories>,
}

/// Reads the configuration that a request chooses.
pub(super) fn configuration(request: &Request) -> Result<Option<Config>, Mistake> {
    let path = match &request.config {
        ConfigChoice::Without => None,
        ConfigChoice::File(path) => Some(path.replace('\\', "/")),
        ConfigChoice::Discover => {
            // Without paths, the configuration is searched for from the unsaved texts.
            let overlays: Vec<_> = request
                .overlays
                .iter()
                .map(|overlay| overlay.path.clone())
                .collect();
            let anchors = if request.paths.is_empty() {
                &overlays
            } else {
                &request.paths
            };
            config::discover(anchors, Path::new("."))?
        }
    };
    let Some(path) = path else { return Ok(None) };
    let source = match request
        .overlays
        .iter()
        .find(|overlay| is_same_file(&overlay.path, &path))
    {
        Some(unsaved) => SourceFile::new(path.as_str(), &*unsaved.text),
        None => read_text(&path).map_err(|reason| Mistake::unreadable(&path, reason))?,
    };
    let config = Config::read(source)?.within_limits()?;
    config.with_operators(read_text).map(Some)
}

fn is_same_file(one: &str, other: &str) -> bool {
    Path::new(one).file_name() == Path::new(other).file_name() && locate(one) == locate(other)
}

/// Returns all bundles of the configuration, and the settings for files of no bundle.
pub(super) fn bundles_and_rest(
    request: &Request,
    config: Option<&Config>,
) -> (Vec<BundleInput>, BundleInput) {
    let resolver = Resolver::of(request, config);
    (resolver.bundles(), resolver.rest(Vec::new()))
}

/// Returns the built-in tables with the rows that the configuration adds.
pub(super) fn tables_of(config: Option<&Config>) -> Arc<Tables> {
    // The table of kinds is needed next, so both are parsed in parallel.
    let (bundled, _) = rayon::join(Tables::bundled, inventory::table);
    match config {
        Some(config) => Arc::new(bundled.with(&config.facts)),
        None => bundled,
    }
}

pub(super) fn resolve(
    request: &Request,
    config: Option<&Config>,
) -> Result<Resolved, SessionError> {
    let resolver = Resolver::of(request, config);
    let bundles = resolver.bundles();
    within_repository(request, config, &bundles)?;
    if let Some(name) = &request.bundle {
        let chosen = chosen(&bundles, name)?;
        if request.paths.is_empty() {
            return Ok(Resolved {
                bundles: vec![chosen],
                paths: None,
                repositories: None,
            });
        }
        return Ok(Resolved {
            bundles: Vec::new(),
            paths: Some(resolver.with_paths(chosen)),
            repositories: None,
        });
    }
    let paths = match (request.paths.is_empty(), bundles.is_empty()) {
        (true, false) => None,
        (true, true) => Some(resolver.rest(vec![".".to_owned()])),
        (false, _) => Some(resolver.with_paths(resolver.rest(Vec::new()))),
    };
    let repositories = paths.as_ref().filter(|_| request.in_repository);
    let repositories = repositories.and_then(|paths| {
        let found = config.filter(|_| request.config == ConfigChoice::Discover);
        let configured = found.map(folder_of_configuration);
        Repositories::around(&paths.input.paths, configured.as_deref())
    });
    Ok(Resolved {
        bundles,
        paths,
        repositories,
    })
}

/// Returns the absolute path of the folder of a configuration.
pub(super) fn folder_of_configuration(config: &Config) -> PathBuf {
    match folder(Some(config)) {
        "" => locate("."),
        folder => locate(folder),
    }
}

/// Fails if a bundle of a discovered configuration, which comes from the author of the repository, has a path outside
/// of the repository or in `.git`.
fn within_repository(
    request: &Request,
    config: Option<&Config>,
    bundles: &[BundleInput],
) -> Result<(), BundleError> {
    let Some(config) = config.filter(|_| request.config == ConfigChoice::Discover) else {
        return Ok(());
    };
    let paths = bundles
        .iter()
        .flat_map(|bundle| bundle.input.paths.iter().map(move |path| (bundle, path)));
    for (bundle, path) in paths {
        let reason = match admit_manifests(config.source.path(), path) {
            Ok(()) => continue,
            Err(Escape::Git) => InputError::InGitFolder { path: path.clone() },
            Err(_) => InputError::OutsideRepository { path: path.clone() },
        };
        return Err(BundleError::Named {
            name: bundle.name.clone().unwrap_or_default(),
            reason,
        });
    }
    Ok(())
}

fn chosen(bundles: &[BundleInput], name: &str) -> Result<BundleInput, SessionError> {
    let found = bundles
        .iter()
        .find(|bundle| bundle.name.as_deref() == Some(name));
    found.cloned().ok_or_else(|| {
        let names = bundles.iter().filter_map(|bundle| bundle.name.as_deref());
        let names: Vec<&str> = names.collect();
        let help = near::did_you_mean(name, &names, || {
            if bundles.is_empty() {
                "no configuration with bundles was found: choose one with `--config FILE`"
                    .to_owned()
            } else {
                format!("the bundles are: {}", names.join(", "))
            }
        });
        SessionError::UnknownBundle {
            name: name.to_owned(),
            help,
        }
    })
}

/// Combines the settings of the request and the configuration for single bundles.
struct Resolver<'a> {
    request: &'a Request,
    config: Option<&'a Config>,
    tables: Arc<Tables>,
}

impl<'a> Resolver<'a> {
    fn of(request: &'a Request, config: Option<&'a Config>) -> Self {
        Self {
            request,
            config,
            tables: tables_of(config),
        }
    }

    fn bundles(&self) -> Vec<BundleInput> {
        self.config
            .iter()
            .flat_map(|config| &config.bundles)
            .map(|bundle| self.bundle(bundle))
            .collect()
    }

    fn bundle(&self, bundle: &config::BundleConfig) -> BundleInput {
        let folder = folder(self.config);
        let paths = match self.request.printed.get(&bundle.name) {
            Some(printed) => vec![printed.clone()],
            None => sources_of(bundle, folder),
        };
        let mut combined = self.bundle_input(paths, bundle.namespace.as_deref(), bundle.world);
        let excluded = bundle.exclude.iter().map(|glob| joined(folder, glob));
        combined.input.exclude.extend(excluded);
        BundleInput {
            name: Some(bundle.name.clone()),
            cluster: bundle.cluster.clone(),
            delivery: bundle.delivery,
            rendering: self.rendering(bundle),
            ..combined
        }
    }

    fn rendering(&self, bundle: &config::BundleConfig) -> RenderSettings {
        let place = self.config.map(|config| {
            let source = &config.source;
            source.position(bundle.place.start, ColumnUnit::Utf8).line
        });
        RenderSettings {
            folder: folder(self.config).to_owned(),
            arguments: bundle.render.clone(),
            timeout: bundle.timeout,
            line: place.unwrap_or(1),
        }
    }

    /// Returns the settings for `paths` that belong to no bundle.
    fn rest(&self, paths: Vec<String>) -> BundleInput {
        self.bundle_input(paths, None, None)
    }

    /// Returns an input with the paths of the request. What the program of a bundle printed replaces the bundle's files.
    fn with_paths(&self, mut input: BundleInput) -> BundleInput {
        input.input.paths.clone_from(&self.request.paths);
        let Input { paths, exclude, .. } = &mut input.input;
        let bundles = self.config.iter().flat_map(|config| &config.bundles);
        for bundle in bundles {
            let Some(printed) = self.request.printed.get(&bundle.name) else {
                continue;
            };
            for source in sources_of(bundle, folder(self.config)) {
                let place = locate(&source);
                paths.retain(|path| locate(path) != place);
                if !locate(printed).starts_with(place) {
                    exclude.extend([format!("{source}/**"), source]);
                }
            }
            paths.push(printed.clone());
        }
        input
    }

    /// Combines the settings; `namespace` and `world` are those of the bundle that has the `paths`.
    fn bundle_input(
        &self,
        paths: Vec<String>,
        namespace: Option<&str>,
        world: Option<World>,
    ) -> BundleInput {
        let (request, config) = (self.request, self.config);
        let folder = folder(config);
        let excluded = config
            .iter()
            .flat_map(|config| &config.exclude)
            .map(|glob| joined(folder, glob));
        let release = release(request.release, config);
        let input = Input {
            paths,
            exclude: request.exclude.iter().cloned().chain(excluded).collect(),
            settings: inventory::Settings {
                // `Session::unknown_release` reports a release that is newer than all known ones.
                release: release.unwrap_or(Release::NEWEST).min(Release::NEWEST),
                namespace: request
                    .namespace
                    .clone()
                    .or_else(|| namespace.map(str::to_owned))
                    .or_else(|| config.and_then(|config| config.namespace.clone())),
                extra_kinds: config
                    .map(|config| config.scopes.clone())
                    .unwrap_or_default(),
                limits: config.map(|config| config.limits).unwrap_or_default(),
            },
        };
        BundleInput {
            name: None,
            input,
            world: request
                .world
                .or(world)
                .or_else(|| config.and_then(|config| config.world))
                .unwrap_or_default(),
            cluster: None,
            delivery: None,
            tables: Arc::clone(&self.tables),
            rendering: RenderSettings::default(),
        }
    }
}

/// Returns the paths of a bundle, relative to the working directory.
pub(super) fn sources_of(bundle: &config::BundleConfig, folder: &str) -> Vec<String> {
    let paths = bundle.paths.iter().map(|path| joined(folder, path));
    paths.collect()
}

/// Returns the folder of the configuration, to which its paths are relative; empty without one.
pub(super) fn folder(config: Option<&Config>) -> &str {
    config.map_or("", |config| config::folder_of(config.source.path()))
}

/// Returns the Kubernetes release: the requested one, else that of the configuration.
pub(super) fn release(requested: Option<Release>, config: Option<&Config>) -> Option<Release> {
    requested.or(config.and_then(|config| config.kubernetes_version))
}

/// Returns a path of the configuration relative to the working directory.
pub(super) fn joined(folder: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    match (folder, path) {
        ("", _) => path.to_owned(),
        _ if Path::new(path).is_absolute() => path.to_owned(),
        (_, ".") => folder.trim_end_matches('/').to_owned(),
        // The folder's name is not a pattern, even if it contains such characters.
        _ if path.contains(['*', '?', '[', '{']) => format!("{}{path}", globset::escape(folder)),
        _ => format!("{folder}{path}"),
    }
}

/// Reads a file that is written for ownerlint: a configuration, a baseline, a list of steps.
///
/// # Errors
/// Why the file cannot be read, in words.
pub fn read_text(path: &str) -> Result<SourceFile, String> {
    if path != inventory::STDIN && Path::new(path).symlink_metadata().is_err() {
        return Err("no such file".to_owned());
    }
    let bytes = read_own_file(path)?;
    Ok(SourceFile::new(path, decode(bytes)?))
}
