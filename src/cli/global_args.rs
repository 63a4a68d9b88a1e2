//! The arguments of every command.

use clap::{Args, ValueEnum};

/// Arguments of every command.
#[derive(Clone, Debug, Args)]
pub(super) struct GlobalArgs {
    /// When to use colours
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        help_heading = "Global options"
    )]
    pub(super) color: Color,
    /// Threads to use (default: one per core)
    #[arg(long, value_name = "N", value_parser = whole_number, global = true, help_heading = "Global options")]
    pub(super) threads: Option<usize>,
    /// Show infos and every place of a finding, print details and timings to stderr, and cite the Kubernetes rule behind
    /// each line of a plan
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(super) verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

fn whole_number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "write a whole number".to_owned())
}
