//! Errors of sessions.

use miette::Diagnostic;
use thiserror::Error;

use super::input::BundleError;
use super::selection::UnknownRule;
use crate::baseline::BaselineError;
use crate::config::Mistake;
use crate::git::GitError;
use crate::inventory::InputError;
use crate::kustomize::BeyondLimit;
use crate::render::RenderError;
use crate::text::{SourceFile, Span};

/// A failure that ends the run.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum SessionError {
    /// A path that cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Bundle(#[from] BundleError),
    /// An invalid glob, or a path of a comparison that cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Input(#[from] InputError),
    /// A mistake in the configuration.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Config(#[from] Mistake),
    /// A mistake in the baseline.
    #[error(transparent)]
    #[diagnostic(transparent)]
    NoBaseline(#[from] BaselineError),
    /// A baseline that cannot be read.
    #[error("cannot read the baseline `{path}`: {reason}")]
    #[diagnostic(help("`ownerlint baseline write` writes it"))]
    Baseline {
        /// Its path.
        path: String,
        /// The error of the system or the decoder.
        reason: String,
    },
    /// A configured baseline in a place that is not allowed.
    #[error("the baseline `{path}` of the configuration {reason}")]
    #[diagnostic(help("name a file of the repository, or choose the file with `--baseline`"))]
    ConfiguredBaseline {
        /// Its path.
        path: String,
        /// Why the place is wrong.
        reason: &'static str,
    },
    /// An unsaved text of a file outside all bundles and paths.
    #[error("`{path}` is not in any path that is checked")]
    #[diagnostic(help("name its folder as a path, or add it to a bundle in the configuration"))]
    OutsideOfBundles {
        /// The file.
        path: String,
    },
    /// A path of `--only` that does not exist and contains no file that was read.
    #[error(
        "`--only {path}`: there is no such file or folder, and nothing that is checked is in it"
    )]
    #[diagnostic(help("`--only` limits the report: name a file or folder among the checked ones"))]
    NothingInScope {
        /// The path.
        path: String,
    },
    /// All selected rules are ignored.
    #[error("no rule is left to run: `--ignore` leaves out all that `--select` names")]
    #[diagnostic(help(
        "drop `--ignore` or select another rule; `ownerlint rules` lists all rules"
    ))]
    NoRuleLeft,
    /// All selected rules are run by another command.
    #[error("no rule is left to run: `{id}` looks at {what}")]
    #[diagnostic(help("`ownerlint {command}` runs it"))]
    OfAnotherCommand {
        /// One of the rules.
        id: &'static str,
        /// The input of the rule, for example `changes`.
        what: &'static str,
        /// The command that runs it.
        command: &'static str,
    },
    /// A state of the repository that git cannot read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Git(#[from] GitError),
    /// A path that neither of the compared states contains.
    #[error("neither base nor head contains `{path}`")]
    #[diagnostic(help("paths are looked up in the two states, from the current folder"))]
    InNeitherState {
        /// The path, from the root of the states.
        path: String,
    },
    /// A path of the command line that the listed tree does not contain.
    #[error("the tree does not contain `{path}`")]
    #[diagnostic(help("paths are looked up in the commit, from the current folder"))]
    NotInTree {
        /// The path, from the root of the tree.
        path: String,
    },
    /// Builds that exceed a limit. Objects beyond it would look as if they had been removed.
    #[error("`{path}`: {beyond}", path = beyond.path)]
    #[diagnostic(help(
        "leave folders that nothing builds out of the comparison with `exclude`, compare a folder by itself with `--base` and `--head`, or \
         raise `limits.{key}` in the configuration of base",
        key = beyond.key()
    ))]
    BeyondLimit {
        /// The place, and the limit.
        #[doc(hidden)]
        beyond: BeyondLimit,
    },
    /// An error that keeps everything from being rendered.
    #[error(transparent)]
    #[diagnostic(transparent)]
    NoRendering(#[from] RenderError),
    /// A bundle or folder that cannot be rendered.
    #[error("cannot render {what} of {side}")]
    Render {
        /// The bundle or folder.
        what: String,
        /// The state: `base`, `head` or the only one.
        side: &'static str,
        /// The error of the renderer.
        #[diagnostic_source]
        reason: RenderError,
    },
    /// A bundle that the configuration does not contain.
    #[error("there is no bundle `{name}`")]
    UnknownBundle {
        /// The requested name.
        name: String,
        /// A suggestion.
        #[help]
        help: String,
    },
    /// An unknown rule.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Rule(#[from] UnknownRule),
}

impl From<BeyondLimit> for SessionError {
    fn from(beyond: BeyondLimit) -> Self {
        Self::BeyondLimit { beyond }
    }
}

impl SessionError {
    /// Returns the configuration file and the span of the mistake in it; `None` for other errors.
    #[doc(hidden)]
    pub fn place(&self) -> Option<(&SourceFile, Span)> {
        match self {
            Self::Config(mistake) => mistake.place(),
            _ => None,
        }
    }
}
