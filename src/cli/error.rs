//! Errors that end a run with status 2.

use miette::Diagnostic;
use thiserror::Error;

use crate::engine::{DumpError, PlanError, SessionError};
use crate::git::GitError;

#[derive(Debug, Error, Diagnostic)]
pub(super) enum Error {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Session(#[from] SessionError),
    #[cfg(feature = "lsp")]
    #[error(transparent)]
    Lsp(#[from] crate::lsp::LspError),
    #[error("cannot read standard input: {reason}")]
    Stdin { reason: String },
    #[error("cannot tell what changed since `{reference}`: {reason}")]
    Changed {
        reference: String,
        #[diagnostic_source]
        reason: GitError,
    },
    #[error("`list --output {format}` draws the deliveries")]
    #[diagnostic(help("add `--deliveries`"))]
    NeedsDeliveries { format: String },
    #[error("`--namespace` does not change which deliveries are listed")]
    #[diagnostic(help("leave it out, or name an object in the namespace with `--of KIND/NAME`"))]
    NamespaceOfDeliveries,
    #[error("`{path}` exists")]
    #[diagnostic(help("{}", if *forceable { "`--force` overwrites it" } else { "there can be only one configuration: remove it, or keep it" }))]
    Exists { path: String, forceable: bool },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Plan(#[from] PlanError),
    #[error("`{range}` names the state after the change, and another option does so too")]
    #[diagnostic(help(
        "leave out `--head-ref` and `--staged`, or give `--base-ref` a single commit"
    ))]
    TwoHeads { range: String },
    /// A comparison that needs a repository; its paths may be meant as the two states.
    #[error("{reason}")]
    #[diagnostic(help("compare two files or folders: `{command}`"))]
    NoStates { reason: String, command: String },
    /// A word that is no path, and similar to a branch or tag.
    #[error("{reason}")]
    #[diagnostic(help("did you mean `{reference}`?"))]
    UnknownReference { reason: String, reference: String },
    #[error("`{rule}` is a rule: a kind can only follow a finalizer")]
    #[diagnostic(help(
        "`ownerlint explain {rule}` explains the rule, `ownerlint explain {kind}` the kind"
    ))]
    KindOfRule { rule: String, kind: String },
    #[error("no operator file mentions the kind `{word}`")]
    #[diagnostic(help(
        "`ownerlint plan delete TARGET -f MANIFESTS` predicts what is deleted with an object of any kind; `ownerlint rules` lists all rules"
    ))]
    NothingAboutKind { word: String },
    #[error("there is nothing to plan")]
    #[diagnostic(help(
        "write `ownerlint plan delete TARGET -f {path}`, with a target like `deployment/web`, or `ownerlint plan --steps FILE {path}`"
    ))]
    NothingToPlan { path: String },
    #[error("both the steps and the manifests are read from standard input")]
    #[diagnostic(help("give one of them a file"))]
    StdinTwice,
    #[error("`--suggested` only selects fixes")]
    #[diagnostic(help("add `--fix-dry-run` to see them, or `--fix` to apply them"))]
    SuggestedAlone,
    /// A path that looks like a misspelt command, or like a command of another tool.
    #[error("there is no command or path `{word}`")]
    #[diagnostic(help("did you mean `ownerlint {command}`?"))]
    Command { word: String, command: String },
    #[error("`{address}` is an address, and ownerlint reads files")]
    #[diagnostic(help("fetch it first: `curl -fsSL {address} | ownerlint -`"))]
    Address { address: String },
    #[error("there is no path `{command}`")]
    #[diagnostic(help("the command comes first: `ownerlint {command} {others}`"))]
    CommandLast { command: String, others: String },
    #[error("there is no path `{file}`")]
    #[diagnostic(help("to write the output to this file: `--output {format}:{file}`"))]
    OutputFile { file: String, format: String },
    #[error("there is no schema `{name}`")]
    #[diagnostic(help("schemas are: {known}"))]
    Schema { name: String, known: String },
    #[error("`--threads {threads}`: {reason}")]
    #[diagnostic(help("leave it out to use one thread per core"))]
    Threads { threads: usize, reason: String },
    #[error("two outputs go to {place}: `{first}` and `{second}`")]
    #[diagnostic(help("give all but one of them a file of its own: `--output {second}:FILE`"))]
    SharedOutput {
        place: String,
        first: String,
        second: String,
    },
    #[error("there is no command `{words}`")]
    #[diagnostic(help("`ownerlint --help` lists the commands"))]
    NoManual { words: String },
    // The field is not called `source`, or miette would print the reason twice.
    #[error("cannot read {file}: {reason}")]
    Read { file: String, reason: String },
    #[error("the dump contains no object with a uid, but every object of a cluster has one")]
    #[diagnostic(help("write it with `kubectl get KINDS --all-namespaces -o yaml`"))]
    NothingLearned,
    #[error(transparent)]
    #[diagnostic(transparent)]
    Dump(#[from] DumpError),
    #[error("cannot write {place}: {reason}")]
    #[diagnostic(help("{}", remedy(reason)))]
    Write {
        place: String,
        reason: std::io::Error,
    },
}

fn remedy(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        std::io::ErrorKind::NotFound => "create the folder first: `mkdir -p`",
        std::io::ErrorKind::IsADirectory => "name a file in the folder",
        _ => "choose a file that you may write to",
    }
}
