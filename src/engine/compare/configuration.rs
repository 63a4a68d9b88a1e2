//! The configuration of a comparison, which is read from base. A configuration that only head has cannot hide anything.

use super::request::{CompareRequest, StateChoice};
use super::state::{Bytes, StateReader, StateText, TreeState};
use crate::config::{self, Config, Mistake};
use crate::engine::resolve::configuration;
use crate::engine::{ConfigChoice, Request, SessionError};
use crate::git::GitError;
use crate::inventory::locate;
use crate::kustomize;
use crate::text::{SourceFile, decode};

/// A configuration, and where it comes from.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) config: Option<Config>,
    /// Whether only head has it: then only its bundles, scopes and namespaces are used.
    pub(super) is_new: bool,
    pub(super) notes: Vec<String>,
}

impl Found {
    fn as_it_is(config: Option<Config>) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Wraps a configuration that only head has. An unreadable one is ignored, so that its author cannot end the run.
    fn new_in_head(config: Result<Option<Config>, Mistake>) -> Self {
        let names = config.and_then(|config| {
            config
                .map(|config| config.names_only().within_limits())
                .transpose()
        });
        let (config, note) = match names {
            Ok(None) => return Self::default(),
            Ok(Some(config)) => {
                let note = format!(
                    "{} is new in this change: only its bundles, scopes and namespaces are used until base has it",
                    config.source.path()
                );
                (Some(config), note)
            }
            Err(mistake) => (
                None,
                format!("the configuration is new in this change and is ignored: {mistake}"),
            ),
        };
        Self {
            config,
            is_new: true,
            notes: vec![note],
        }
    }
}

/// Finds the configuration of a comparison.
///
/// # Errors
/// The configuration of base, or one outside the repository, contains a mistake, or the file does not exist.
pub(super) fn find(
    request: &CompareRequest,
    reader: &mut StateReader,
    base: &TreeState,
    head: &TreeState,
) -> Result<Found, SessionError> {
    let trusted = match &request.config_ref {
        Some(reference) => StateChoice::Commit(reference.clone()),
        None => request.base.clone(),
    };
    match &request.config {
        ConfigChoice::Without => Ok(Found::default()),
        ConfigChoice::File(path) => named(path, &trusted, request, reader),
        ConfigChoice::Discover => {
            let own = if request.config_ref.is_none() {
                discovered(&request.base, request, base)?
            } else {
                // The whole commit is read, with all of its configurations.
                let state = reader.read(&trusted, &[])?;
                let folder = match &request.head {
                    StateChoice::Path(path) => reader.place(path).unwrap_or_default(),
                    _ => start(request).to_owned(),
                };
                in_folders(&state, &folder)?
            };
            Ok(match own {
                Some(config) => Found::as_it_is(Some(config)),
                None => Found::new_in_head(discovered(&request.head, request, head)),
            })
        }
    }
}

/// Reads the configuration that the request names: a file of the repository from base, any other file from the disk,
/// because it is not part of the change.
fn named(
    path: &str,
    trusted: &StateChoice,
    request: &CompareRequest,
    reader: &mut StateReader,
) -> Result<Found, SessionError> {
    if matches!(trusted, StateChoice::Path(_)) {
        return Ok(Found::as_it_is(from_disk(request, reader)?));
    }
    let place = match reader.place(path) {
        Ok(place) => place,
        Err(GitError::OutsideOfRepository { .. }) => {
            return Ok(Found::as_it_is(from_disk(request, reader)?));
        }
        Err(error) => return Err(error.into()),
    };
    let paths = [path.to_owned()];
    let state = reader.read(trusted, &paths)?;
    if let Some(file) = state.files.get(&place) {
        return Ok(Found::as_it_is(Some(read(&state, &place, file)?)));
    }
    let in_head = match &request.head {
        // If head is a folder, the configuration is looked up in the work tree instead.
        StateChoice::Path(_) => StateChoice::WorkTree,
        choice => choice.clone(),
    };
    if !reader.has(&in_head, &place)? {
        return Ok(Found::as_it_is(from_disk(request, reader)?));
    }
    let head = reader.read(&in_head, &paths)?;
    Ok(Found::new_in_head(match head.files.get(&place) {
        Some(file) => read(&head, &place, file).map(Some),
        None => Err(Mistake::unreadable(
            path,
            "it is not a file of the repository".to_owned(),
        )),
    }))
}

