//! Errors of arguments that cannot be read. The run ends with status 2.

use std::path::Path;

use miette::Diagnostic;
use thiserror::Error;

use crate::text::near;

/// The error for an input argument.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// No such file or folder.
    #[error("cannot read `{path}`: no such file or folder")]
    Missing {
        /// The argument.
        path: String,
        /// A suggestion.
        #[help]
        help: Option<String>,
    },
    /// The file or folder exists and cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The argument.
        path: String,
        /// The message of the operating system.
        reason: String,
    },
    /// A path in a configuration that the user did not name: it must not make ownerlint read files elsewhere.
    #[error("`{path}` is outside the repository")]
    #[diagnostic(help(
        "name it on the command line, or choose this configuration with `--config`"
    ))]
    OutsideRepository {
        /// The path.
        path: String,
    },
    /// A path in a configuration that the user did not name, which leads to Git's own files: they
    /// may contain credentials.
    #[error("`{path}` is in `.git`")]
    #[diagnostic(help(
        "name it on the command line, or choose this configuration with `--config`"
    ))]
    InGitFolder {
        /// The path.
        path: String,
    },
    /// A malformed glob.
    #[error("`{pattern}` is not a valid glob: {reason}")]
    #[diagnostic(help(
        "`*` matches within a folder, `**` across folders; quote `[` and `{{` as `[[]` and `[{{]`"
    ))]
    Glob {
        /// The glob.
        pattern: String,
        /// Why it is wrong.
        reason: String,
    },
    /// The paths exceed a limit of the run.
    #[error("the paths of all bundles lead to more than {most} {what} together")]
    #[diagnostic(help(
        "let each bundle name a folder of its own, or check some of them at a time"
    ))]
    TooMany {
        /// The limit.
        most: usize,
        /// The unit: `files`.
        what: &'static str,
    },
    /// A glob without a match.
    #[error("no file matches `{pattern}`")]
    #[diagnostic(help("`*` matches within a folder, `**` across folders: `rendered/**/*.yaml`"))]
    NoMatch {
        /// The glob.
        pattern: String,
    },
}

impl InputError {
    /// Returns the error for an argument that does not exist, with the nearest name in its folder.
    pub(super) fn missing(argument: &str) -> Self {
        let path = Path::new(argument);
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let wanted = path.file_name().unwrap_or_default().to_string_lossy();
        let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter();
        let names = entries
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        let help = near::nearest(&wanted, names).map(|name| match folder {
            Some(folder) => format!("did you mean `{}`?", folder.join(name).display()),
            None => format!("did you mean `{name}`?"),
        });
        Self::Missing {
            path: argument.to_owned(),
            help,
        }
    }
}
