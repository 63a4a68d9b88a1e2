//! Errors of renderers.

use miette::Diagnostic;
use thiserror::Error;

/// An error of a renderer.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderError {
    /// The program cannot be started.
    #[error("`{command}` cannot be run: {reason}")]
    #[diagnostic(help(
        "a program is looked for on the PATH; with a slash in its name, in the folder in which it is run"
    ))]
    NotRun {
        /// The command line.
        command: String,
        /// The reason.
        reason: String,
    },
    /// The program failed.
    #[error("`{command}` {outcome}{said}")]
    Failed {
        /// The command line.
        command: String,
        /// `exited with status 1`.
        outcome: String,
        /// Its standard error, after a colon; empty if there is none.
        said: String,
    },
    /// The program exceeded the time limit.
    #[error("`{command}` did not finish within {seconds} s{said}")]
    #[diagnostic(help("`timeout:` of the bundle gives it more time: `timeout: 5m`"))]
    TimedOut {
        /// The command line.
        command: String,
        /// The limit.
        seconds: u64,
        /// Its standard error until then.
        said: String,
    },
    /// The program wrote too much.
    #[error("`{command}` wrote more than {mebibytes} MiB")]
    TooLong {
        /// The command line.
        command: String,
        /// The limit.
        mebibytes: u64,
    },
    /// The program printed something other than manifests.
    #[error("the output of `{command}` is not a manifest: {reason}")]
    #[diagnostic(help(
        "run it by hand and look at its standard output: it must be YAML or JSON of Kubernetes objects alone"
    ))]
    NoManifests {
        /// The command line.
        command: String,
        /// The error, with the line.
        reason: String,
    },
    /// The files of a state cannot be written for a renderer.
    #[error("cannot check out the tree for its renderers: {0}")]
    Checkout(String),
    /// There is no program to render with.
    #[error("there is no `kustomize` and no `kubectl` on the PATH to render with")]
    #[diagnostic(help(
        "install one of them, or say how each bundle is rendered: `render: [helm, template, …]`"
    ))]
    NoRenderer,
    /// There is no program to render charts with.
    #[error("there is no `helm` on the PATH to render charts with")]
    #[diagnostic(help("install Helm 3 or 4, or leave out `--render`"))]
    NoHelm,
}
