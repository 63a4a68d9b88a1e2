//! The commands, as clap parses them.

use clap::{Args, Parser, Subcommand, builder::styling};

use super::baseline::BaselineArgs;
use super::check::CheckArgs;
use super::diff::DiffArgs;
use super::explain::{ExplainArgs, RulesArgs, SchemaArgs};
use super::global_args::GlobalArgs;
use super::help;
use super::init::InitArgs;
use super::learn::LearnArgs;
use super::list::ListArgs;
use super::plan::PlanArgs;

const STYLES: styling::Styles = styling::Styles::styled()
    .header(styling::AnsiColor::Green.on_default().bold())
    .usage(styling::AnsiColor::Green.on_default().bold())
    .literal(styling::AnsiColor::Cyan.on_default().bold())
    .placeholder(styling::AnsiColor::Cyan.on_default());

/// Checks rendered manifests, before they are merged, for owner references and finalizers that get objects rejected,
/// deleted or stuck.
#[derive(Debug, Parser)]
#[command(name = "ownerlint", version, styles = STYLES, after_help = help::OWNERLINT, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) check: CheckArgs,
    #[command(flatten)]
    pub(super) global: GlobalArgs,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check ownership and finalizers (the default command)
    #[command(after_help = help::CHECK)]
    Check(CheckArgs),
    /// List the objects with their scopes, owners and finalizers
    #[command(after_help = help::LIST)]
    List(ListArgs),
    /// Predict a deletion: what is deleted with it, what is kept, what gets stuck
    Plan(Box<PlanArgs>),
    /// Compare two states of a tree, and show what merging the change deletes
    #[command(after_help = help::DIFF)]
    Diff(Box<DiffArgs>),
    /// Explain a rule (what is wrong, what the cluster does, how to fix it) or a citation in a plan
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),
    /// List the rules
    Rules(RulesArgs),
    /// Record today's findings, and report only new ones
    #[command(after_help = help::BASELINE)]
    Baseline(BaselineArgs),
    /// Write a file for `operators:` in ownerlint.yaml from a dump of a cluster
    #[command(after_help = help::LEARN)]
    Learn(LearnArgs),
    /// Write a commented ownerlint.yaml for the manifests of a folder
    #[command(after_help = help::INIT)]
    Init(InitArgs),
    /// Serve an editor: the language server protocol over standard input and output
    #[cfg(feature = "lsp")]
    #[command(after_help = help::LSP)]
    Lsp(LspArgs),
    /// Print the JSON Schema of outputs, configuration, baselines, steps or operator files
    #[command(after_help = help::SCHEMA)]
    Schema(SchemaArgs),
    /// Print shell completions
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = help::MAN)]
    Man(ManArgs),
}

#[cfg(feature = "lsp")]
#[derive(Clone, Debug, Args)]
pub(super) struct LspArgs {
    /// Ignored: standard input and output are always used, but some editors pass this option
    #[arg(long, hide = true)]
    pub(super) stdio: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}

#[derive(Clone, Debug, Args)]
pub(super) struct ManArgs {
    /// The command that the page is about [default: ownerlint itself]
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, conflicts_with = "command")]
    pub(super) folder: Option<String>,
}
