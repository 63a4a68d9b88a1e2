//! Converts arguments, environment and standard input to a request.

use std::io::Read;

use clap::Args;

use super::error::Error;
use super::rendering::ChartArgs;
use super::{hints, terminal};
use crate::config::NAMESPACE_NAME;
use crate::engine::{ConfigChoice, Request, Session};
use crate::inventory::{Overlay, Release, STDIN};
use crate::manifest::is_namespace_name;
use crate::rules::World;
use crate::text::{SourceFile, decode};

/// The input.
#[derive(Clone, Debug, Args)]
pub(super) struct InputArgs {
    /// Files, folders, globs, or `-` for standard input [default: the current folder]
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub(super) paths: Vec<String>,
    /// Leave out files whose path matches this glob (may be repeated)
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(super) exclude: Vec<String>,
    /// The namespace of namespaced objects without one
    #[arg(short, long, value_name = "NAME", value_parser = namespace, help_heading = "Input")]
    pub(super) namespace: Option<String>,
    /// The Kubernetes release of the cluster, such as 1.34: which built-in kinds it serves, and how it deletes [default:
    /// that of ownerlint.yaml, else the newest known]
    #[arg(long, value_name = "VERSION", value_parser = release, help_heading = "Input")]
    pub(super) kubernetes_version: Option<Release>,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    #[command(flatten)]
    pub(super) charts: ChartArgs,
    /// Read standard input as the unsaved text of this file; without other paths, check it together
    /// with all configured files
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Input")]
    pub(super) stdin_filename: Option<String>,
    /// Exit with 0 when there is no Kubernetes object, and no template that would render to one
    #[arg(long, help_heading = "Exit status")]
    pub(super) allow_empty: bool,
}

/// Which configuration is used.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ConfigArgs {
    /// The configuration [default: ownerlint.yaml beside the first path or above it; env: OWNERLINT_CONFIG]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "no_config", help_heading = "Input")]
    pub(super) config: Option<String>,
    /// Use no configuration
    #[arg(long, help_heading = "Input")]
    pub(super) no_config: bool,
}

pub(super) const WORLDS: [(&str, World); 2] = [("open", World::Open), ("closed", World::Closed)];

/// Parses a Kubernetes release, which may be newer than the known ones.
pub(super) fn release(text: &str) -> Result<Release, String> {
    text.parse()
        .map_err(|error: crate::inventory::UnreadableRelease| error.to_string())
}

pub(super) fn namespace(text: &str) -> Result<String, String> {
    if is_namespace_name(text) {
        Ok(text.to_owned())
    } else {
        Err(format!("a namespace has {NAMESPACE_NAME}"))
    }
}

/// Opens a session, and warns if the requested release is unknown.
pub(super) fn open(request: &Request) -> Result<Session, Error> {
    let session = Session::open(request)?;
    if let Some(release) = session.unknown_release() {
        let newest = Release::NEWEST;
        terminal::say(&format!(
            "warning: Kubernetes {release} is not known yet; the kinds of {newest} are used"
        ));
    }
    Ok(session)
}

impl InputArgs {
    /// Builds the request of these arguments. Reads the unsaved text of `--stdin-filename`, and renders charts with
    /// `--render`.
    pub(super) fn request(self, world: Option<World>) -> Result<Request, Error> {
        hints::on_addresses(&self.paths)?;
        let overlay = self
            .stdin_filename
            .as_deref()
            .map(unsaved_text)
            .transpose()?;
        let mut paths = self.paths;
        paths.retain(|path| overlay.is_none() || path != STDIN);
        self.charts.add_to(Request {
            paths,
            exclude: self.exclude,
            namespace: self.namespace,
            release: self.kubernetes_version,
            world,
            config: self.config.choice(),
            overlays: overlay.into_iter().collect(),
            ..Request::default()
        })
    }
}

impl ConfigArgs {
    /// Returns the configuration to use. The environment variable is used if the command line names none.
    pub(super) fn choice(self) -> ConfigChoice {
        match self.config.or_else(|| {
            std::env::var("OWNERLINT_CONFIG")
                .ok()
                .filter(|path| !path.is_empty())
        }) {
            _ if self.no_config => ConfigChoice::Without,
            Some(path) => ConfigChoice::File(path),
            None => ConfigChoice::Discover,
        }
    }
}

fn unsaved_text(path: &str) -> Result<Overlay, Error> {
    let mut bytes = Vec::new();
    let limited = std::io::stdin()
        .lock()
        .take(SourceFile::MAX_BYTES + 1)
        .read_to_end(&mut bytes);
    let text = limited
        .map_err(|error| error.to_string())
        .and_then(|_| decode(bytes))
        .map_err(|reason| Error::Stdin { reason })?;
    Ok(Overlay {
        path: path.to_owned(),
        text: text.into(),
    })
}
