//! One renderer: a program with arguments that prints manifests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::RenderError;
use super::limited::{Ended, run};
use crate::text::{SourceFile, without_credentials};

/// Maximum number of bytes that are kept of a renderer's standard error.
const MAX_SAID: u64 = 4096;

/// A command that prints manifests. It is not passed to a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderCommand {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// The time limit.
    pub timeout: Duration,
}

impl RenderCommand {
    /// The default time limit of a renderer.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// Returns the program and its arguments, as a shell would read them.
    pub fn command_line(&self) -> String {
        shlex::try_join(self.arguments.iter().map(String::as_str)).unwrap_or_default()
    }

    /// Runs it in `folder`, which is in a checkout, and returns its output. Of the environment, it
    /// gets only PATH; `home` is its home folder and its folder for temporary files.
    ///
    /// # Errors
    /// Returns an error if it cannot be run, fails, takes too long or prints too much.
    pub fn output(&self, folder: &Path, home: &Path) -> Result<Vec<u8>, RenderError> {
        self.printed(folder, |command| {
            command
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("HOME", home)
                .env("TMPDIR", home);
        })
    }

    /// Runs it in `folder` with the environment of the user and `variables`, and returns its output.
    ///
    /// # Errors
    /// Returns the errors of [`Self::output`].
    pub fn output_as_user(
        &self,
        folder: &Path,
        variables: &[(&str, &Path)],
    ) -> Result<Vec<u8>, RenderError> {
        self.printed(folder, |command| {
            command.envs(variables.iter().copied());
        })
    }

    fn not_run(&self, reason: String) -> RenderError {
        RenderError::NotRun {
            command: self.command_line(),
            reason,
        }
    }

    fn printed(
        &self,
        folder: &Path,
        surround: impl FnOnce(&mut Command),
    ) -> Result<Vec<u8>, RenderError> {
        let Some((program, arguments)) = self.arguments.split_first() else {
            return Err(self.not_run("it is empty".to_owned()));
        };
        let mut command = Command::new(located(program, folder));
        command.args(arguments).current_dir(folder);
        surround(&mut command);
        let run = run(&mut command, self.timeout, SourceFile::MAX_BYTES, MAX_SAID);
        let run = run.map_err(|error| self.not_run(error.to_string()))?;
        let command = self.command_line();
        Err(match run.ended {
            Ended::With(status) if status.success() => return Ok(run.stdout),
            Ended::With(status) => RenderError::Failed {
                command,
                outcome: match status.code() {
                    Some(code) => format!("exited with status {code}"),
                    None => "was ended by a signal".to_owned(),
                },
                said: printed(&run.stderr),
            },
            Ended::TimedOut => RenderError::TimedOut {
                command,
                seconds: self.timeout.as_secs(),
                said: printed(&run.stderr),
            },
            Ended::TooLong => RenderError::TooLong {
                command,
                mebibytes: SourceFile::MAX_BYTES / 1024 / 1024,
            },
        })
    }
}

/// Resolves a program with a slash from `folder`, because operating systems differ in this.
fn located(program: &str, folder: &Path) -> PathBuf {
    if program.contains('/') {
        folder.join(program)
    } else {
        PathBuf::from(program)
    }
}

/// Returns a program's standard error for a message: after a colon, without credentials in URLs.
fn printed(stderr: &[u8]) -> String {
    let text = without_credentials(&String::from_utf8_lossy(stderr));
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

/// Finds a program on the PATH.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path)
        .map(|folder| folder.join(&named))
        .find(|file| file.is_file())
}

/// Returns the command that builds the kustomization in its folder: `kustomize`, else `kubectl`.
///
/// # Errors
/// Returns an error if neither is on the PATH.
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
