//! The configuration of a comparison, and what it makes of the files of a state.

use std::collections::BTreeMap;

use super::cluster::ClusterInput;
use super::request::{CompareRequest, StateChoice};
use super::state::{StateReader, TreeState};
use crate::config::{self, Config};
use crate::engine::input::BundleInput;
use crate::engine::resolve::{bundles_and_rest, configuration};
use crate::engine::{ConfigChoice, Request, Selection, SessionError};
use crate::finding::Severity;
use crate::inventory::locate;
use crate::kustomize;
use crate::rules::Rule;
use crate::suppression::{Date, Ignore};
use crate::text::{SourceFile, decode};

/// What decides how the files of both states are read; paths are from their roots.
#[derive(Debug)]
pub(super) struct Configured {
    /// The clusters of the configuration.
    pub(super) clusters: Vec<ClusterInput>,
    /// What counts for files of no bundle.
    pub(super) rest: BundleInput,
    /// How findings are judged.
    pub(super) judging: Judging,
}

impl Configured {
    /// The bundles of all clusters.
    pub(super) fn bundles(&self) -> impl Iterator<Item = &BundleInput> {
        self.clusters.iter().flat_map(|cluster| &cluster.bundles)
    }
}

/// How the findings of a change are judged.
#[derive(Debug)]
pub(super) struct Judging {
    /// The rules of change that run.
    pub(super) rules: Vec<&'static Rule>,
    /// Severities that the configuration gives to rules.
    pub(super) severities: BTreeMap<&'static str, Severity>,
    /// Ignores of the configuration.
    pub(super) ignores: Vec<Ignore>,
    /// The path of the configuration.
    pub(super) configuration: Option<String>,
    /// The lowest severity that makes a run fail, if the configuration says; `None` within is never.
    pub(super) fail_on: Option<Option<Severity>>,
    /// The day of the run, for ignores that expire.
    pub(super) today: Option<Date>,
}

impl Judging {
    fn of(request: &CompareRequest, config: Option<&Config>) -> Result<Self, SessionError> {
        let off = config.iter().flat_map(|config| &config.off).map(|id| (*id).to_owned());
        // A rule that is asked for by name runs, whatever the configuration says.
        let off = off.filter(|id| !request.select.contains(id));
        let ignore: Vec<String> = request.ignore.iter().cloned().chain(off).collect();
        let selection = Selection::new(&request.select, &ignore)?;
        let rules = selection.rules_of_change();
        if let Some(rule) = selection.first_by_name().filter(|_| rules.is_empty()) {
            return Err(SessionError::OfAnotherCommand { id: rule.id, what: "one state", command: "check" });
        }
        Ok(Self {
            rules,
            severities: config.map(|config| config.severities.clone()).unwrap_or_default(),
            ignores: config.map(|config| config.ignores.clone()).unwrap_or_default(),
            configuration: config.map(|config| config.source.path().to_owned()),
            fail_on: config.and_then(|config| config.fail_on),
            today: request.today,
        })
    }
}

/// Finds the configuration, and what it makes of the request.
pub(super) fn configured(
    request: &CompareRequest,
    reader: &mut StateReader,
    base: &TreeState,
    head: &TreeState,
) -> Result<Configured, SessionError> {
    let config = match &request.config {
        ConfigChoice::Without => None,
        ConfigChoice::File(_) => explicit(request, reader)?,
        ConfigChoice::Discover => match discovered(&request.base, request, base)? {
            Some(config) => Some(config),
            None => discovered(&request.head, request, head)?,
        },
    };
    let plain = Request {
        exclude: request.exclude.clone(),
        namespace: request.namespace.clone(),
        release: request.release,
        ..Request::default()
    };
    let (bundles, rest) = bundles_and_rest(&plain, config.as_ref());
    Ok(Configured { clusters: ClusterInput::of(bundles), rest, judging: Judging::of(request, config.as_ref())? })
}

/// The configuration that a state has: in the folder of the first path or above it. A folder that is compared may also lie
/// below one: its bundles name other paths then, and its settings count all the same.
fn discovered(
    choice: &StateChoice,
    request: &CompareRequest,
    state: &TreeState,
) -> Result<Option<Config>, SessionError> {
    let first = request.paths.first().filter(|_| !matches!(choice, StateChoice::Path(_)));
    let first = first.map_or("", String::as_str);
    for folder in kustomize::ancestors(first.trim_end_matches('/')) {
        let named = config::FILE_NAMES.map(|name| kustomize::resolve(folder, name));
        let found: Vec<_> = named.iter().filter_map(|place| Some((place, state.files.get(place)?))).collect();
        match found.as_slice() {
            [] => {}
            [(place, file)] => {
                let bytes = file.bytes.clone().map_err(|reason| config::Mistake::unreadable(&file.path, reason))?;
                let text = decode(bytes.to_vec());
                let text = text.map_err(|error| config::Mistake::unreadable(&file.path, error.to_string()))?;
                return Config::read(SourceFile::new((*place).as_str(), text)).map(Some).map_err(SessionError::from);
            }
            [(first, _), (second, _), ..] => return Err(config::Mistake::ambiguous(first, second).into()),
        }
    }
    match choice {
        StateChoice::Path(path) => {
            let above = Request { paths: vec![path.clone()], ..Request::default() };
            Ok(configuration(&above)?.map(without_bundles))
        }
        _ => Ok(None),
    }
}

/// The configuration that the request names. Its bundles count if its folder is one of the states'.
fn explicit(request: &CompareRequest, reader: &mut StateReader) -> Result<Option<Config>, SessionError> {
    let named = Request { config: request.config.clone(), ..Request::default() };
    let Some(mut config) = configuration(&named)? else { return Ok(None) };
    let path = locate(config.source.path());
    let in_git = |choice: &StateChoice| !matches!(choice, StateChoice::Path(_));
    let roots = [&request.base, &request.head].into_iter().filter_map(|choice| match choice {
        StateChoice::Path(folder) => Some(locate(folder)),
        _ => None,
    });
    let mut roots: Vec<_> = roots.collect();
    if in_git(&request.base) || in_git(&request.head) {
        roots.extend(reader.repository()?.work_tree().map(|root| locate(&root.to_string_lossy())));
    }
    let place = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    Ok(Some(match place {
        None => without_bundles(config),
        Some(place) => {
            let place = place.to_string_lossy().replace('\\', "/");
            config.source = config.source.seen_as(place, config.source.side());
            config
        }
    }))
}

fn without_bundles(config: Config) -> Config {
    Config { bundles: Vec::new(), ..config }
}
