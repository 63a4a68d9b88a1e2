//! The command `init`: writes a configuration for the manifests of a folder, and checks the folder with it.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;

use super::error::Error;
use super::replace::replace;
use super::status::Status;
use super::terminal;
use crate::config;
use crate::engine::{
    CheckOptions, ConfigChoice, Deliveries, Request, Session, StateChoice, list_deliveries,
    repository_root,
};
use crate::finding::Severity;
use crate::inventory::locate;
use crate::report::Report;
use crate::starter::{DeliveredPart, Starter, dominant};
use crate::text::plain;

#[derive(Clone, Debug, Args)]
pub(super) struct InitArgs {
    /// The folder to inspect, and to write the file to
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, default_value = ".")]
    pub(super) folder: String,
    /// Overwrite an ownerlint.yaml
    #[arg(long)]
    pub(super) force: bool,
}

pub(super) fn init(args: &InitArgs) -> Result<Status, Error> {
    let folder = args.folder.replace('\\', "/");
    let folder = folder.trim_end_matches('/');
    let prefix = if folder == "." {
        String::new()
    } else {
        format!("{folder}/")
    };
    let [name, hidden] = config::FILE_NAMES.map(|name| format!("{prefix}{name}"));
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
    let delivered = delivered(folder);
    // Without a configuration there is one bundle.
    let starter = session
        .bundles()
        .first()
        .map(|bundle| Starter::propose(&bundle.inventory, &prefix, &delivered))
        .unwrap_or_default();
    let before = errors(&session.check(CheckOptions::default())?).len();
    let (starter, after) = write_harmless(starter, before, folder, &name)?;
    terminal::print(&summary(&name, session.objects(), &starter, &after))?;
    Ok(Status::Clean)
}

/// Writes the first proposal with which a check reports at most `before` errors, as many as without
/// a configuration, else the simplest one. Returns it and the report. Bundles can reveal errors
/// that the whole tree hides, for example if only another variant's CRD serves a version.
fn write_harmless(
    mut starter: Starter,
    before: usize,
    folder: &str,
    name: &str,
) -> Result<(Starter, Report), Error> {
    let mut simpler = starter.simpler();
    loop {
        replace(name, &starter.to_yaml())?;
        let report = check_with(&starter, folder, name)?;
        match simpler.next().filter(|_| errors(&report).len() > before) {
            Some(next) => starter = next,
            None => return Ok((starter, report)),
        }
    }
}

/// Checks the folder as `ownerlint` in that folder would.
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

/// Returns the path of each error.
fn errors(report: &Report) -> Vec<&str> {
    let errors = report.findings.iter().map(|reported| &reported.finding);
    let errors = errors.filter(|finding| finding.severity == Severity::Error);
    errors
        .map(|finding| report.sources.file(finding.primary.file).path())
        .collect()
}

/// Returns the deliveries of a folder, evaluated from the root of its repository, to which paths of Flux and Argo CD
/// are relative. If that fails, it returns none and prints the reason.
fn delivered(folder: &str) -> Vec<DeliveredPart> {
    let folder = locate(folder);
    let root = repository_root(&folder).unwrap_or(&folder);
    let within = folder.strip_prefix(root).unwrap_or(&folder);
    let tree = StateChoice::Path(root.to_string_lossy().into_owned());
    let all = match list_deliveries(&tree, &[], &BTreeSet::new(), &ConfigChoice::Without, None) {
        Ok(all) => all,
        Err(error) => {
            terminal::say(&format!("note: the deliveries are unknown: {error}"));
            return Vec::new();
        }
    };
    let shared = shared_clusters(&all);
    let first = shared.first().cloned();
    let parts = all.listing.deliveries.into_iter().filter_map(|delivery| {
        // Skip deliveries that depend on facts which only the cluster knows.
        let path = delivery.path.filter(|_| delivery.certainty != "possible")?;
        let files = delivery.instances.iter();
        let files: BTreeSet<String> = files.filter_map(|one| below(within, &one.file)).collect();
        (!files.is_empty()).then(|| DeliveredPart {
            folder: below(within, &path).unwrap_or_default(),
            files,
            keys: delivery.instances.into_iter().map(|one| one.key).collect(),
            cluster: delivery.cluster.map(|name| match &first {
                Some(first) if shared.contains(&name) => first.clone(),
                _ => name,
            }),
        })
    });
    parts.collect()
}

/// Returns the names of the clusters that are assumed to be one: nothing proves them separate.
fn shared_clusters(all: &Deliveries) -> BTreeSet<String> {
    let clusters = all.listing.deliveries.iter();
    let clusters = clusters.filter_map(|one| one.cluster.clone());
    clusters
        .filter(|name| !all.separate_clusters.contains(name))
        .collect()
}

/// Returns `path` relative to `folder`; `None` if it is neither that folder nor below it.
fn below(folder: &Path, path: &str) -> Option<String> {
    Some(plain::path(Path::new(path).strip_prefix(folder).ok()?))
}

fn summary(name: &str, objects: usize, starter: &Starter, after: &Report) -> String {
    let mut summary = format!("wrote `{name}` for {}", plain::count(objects, "object"));
    if starter.left_out() > 0 {
        summary.push_str(&format!(
            "; it leaves out {} of tests",
            plain::count(starter.left_out(), "file")
        ));
    }
    summary.push('\n');
    let files: Vec<&str> = after.sources.iter().map(|(_, file)| file.path()).collect();
    let errors = errors(after);
    if let Some(exclusion) = dominant(&errors, &files) {
        summary.push_str(&format!(
            "{} of {} are in `{}`: if these files are never applied, add it to `exclude`\n",
            exclusion.covers,
            plain::count(errors.len(), "error"),
            exclusion.glob
        ));
    }
    summary.push_str(&format!("first result: {}\n", after.summary.found()));
    if !after.findings.is_empty() {
        summary.push_str(
            "`ownerlint` shows it; after `ownerlint baseline write`, only new findings\n",
        );
    }
    if starter.charts() > 0 {
        let charts = plain::count(starter.charts(), "chart");
        summary.push_str(&format!(
            "not rendered: {charts}; `ownerlint --render` renders with helm and checks the result, too\n"
        ));
    }
    summary.push_str("next: `ownerlint diff` says what merging the current branch deletes\n");
    summary
}
