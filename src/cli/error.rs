//! Why a run ended with status 2.

use miette::Diagnostic;
use thiserror::Error;

use crate::config::Mistake;
use crate::engine::{PlanError, SessionError, UnknownRule};

/// A failure that ends the run.
#[derive(Debug, Error, Diagnostic)]
pub(super) enum Error {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Session(#[from] SessionError),
    #[error("cannot read standard input: {reason}")]
    Stdin { reason: String },
    #[error("cannot tell what changed since `{reference}`: {reason}")]
    Git { reference: String, reason: String },
    #[error("`{path}` exists")]
    #[diagnostic(help("{}", if *forceable { "`--force` overwrites it" } else { "there can be only one configuration: remove it, or keep it" }))]
    Exists { path: String, forceable: bool },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Rule(#[from] UnknownRule),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Steps(#[from] Mistake),
    #[error("there is nothing to plan")]
    #[diagnostic(help("write `ownerlint plan delete TARGET…` or `ownerlint plan --steps FILE`"))]
    NothingToPlan,
    #[error("both the steps and the manifests are read from standard input")]
    #[diagnostic(help("give one of them a file"))]
    StdinTwice,
    /// A word that looks like a misspelt command was taken for a path.
    #[error("there is no command or path `{word}`")]
    #[diagnostic(help("did you mean `ownerlint {command}`?"))]
    Command { word: String, command: &'static str },
    #[error("there is no schema `{name}`")]
    #[diagnostic(help("schemas are: {known}"))]
    Schema { name: String, known: String },
    #[error("`--threads {threads}`: {reason}")]
    #[diagnostic(help("leave it out to use one thread per core"))]
    Threads { threads: usize, reason: String },
    #[error("two outputs go to {place}: `{first}` and `{second}`")]
    #[diagnostic(help("give all but one of them a file of its own: `--output {second}:FILE`"))]
    SharedOutput { place: String, first: String, second: String },
    #[error("cannot read {file}: {source}")]
    Read { file: String, source: std::io::Error },
    #[error("cannot write {place}: {source}")]
    Write { place: String, source: std::io::Error },
}
