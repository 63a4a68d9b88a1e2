//! Why a session cannot be opened, or cannot do what is asked.

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
    /// A pattern that is no glob, or a path of a comparison that cannot be read.
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
        /// Why it failed.
        reason: String,
    },
    /// A baseline in a place that a configuration cannot choose.
    #[error("the baseline `{path}` of the configuration {reason}")]
    #[diagnostic(help("name a file of the repository, or choose the file with `--baseline`"))]
    ConfiguredBaseline {
        /// Its path.
        path: String,
        /// Why the place is wrong.
        reason: &'static str,
    },
    /// Unsaved text of a file that no bundle and no path reaches.
    #[error("`{path}` is not in any path that is checked")]
    #[diagnostic(help("name its folder as a path, or add it to a bundle in the configuration"))]
    OutsideOfBundles {
        /// The file.
        path: String,
    },
    /// A report scope that is neither there nor read.
    #[error(
        "`--only {path}`: there is no such file or folder, and nothing that is checked is in it"
    )]
    #[diagnostic(help("`--only` limits the report: name a file or folder among the checked ones"))]
    NothingInScope {
        /// The path.
        path: String,
    },
    /// Rules are chosen, and all of them are left out again.
    #[error("no rule is left to run: `--ignore` leaves out all that `--select` names")]
    #[diagnostic(help(
        "drop `--ignore` or select another rule; `ownerlint rules` lists all rules"
    ))]
    NoRuleLeft,
    /// The only rules that are chosen are run by another command.
    #[error("no rule is left to run: `{id}` looks at {what}")]
    #[diagnostic(help("`ownerlint {command}` runs it"))]
    OfAnotherCommand {
        /// One of the rules.
        id: &'static str,
        /// The subject of the question.
        what: &'static str,
        /// The command that runs it.
        command: &'static str,
    },
    /// A state that git cannot give.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Git(#[from] GitError),
    /// A path that neither of two states has.
    #[error("neither base nor head contains `{path}`")]
    #[diagnostic(help("paths are looked up in the two states, from the current folder"))]
    InNeitherState {
        /// The path, from the root of the states.
        path: String,
    },
    /// The tree whose deliveries are listed lacks a path of the command line.
    #[error("the tree does not contain `{path}`")]
    #[diagnostic(help("paths are looked up in the commit, from the current folder"))]
    NotInTree {
        /// The path, from the root of the tree.
        path: String,
    },
    /// Builds beyond a limit: what was not followed would look as if it had been removed.
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
    /// Nothing can be rendered.
    #[error(transparent)]
    #[diagnostic(transparent)]
    NoRendering(#[from] RenderError),
    /// A renderer that gives nothing.
    #[error("cannot render {what} of {side}")]
    Render {
        /// The bundle or folder.
        what: String,
        /// `base` or `head`.
        side: &'static str,
        /// Why.
        #[diagnostic_source]
        reason: RenderError,
    },
    /// A bundle that the configuration does not contain.
    #[error("there is no bundle `{name}`")]
    UnknownBundle {
        /// The word.
        name: String,
        /// A suggestion.
        #[help]
        help: String,
    },
    /// A word that is not the id of a rule.
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
    /// The file that is written for ownerlint, and where in it the mistake is.
    #[doc(hidden)]
    pub fn place(&self) -> Option<(&SourceFile, Span)> {
        match self {
            Self::Config(mistake) => mistake.place(),
            _ => None,
        }
    }
}
