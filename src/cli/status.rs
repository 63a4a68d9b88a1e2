//! The exit status of a run.

use std::process::ExitCode;

use super::{hints, terminal};
use crate::engine::Session;
use crate::text::plain;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// No finding has the severity of `--fail-on` or a higher one.
    Clean,
    /// Some finding does.
    Findings,
    /// Usage, configuration, I/O or internal failure.
    Failure,
    /// No Kubernetes object was found.
    NoObjects,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Clean => 0,
            Status::Findings => 1,
            Status::Failure => 2,
            Status::NoObjects => 3,
        })
    }
}

/// Explains that there are no objects, which is more likely a wrong path or a missing rendering than a success.
pub(super) fn no_objects(session: &Session, paths: &[String]) -> Status {
    let files = plain::count(session.files(), "file");
    let templates = session.templates();
    terminal::say(&match templates {
        0 => format!("no Kubernetes object found in {files}; `--allow-empty` makes that a success"),
        _ => format!(
            "no Kubernetes object found in {files}: nothing was checked, only {} skipped",
            plain::count(templates, "template")
        ),
    });
    if let Some(help) = hints::on_no_objects(paths).or_else(|| {
        (templates > 0).then(|| "render first: `helm template NAME CHART | ownerlint -`".to_owned())
    }) {
        terminal::say(&format!("  help: {help}"));
    }
    Status::NoObjects
}
