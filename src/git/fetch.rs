//! Fetches objects that a partial clone left out.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use super::GitError;
use super::blobs::ObjectName;
use super::command::{git, not_run, output};

/// The allowed protocols: none of them runs a program that an address names, as `ext::` does.
const PROTOCOLS: &str = "https:http:ssh:git:file";

/// Keys of a configuration that name programs which a fetch runs.
const PROGRAMS: &str = r"^(credential\..*|core\.(sshcommand|gitproxy|askpass)|remote\..*\.(uploadpack|vcs|receivepack))$";

/// Fetches objects from the remote that a partial clone was made from, all at once, as git itself does
/// (promisor-remote.c). Returns `false` if nothing was fetched: this is not a partial clone, the remote does not
/// answer, or the repository's own configuration names a program that a fetch would run.
///
/// # Errors
/// git cannot be run.
pub(super) fn fetch(folder: &Path, names: &[ObjectName]) -> Result<bool, GitError> {
    let Some(remote) = promisor(folder).filter(|_| !names_programs(folder)) else {
        return Ok(false);
    };
    let arguments = [
        "-c",
        "fetch.negotiationAlgorithm=noop",
        "-c",
        "maintenance.auto=false",
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--recurse-submodules=no",
        "--filter=blob:none",
        "--stdin",
        &remote,
    ];
    let mut command = git(folder, &arguments);
    let spawned = command
        .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.map_err(|error| not_run(&error))?;
    let asked: String = names
        .iter()
        .flat_map(|name| [name.as_str(), "\n"])
        .collect();
    // git reads all names before it answers; if it has ended already, its status says so.
    let _ = child
        .stdin
        .take()
        .map(|mut stdin| stdin.write_all(asked.as_bytes()));
    let status = child.wait().map_err(|error| not_run(&error))?;
    Ok(status.success())
}

/// Returns the remote that promises the objects that this clone lacks.
fn promisor(folder: &Path) -> Option<String> {
    let listed = output(
        folder,
        &["config", "--get-regexp", r"^remote\..*\.promisor$"],
    )
    .ok()?;
    let listed = String::from_utf8(listed).ok()?;
    let mut remotes = listed.lines().filter_map(|line| {
        let remote = line
            .strip_prefix("remote.")?
            .strip_suffix(".promisor true")?;
        (!remote.starts_with('-')).then(|| remote.to_owned())
    });
    remotes.next()
}

/// Returns whether the configuration of the repository itself, not that of its user, names a program; `true` if that
/// cannot be found out.
fn names_programs(folder: &Path) -> bool {
    let arguments = [
        "config",
        "--show-scope",
        "--name-only",
        "--get-regexp",
        PROGRAMS,
    ];
    let Ok(listed) = git(folder, &arguments).output() else {
        return true;
    };
    // git exits with status 1 if nothing matches, and with another one if it does not know an option.
    match listed.status.code() {
        Some(0) => {
            let own = ["local", "worktree"];
            let listed = String::from_utf8_lossy(&listed.stdout);
            let mut lines = listed.lines();
            lines.any(|line| own.iter().any(|scope| line.starts_with(scope)))
        }
        code => code != Some(1),
    }
}
