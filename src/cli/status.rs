//! How a run ends.

use std::process::ExitCode;

use super::{hints, terminal};

/// How a run ended, as the process tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Nothing at or above `--fail-on`.
    Clean,
    /// Something is.
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

/// There was nothing to look at, which a misspelt path or a forgotten rendering explains better than success.
pub(super) fn no_objects(files: usize, paths: &[String]) -> Status {
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    terminal::say(&format!("no Kubernetes object found in {files}; `--allow-empty` makes that a success"));
    if let Some(help) = hints::on_no_objects(paths) {
        terminal::say(&format!("  help: {help}"));
    }
    Status::NoObjects
}
