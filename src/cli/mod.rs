//! The command line: arguments, exit status, and the only code that prints. Each command converts its arguments to a
//! request, opens a session, and writes the answer.

mod args;
mod baseline;
mod changed;
mod check;
mod command_first;
mod completions;
mod diff;
mod dispatch;
mod error;
mod explain;
mod fix;
mod global_args;
mod help;
mod hints;
mod init;
mod input_args;
mod known;
mod learn;
mod list;
mod output;
mod plan;
mod progress;
mod published;
mod rendering;
mod replace;
mod status;
mod terminal;
mod unified_diff;

pub use dispatch::main;
