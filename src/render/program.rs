//! One renderer: a list of arguments that prints manifests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::RenderError;
use super::limited::{Ended, LimitedRun, run};
use crate::text::SourceFile;

/// How much a renderer may say when it fails.
const MOST_SAID: u64 = 4096;

/// A command that prints manifests. No shell sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderCommand {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

impl RenderCommand {
    /// How long a renderer may take unless the configuration says otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// The program and its arguments, as a shell would read them.
    pub fn command_line(&self) -> String {
        shlex::try_join(self.arguments.iter().map(String::as_str)).unwrap_or_default()
    }

    /// The output of a run in `folder`, which is below a checkout. Of the environment it sees the PATH alone; `home` is its
    /// home folder, and the one for its temporary files.
    ///
    /// # Errors
    /// It cannot be run, fails, takes too long or prints too much.
    pub fn output(&self, folder: &Path, home: &Path) -> Result<Vec<u8>, RenderError> {
        self.printed(folder, |command| {
            command
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("HOME", home)
                .env("TMPDIR", home);
        })
    }

    /// The output of a run in `folder` as its user would run it, but for some variables.
    ///
    /// # Errors
    /// As those of [`Self::output`].
    pub fn output_as_user(
        &self,
        folder: &Path,
        variables: &[(&str, &Path)],
    ) -> Result<Vec<u8>, RenderError> {
        self.printed(folder, |command| {
            command.envs(variables.iter().copied());
        })
    }

    fn printed(
        &self,
        folder: &Path,
        surround: impl FnOnce(&mut Command),
    ) -> Result<Vec<u8>, RenderError> {
        let command_line = || self.command_line();
        let not_run = |reason: String| RenderError::NotRun {
            command: command_line(),
            reason,
        };
        let Some((program, arguments)) = self.arguments.split_first() else {
            return Err(not_run("it is empty".to_owned()));
        };
        let mut command = Command::new(located(program, folder));
        command.args(arguments).current_dir(folder);
        surround(&mut command);
        let run = run(&mut command, self.timeout, SourceFile::MAX_BYTES, MOST_SAID);
        let LimitedRun {
            ended,
            stdout,
            stderr,
        } = run.map_err(|error| not_run(error.to_string()))?;
        match ended {
            Ended::With(status) if status.success() => Ok(stdout),
            Ended::With(status) => {
                let outcome = status
                    .code()
                    .map_or("was ended by a signal".to_owned(), |code| {
                        format!("exited with status {code}")
                    });
                Err(RenderError::Failed {
                    command: command_line(),
                    outcome,
                    said: said(&stderr),
                })
            }
            Ended::TimedOut => {
                let seconds = self.timeout.as_secs();
                Err(RenderError::TimedOut {
                    command: command_line(),
                    seconds,
                    said: said(&stderr),
                })
            }
            Ended::TooLong => {
                let mebibytes = SourceFile::MAX_BYTES / 1024 / 1024;
                Err(RenderError::TooLong {
                    command: command_line(),
                    mebibytes,
                })
            }
        }
    }
}

/// A program with a slash is one of the tree: where it is looked for would otherwise depend on the system.
fn located(program: &str, folder: &Path) -> PathBuf {
    if program.contains('/') {
        folder.join(program)
    } else {
        PathBuf::from(program)
    }
}

/// The complaint of a program, after a colon.
fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!(": {}", lines.join("; "))
    }
}

/// Where a program is on the PATH.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path)
        .map(|folder| folder.join(&named))
        .find(|file| file.is_file())
}

/// The program that builds the kustomization of the folder that it is run in: `kustomize`, else `kubectl`.
///
/// # Errors
/// Neither is on the PATH.
pub fn kustomize() -> Result<RenderCommand, RenderError> {
    let arguments = match (on_path("kustomize"), on_path("kubectl")) {
        (Some(_), _) => ["kustomize", "build", "."],
        (None, Some(_)) => ["kubectl", "kustomize", "."],
        (None, None) => return Err(RenderError::NoRenderer),
    };
    Ok(RenderCommand {
        arguments: arguments.map(str::to_owned).to_vec(),
        timeout: RenderCommand::TIMEOUT,
    })
}
