//! `init`: a configuration for the manifests of a folder, tried out before it stays.

use std::path::{Path, PathBuf};

use clap::Args;

use super::error::Error;
use super::replace::replace;
use super::status::Status;
use super::terminal;
use crate::config;
use crate::engine::{CheckOptions, ConfigChoice, Request, Session};
use crate::finding::Severity;
use crate::inventory::locate;
use crate::report::Report;
use crate::starter::{PathRoots, Starter, dominant};
use crate::text::plain;

#[derive(Clone, Debug, Args)]
pub(super) struct InitArgs {
    /// Where to look, and where to write
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, default_value = ".")]
    pub(super) folder: String,
    /// Overwrite an ownerlint.yaml
    #[arg(long)]
    pub(super) force: bool,
}

pub(super) fn init(args: &InitArgs) -> Result<Status, Error> {
    let folder = args.folder.replace('\\', "/");
    let folder = folder.trim_end_matches('/');
    let below = |name: &str| {
        if folder == "." {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        }
    };
    let [name, hidden] = config::FILE_NAMES.map(below);
    let there = [(&name, args.force), (&hidden, false)];
    if let Some((path, _)) = there
        .into_iter()
        .find(|(path, force)| !force && Path::new(path).exists())
    {
        return Err(Error::Exists {
            path: path.clone(),
            forceable: *path == name,
        });
    }
    let request = Request {
        paths: vec![folder.to_owned()],
        config: ConfigChoice::Without,
        ..Request::default()
    };
    let session = Session::open(&request)?;
    let repository = within_repository(folder);
    let roots = PathRoots {
        reported: &below(""),
        repository: &repository,
    };
    // Without a configuration there is one bundle.
    let starter = session
        .bundles()
        .first()
        .map(|bundle| Starter::propose(&bundle.inventory, roots))
        .unwrap_or_default();
    let before = errors(&session.check(CheckOptions::default())?).len();
    let (starter, after) = write_harmless(starter, before, folder, &name)?;
    terminal::print(&told(&name, session.objects(), &starter, &after))?;
    Ok(Status::Clean)
}

/// Writes the best configuration with which a check reports no more errors than without one, and returns that check. Bundles
/// can reveal an error that the whole tree hides: a definition that serves a version in another variant only, say.
fn write_harmless(
    starter: Starter,
    before: usize,
    folder: &str,
    name: &str,
) -> Result<(Starter, Report), Error> {
    let mut simpler = starter.simpler();
    let mut starter = starter;
    loop {
        replace(Path::new(name), &starter.to_yaml()).map_err(|reason| Error::Write {
            place: format!("`{name}`"),
            reason,
        })?;
        let report = check_with(&starter, folder, name)?;
        match simpler.next().filter(|_| errors(&report).len() > before) {
            Some(next) => starter = next,
            None => return Ok((starter, report)),
        }
    }
}

/// As `ownerlint` in that folder would check it.
fn check_with(starter: &Starter, folder: &str, config: &str) -> Result<Report, Error> {
    let paths = if starter.has_bundles() {
        Vec::new()
    } else {
        vec![folder.to_owned()]
    };
    let request = Request {
        paths,
        config: ConfigChoice::File(config.to_owned()),
        ..Request::default()
    };
    Ok(Session::open(&request)?.check(CheckOptions::default())?)
}

/// The path of each error.
fn errors(report: &Report) -> Vec<&str> {
    let errors = report.findings.iter().map(|reported| &reported.finding);
    let errors = errors.filter(|finding| finding.severity == Severity::Error);
    errors
        .map(|finding| report.sources.file(finding.primary.file).path())
        .collect()
}

/// A folder as seen from the root of its repository.
fn within_repository(folder: &str) -> String {
    let folder = locate(folder);
    let root = folder
        .ancestors()
        .find(|folder| folder.join(".git").exists());
    let within = root
        .and_then(|root| folder.strip_prefix(root).ok())
        .map(PathBuf::from)
        .unwrap_or_default();
    within.to_string_lossy().replace('\\', "/")
}

fn told(name: &str, objects: usize, starter: &Starter, after: &Report) -> String {
    let mut told = format!("wrote `{name}` for {}", plain::count(objects, "object"));
    if starter.left_out() > 0 {
        told.push_str(&format!(
            "; it leaves out {} of tests",
            plain::count(starter.left_out(), "file")
        ));
    }
    told.push('\n');
    let files: Vec<&str> = after.sources.iter().map(|(_, file)| file.path()).collect();
    let errors = errors(after);
    if let Some(exclusion) = dominant(&errors, &files) {
        let (most, all, glob) = (
            exclusion.covers,
            plain::count(errors.len(), "error"),
            exclusion.glob,
        );
        told.push_str(&format!(
            "{most} of {all} are in `{glob}`: if nobody applies these files, add it to `exclude`\n"
        ));
    }
    told.push_str("next: `ownerlint`, and `ownerlint baseline write` to report only new findings from now on\n");
    told
}
