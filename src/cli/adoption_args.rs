//! The arguments of what makes adoption easy: configuration, baseline, report scope, conveniences.

use clap::{Args, Subcommand, ValueEnum};

use super::args::{InputArgs, WorldArg};
use crate::text::ColumnUnit;

/// Which configuration counts.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ConfigArgs {
    /// The configuration [default: ownerlint.yaml beside the first path or above it; env: OWNERLINT_CONFIG]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub(super) config: Option<String>,
    /// Use no configuration
    #[arg(long)]
    pub(super) no_config: bool,
}

/// What is reported of all that is read, and how.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ReportedArgs {
    /// Report only findings that touch this file or folder; all the rest is read nevertheless (may be repeated)
    #[arg(long, value_name = "PATH", help_heading = "Report")]
    pub(super) only: Vec<String>,
    /// Report only findings that touch files changed since the current branch left this git ref
    #[arg(long, value_name = "GITREF", help_heading = "Report")]
    pub(super) only_changed_from: Option<String>,
    /// The known findings [default: ownerlint-baseline.json beside the configuration]
    #[arg(long, value_name = "FILE", help_heading = "Report", conflicts_with = "no_baseline")]
    pub(super) baseline: Option<String>,
    /// Report known findings too
    #[arg(long, help_heading = "Report")]
    pub(super) no_baseline: bool,
    /// What a column of the `lsp` output counts
    #[arg(long, value_name = "ENCODING", default_value = "utf-16", help_heading = "Report")]
    pub(super) position_encoding: PositionEncoding,
    /// Link lines in the `markdown` output to this address of the commit: https://github.com/owner/name/blob/COMMIT
    #[arg(long, value_name = "URL", help_heading = "Report")]
    pub(super) source_url: Option<String>,
    /// The size that the `markdown` output keeps to; a comment on GitHub takes 65536 [default: 1000000]
    #[arg(long, value_name = "BYTES", help_heading = "Report")]
    pub(super) markdown_bytes: Option<usize>,
    /// Exit with 0 whatever is found
    #[arg(long, help_heading = "Report")]
    pub(super) exit_zero: bool,
}

/// The position encodings of the language server protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PositionEncoding {
    /// Bytes
    #[value(name = "utf-8")]
    Utf8,
    /// UTF-16 code units
    #[default]
    #[value(name = "utf-16")]
    Utf16,
    /// Characters
    #[value(name = "utf-32")]
    Utf32,
}

impl From<PositionEncoding> for ColumnUnit {
    fn from(encoding: PositionEncoding) -> Self {
        match encoding {
            PositionEncoding::Utf8 => Self::Utf8,
            PositionEncoding::Utf16 => Self::Utf16,
            PositionEncoding::Utf32 => Self::Chars,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(super) struct BaselineArgs {
    #[command(subcommand)]
    pub(super) action: BaselineAction,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum BaselineAction {
    /// Know all findings of today
    Write(BaselineFileArgs),
    /// Know all findings of today, and say what changed since the last time
    Update(BaselineFileArgs),
    /// Forget what is fixed, and learn nothing new
    Prune(BaselineFileArgs),
}

#[derive(Clone, Debug, Args)]
pub(super) struct BaselineFileArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// The known findings [default: ownerlint-baseline.json beside the configuration]
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<String>,
    /// Whether the input is all there is
    #[arg(long, value_name = "WORLD")]
    pub(super) world: Option<WorldArg>,
}

#[derive(Clone, Debug, Args)]
pub(super) struct InitArgs {
    /// Where to look, and where to write
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(super) folder: String,
    /// Overwrite an ownerlint.yaml
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}
