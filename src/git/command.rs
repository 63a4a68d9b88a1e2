//! Runs git, but no other program: no hook, filter, driver, monitor, pager, prompt or transport
//! that the repository's own configuration names.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::GitError;
use crate::text::without_credentials;

/// Settings that override the configuration of a repository. Our commands only read objects and the
/// index. These settings turn off the programs that versions of git may still start, the cache of
/// untracked files, and the quoting of paths.
const OVERRIDES: [&str; 8] = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.quotePath=false",
];

/// Builds a git command with `arguments`, to be run in `folder`.
pub(super) fn git<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .arg("--no-pager")
        .args(OVERRIDES)
        .args(arguments);
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0");
    // Missing objects of a partial clone are not fetched. git before 2.45 has no option for that, so no protocol is
    // allowed either, whatever the repository allows.
    command
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "");
    command
        .env("LC_ALL", "C")
        .env_remove("GIT_EXTERNAL_DIFF")
        .stdin(Stdio::null());
    command
}

/// Runs git and returns its standard output.
pub(super) fn output<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Result<Vec<u8>, GitError> {
    output_of(&mut git(folder, arguments))
}

/// Runs a command that [`git`] built and returns its standard output.
pub(super) fn output_of(command: &mut Command) -> Result<Vec<u8>, GitError> {
    let output = command.output().map_err(|error| not_run(&error))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(refused(&output.stderr))
    }
}

/// Runs git and returns its standard output as text, without the line break at its end.
pub(super) fn line<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Result<String, GitError> {
    let output = String::from_utf8_lossy(&output(folder, arguments)?).into_owned();
    Ok(output.trim_end_matches(['\n', '\r']).to_owned())
}

pub(super) fn not_run(error: &std::io::Error) -> GitError {
    match error.kind() {
        std::io::ErrorKind::NotFound => GitError::NotInstalled,
        _ => GitError::NotRun(error.to_string()),
    }
}

/// Builds an error from the first line of git's message; the other lines say how to configure git.
pub(super) fn refused(complaint: &[u8]) -> GitError {
    let complaint = String::from_utf8_lossy(complaint);
    let first = complaint
        .lines()
        .next()
        .unwrap_or("failed without a message");
    GitError::Refused(without_credentials(first.trim_start_matches("fatal: ")))
}
