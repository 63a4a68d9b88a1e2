//! Why a run ended with status 2.

use miette::Diagnostic;
use thiserror::Error;

use crate::baseline::BaselineError;
use crate::config::ConfigError;
use crate::engine::{BundleError, PlanError, StepsError, UnknownRule};
use crate::inventory::InputError;

/// A failure that ends the run.
#[derive(Debug, Error, Diagnostic)]
pub(super) enum Error {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Bundle(#[from] BundleError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    NoBaseline(#[from] BaselineError),
    #[error("cannot read the baseline `{path}`: {reason}")]
    #[diagnostic(help("`ownerlint baseline write` writes it"))]
    Baseline { path: String, reason: String },
    #[error("cannot read standard input: {reason}")]
    Stdin { reason: String },
    #[error("`{path}` lies in nothing that is read")]
    #[diagnostic(help("name its folder as a path, or add it to a bundle of the configuration"))]
    OutsideOfBundles { path: String },
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
    Steps(#[from] StepsError),
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
