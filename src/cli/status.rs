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

/// Returns the exit status of a run that found no objects, and explains it; `None` if there are `objects`, or if an
/// empty input is allowed.
pub(super) fn of_empty(
    session: &Session,
    objects: usize,
    allow_empty: bool,
    paths: &[String],
) -> Option<Status> {
    let is_missing = objects == 0 && fails_without_objects(allow_empty, session.templates());
    is_missing.then(|| no_objects(session, paths))
}

/// Whether an input without objects fails a run. With unrendered templates it always does: it is
/// not empty.
pub(super) fn fails_without_objects(allow_empty: bool, templates: usize) -> bool {
    !allow_empty || templates > 0
}

/// Explains that there are no objects: probably the path is wrong, or a rendering is missing.
fn no_objects(session: &Session, paths: &[String]) -> Status {
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
