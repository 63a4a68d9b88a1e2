//! The command line: arguments, exit status, and all output but the messages of the language server. Most commands
//! convert their arguments to a request to the engine, and write the answer.

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
