//! The configuration of a comparison, which is read from base. A configuration that only head has cannot hide anything.

use foldhash::HashMap;

use super::request::{CompareRequest, StateChoice};
use super::state::{Bytes, StateReader, StateText, TreeState};
use crate::changes::{Unread, UnreadSide, UnreadWhat};
use crate::config::{self, Config, Mistake};
use crate::engine::resolve::configuration;
use crate::engine::{ConfigChoice, Request, SessionError};
use crate::git::GitError;
use crate::inventory::locate;
use crate::kustomize;
use crate::text::{ColumnUnit, SourceFile, decode};

/// A configuration, and where it comes from.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) config: Option<Config>,
    /// Whether only head has it: then only its bundles, scopes and namespaces are used.
    pub(super) is_new: bool,
    /// The programs of bundles that the change edits: both states are rendered as base says.
    pub(super) unread: Vec<Unread>,
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
            ..Self::default()
        }
    }

    /// Wraps the configuration of base, given that of head. What the change edits in it is named, and has no effect.
    fn of_base(base: Config, head: Result<Option<Config>, Mistake>) -> Self {
        let path = base.source.path();
        let edited = match &head {
            Ok(Some(head)) if head.source.text() == base.source.text() => None,
            Ok(Some(_)) => Some(format!("the change edits {path}")),
            Ok(None) => Some(format!("the change removes {path}")),
            Err(mistake) => Some(format!("the change breaks {path} ({mistake})")),
        };
        let note = edited.map(|edited| {
            format!(
                "{edited}: both states are compared with the configuration of base, so that a change cannot hide its own \
                 effects"
            )
        });
        Self {
            unread: match &head {
                Ok(Some(head)) => edited_programs(&base, head),
                _ => Vec::new(),
            },
            config: Some(base),
            is_new: false,
            notes: note.into_iter().collect(),
        }
    }
}

/// Returns the bundles whose program, or whose folders for it, differ in head.
fn edited_programs(base: &Config, head: &Config) -> Vec<Unread> {
    let after = head.bundles.iter().map(|bundle| (&bundle.name, bundle));
    let after: HashMap<_, _> = after.collect();
    let edited = base.bundles.iter().filter_map(|before| {
        let after = after.get(&before.name)?;
        let is_same = (&before.render, &before.paths) == (&after.render, &after.paths);
        if is_same || before.render.is_none() && after.render.is_none() {
            return None;
        }
        let position = head.source.position(after.place.start, ColumnUnit::Utf8);
        Some(Unread {
            what: UnreadWhat::Generator,
            subject: format!("program of bundle {}", after.name),
            file: head.source.path().to_owned(),
            line: position.line,
            was: None,
            side: UnreadSide::Both,
            reason: "the change edits `render` or `paths` of the bundle, and both states are read as base says".to_owned(),
            delivery: None,
            is_harmless: false,
        })
    });
    edited.collect()
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
            let of_head = discovered(&request.head, request, head);
            // Base may lack later changes of the trusted configuration.
            let is_edited = request.config_ref.is_none()
                || differ(&discovered(&request.base, request, base), &of_head);
            Ok(match own {
                Some(config) if is_edited => Found::of_base(config, of_head),
                Some(config) => Found::as_it_is(Some(config)),
                None => Found::new_in_head(of_head),
            })
        }
    }
}

/// Whether the texts of two configurations differ.
fn differ(one: &Result<Option<Config>, Mistake>, other: &Result<Option<Config>, Mistake>) -> bool {
    match (one, other) {
        (Ok(Some(one)), Ok(Some(other))) => one.source.text() != other.source.text(),
        (Ok(None), Ok(None)) => false,
        _ => true,
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
    let in_head = match &request.head {
        // If head is a folder, the configuration is looked up in the work tree instead.
        StateChoice::Path(_) => StateChoice::WorkTree,
        choice => choice.clone(),
    };
    let is_in_head = reader.has(&in_head, &place)?;
    let of_base = state.files.get(&place);
    let of_base = of_base.map(|file| read(&state, &place, file)).transpose()?;
    if !is_in_head {
        return Ok(match of_base {
            Some(config) if request.config_ref.is_none() => Found::of_base(config, Ok(None)),
            Some(config) => Found::as_it_is(Some(config)),
            None => Found::as_it_is(from_disk(request, reader)?),
        });
    }
    let head = reader.read(&in_head, &paths)?;
    let of_head = match head.files.get(&place) {
        Some(file) => read(&head, &place, file).map(Some),
        None => Err(Mistake::unreadable(
            path,
            "it is not a file of the repository".to_owned(),
        )),
    };
    Ok(match of_base {
        Some(config) if request.config_ref.is_none() => Found::of_base(config, of_head),
        Some(config) => Found::as_it_is(Some(config)),
        None => Found::new_in_head(of_head),
    })
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
