//! Errors of git.

use miette::Diagnostic;
use thiserror::Error;

/// An error of git, or a state that it cannot read.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[non_exhaustive]
pub enum GitError {
    /// There is no git program.
    #[error("git is not installed")]
    #[diagnostic(help("install git, or compare two folders: `--base FOLDER --head FOLDER`"))]
    NotInstalled,
    /// The program cannot be started.
    #[error("git cannot be run: {0}")]
    NotRun(String),
    /// An error message of git.
    #[error("git: {0}")]
    Refused(String),
    /// The program ended before it had answered.
    #[error("git ended unexpectedly while it was reading contents")]
    BrokeOff,
    /// A word that names no commit.
    #[error("there is no such commit: `{reference}`")]
    #[diagnostic(help(
        "a shallow clone may lack it: fetch more history (`fetch-depth: 0` of actions/checkout)"
    ))]
    NoCommit {
        /// The word.
        reference: String,
    },
    /// A commit whose list of files is missing.
    #[error("this clone lacks the files of commit `{commit}`, and the remote does not give them")]
    #[diagnostic(help("fetch it again without `--filter=tree:0`"))]
    NoTree {
        /// The commit.
        commit: String,
    },
    /// Two commits without a common ancestor.
    #[error("`{reference}` has no common history with `{head}`")]
    #[diagnostic(help(
        "a shallow clone may lack it: fetch more history (`fetch-depth: 0` of actions/checkout)"
    ))]
    NoCommonHistory {
        /// The commit that the change starts from.
        reference: String,
        /// The commit that it leads to.
        head: String,
    },
    /// The branch that changes are merged into is unknown.
    #[error("no default branch is known: neither `origin/HEAD`, `main` nor `master`")]
    #[diagnostic(help("name what to compare with: `--base-ref REF`"))]
    NoDefaultBranch,
    /// HEAD is the first commit, so there is no state before it.
    #[error("HEAD is the first commit: there is nothing to compare it with")]
    #[diagnostic(help(
        "name what to compare with: `--base-ref REF`, or `--base PATH --head PATH`"
    ))]
    FirstCommit,
    /// A bare repository.
    #[error("this repository is bare: it has no {missing}")]
    #[diagnostic(help("name a commit: `--head-ref REF`"))]
    Bare {
        /// `work tree` or `index`.
        missing: &'static str,
    },
    /// A clone without a checkout.
    #[error("the work tree contains none of its files")]
    #[diagnostic(help("check them out, or name a commit: `--head-ref HEAD`"))]
    NotCheckedOut,
    /// A path with a merge conflict.
    #[error("`{path}` is in conflict")]
    #[diagnostic(help("resolve the merge first"))]
    Conflict {
        /// The path.
        path: String,
    },
    /// A path outside the repository.
    #[error("`{path}` is outside the repository")]
    #[diagnostic(help(
        "paths are looked up in the two commits: name files and folders of the repository"
    ))]
    OutsideOfRepository {
        /// The path.
        path: String,
    },
}