/// Returns the folder in which the search for a configuration begins.
fn start(request: &CompareRequest) -> &str {
    request
        .paths
        .first()
        .map_or("", String::as_str)
        .trim_end_matches('/')
}

/// Finds the configuration of a state, in the folder of the first path or above it. If it is above a compared folder,
/// its bundles are left out, because their paths have another root.
fn discovered(
    choice: &StateChoice,
    request: &CompareRequest,
    state: &TreeState,
) -> Result<Option<Config>, Mistake> {
    match choice {
        StateChoice::Path(path) => {
            if let Some(config) = in_folders(state, "")? {
                return Ok(Some(config));
            }
            let above = Request::new([path.clone()]);
            Ok(configuration(&above)?.map(without_bundles))
        }
        _ => in_folders(state, start(request)),
    }
}

/// Finds the configuration in a folder of a state, or above it.
fn in_folders(state: &TreeState, folder: &str) -> Result<Option<Config>, Mistake> {
    for folder in kustomize::ancestors(folder) {
        let named = config::FILE_NAMES.map(|name| kustomize::resolve(folder, name));
        let found: Vec<_> = named
            .iter()
            .filter_map(|place| Some((place, state.files.get(place)?)))
            .collect();
        match found.as_slice() {
            [] => {}
            [(place, file)] => return read(state, place, file).map(Some),
            [(first, _), (second, _), ..] => return Err(Mistake::ambiguous(first, second)),
        }
    }
    Ok(None)
}

/// Reads a configuration of a state, with the files about operators that it names there.
fn read(state: &TreeState, place: &str, file: &StateText) -> Result<Config, Mistake> {
    let source = text(place, file.bytes.clone())
        .map_err(|reason| Mistake::unreadable(&file.path, reason))?;
    Config::read(source)?
        .within_limits()?
        .with_operators(|path| {
            let bytes = match (state.files.get(path), &state.reader) {
                (Some(file), _) => file.bytes.clone(),
                (None, Some(reader)) => reader.read(path),
                (None, None) => Err("no such file".to_owned()),
            };
            text(path, bytes)
        })
}

fn text(path: &str, bytes: Bytes) -> Result<SourceFile, String> {
    Ok(SourceFile::new(path, decode(bytes?.to_vec())?))
}

/// Reads the named configuration from the disk. Its bundles are used only if it is below the root of a state.
fn from_disk(
    request: &CompareRequest,
    reader: &mut StateReader,
) -> Result<Option<Config>, SessionError> {
    let named = Request {
        config: request.config.clone(),
        ..Request::default()
    };
    let Some(mut config) = configuration(&named)? else {
        return Ok(None);
    };
    let path = locate(config.source.path());
    let states = [&request.base, &request.head];
    let roots = states.iter().filter_map(|choice| match choice {
        StateChoice::Path(folder) => Some(locate(folder)),
        _ => None,
    });
    let mut roots: Vec<_> = roots.collect();
    let is_in_git = roots.len() < states.len();
    if is_in_git {
        let repository = reader.repository()?;
        let root = repository.work_tree();
        roots.extend(root.map(|root| locate(&root.to_string_lossy())));
    }
    let place = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    let Some(place) = place else {
        return Ok(Some(without_bundles(config)));
    };
    let place = place.to_string_lossy().replace('\\', "/");
    config.source = config.source.seen_as(place, config.source.side());
    Ok(Some(config))
}

fn without_bundles(config: Config) -> Config {
    Config {
        bundles: Vec::new(),
        ..config
    }
}
