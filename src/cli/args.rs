//! The arguments, as clap reads them.

use clap::{Args, Parser, Subcommand, ValueEnum, builder::styling};

use super::adoption_args::{BaselineArgs, CompletionsArgs, ConfigArgs, InitArgs, ReportedArgs};
use super::help;
use super::output::{FailOn, OutputSpec};
use super::plan::PlanArgs;
use crate::inventory::Release;

const STYLES: styling::Styles = styling::Styles::styled()
    .header(styling::AnsiColor::Green.on_default().bold())
    .usage(styling::AnsiColor::Green.on_default().bold())
    .literal(styling::AnsiColor::Cyan.on_default().bold())
    .placeholder(styling::AnsiColor::Cyan.on_default());

/// Finds owner references and finalizers that Kubernetes will punish, in rendered manifests, before they are merged.
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
    /// Predict what a deletion would do: what goes, what stays, what hangs
    Plan(Box<PlanArgs>),
    /// Explain a rule: what is wrong, what the cluster does, how to fix it; or what a plan cites
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),
    /// List the rules
    Rules(RulesArgs),
    /// Know the findings of today, and report only new ones
    #[command(after_help = help::BASELINE)]
    Baseline(BaselineArgs),
    /// Write a commented ownerlint.yaml for the manifests of a folder
    #[command(after_help = help::INIT)]
    Init(InitArgs),
    /// Print the JSON Schema of an output, of the configuration or of baselines
    #[command(after_help = help::SCHEMA)]
    Schema(SchemaArgs),
    /// Print shell completions
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

/// Arguments of every command.
#[derive(Clone, Debug, Args)]
pub(super) struct GlobalArgs {
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = "Global options")]
    pub(super) color: Color,
    /// Threads to use (default: one per core)
    #[arg(long, value_name = "N", global = true, help_heading = "Global options")]
    pub(super) threads: Option<usize>,
    /// Say on standard error what was read and how long it took
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(super) verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

/// What is read.
#[derive(Clone, Debug, Args)]
pub(super) struct InputArgs {
    /// Files, folders, globs, or `-` for standard input [default: the current folder]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<String>,
    /// Leave out files whose path matches this glob (may be repeated)
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// The namespace of namespaced objects that do not say theirs
    #[arg(short, long, value_name = "NAME")]
    pub(super) namespace: Option<String>,
    /// The Kubernetes release that decides which built-in kinds are served [default: the newest known]
    #[arg(long, value_name = "VERSION", value_parser = release)]
    pub(super) kubernetes_version: Option<Release>,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// Read standard input as the unsaved text of this file; without other paths, among all that is configured
    #[arg(long, value_name = "FILE")]
    pub(super) stdin_filename: Option<String>,
    /// Exit with 0 when there is no Kubernetes object
    #[arg(long)]
    pub(super) allow_empty: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Output format, with a file to write it to (may be repeated): human, concise, json, …
    #[arg(short, long, value_name = "FORMAT[:FILE]", default_value = "human")]
    pub(super) output: Vec<OutputSpec>,
    /// The least severity that makes the run fail: error, warning, info, never
    ///
    /// [default: error]
    #[arg(long, value_name = "SEVERITY")]
    pub(super) fail_on: Option<FailOn>,
    /// Run only these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) select: Vec<String>,
    /// Do not run these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
    /// Whether the input is all there is: in a closed world a missing owner is an error
    #[arg(long, value_name = "WORLD")]
    pub(super) world: Option<WorldArg>,
    #[command(flatten)]
    pub(super) reported: ReportedArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum WorldArg {
    /// Objects outside of the input may exist
    Open,
    /// The input is the whole cluster
    Closed,
}

#[derive(Clone, Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub(super) output: TextOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    Human,
    Json,
}

#[derive(Clone, Debug, Args)]
pub(super) struct ExplainArgs {
    /// The rule, or what a plan cites in brackets (`GC-22`); without one, all rules are listed
    #[arg(value_name = "RULE")]
    pub(super) rule: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "markdown")]
    pub(super) output: MarkdownOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MarkdownOrJson {
    Markdown,
    Json,
}

#[derive(Clone, Debug, Args)]
pub(super) struct RulesArgs {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub(super) output: TextOrJson,
}

#[derive(Clone, Debug, Args)]
pub(super) struct SchemaArgs {
    /// The document: baseline, config, list, plan, report
    #[arg(value_name = "NAME")]
    pub(super) name: String,
}

/// A release that the tables know.
pub(super) fn release(text: &str) -> Result<Release, String> {
    let release: Release = text.parse().map_err(|error: crate::inventory::UnreadableRelease| error.to_string())?;
    match release > Release::NEWEST {
        true => Err(format!("the newest release that ownerlint knows is {}", Release::NEWEST)),
        false => Ok(release),
    }
}
