//! Parsing of the process's arguments, and dispatch to the commands.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use super::args::{Cli, Command};
use super::command_first::command_first;
use super::error::Error;
use super::status::Status;
use super::{
    baseline, check, completions, diff, explain, help, hints, init, learn, list, plan, terminal,
};
use crate::text::plain::visible;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let mut root = help::examples_first(Cli::command());
    root.build();
    let cli = match parse(&mut root) {
        Ok(cli) => cli,
        Err(error) => return usage(error, &root),
    };
    let global = cli.global.clone();
    match run(cli, &root) {
        Ok(status) => status.into(),
        Err(error) => {
            terminal::print_error(&error, global.color);
            Status::Failure.into()
        }
    }
}

fn parse(root: &mut clap::Command) -> Result<Cli, clap::Error> {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    let ordered = command_first(root, arguments.collect());
    let found = root.try_get_matches_from_mut([&program].into_iter().chain(&ordered));
    let found = found.map_err(|error| {
        // clap shows arguments verbatim, and an argument may be a file name with control characters.
        let harmless = ordered.iter().map(|word| {
            word.to_str()
                .map_or_else(|| word.clone(), |word| visible(word).into_owned().into())
        });
        let harmless: Vec<OsString> = harmless.collect();
        if harmless == ordered {
            error
        } else {
            let words = [&program].into_iter().chain(&harmless);
            root.try_get_matches_from_mut(words).err().unwrap_or(error)
        }
    });
    Cli::from_arg_matches(&found?)
}

fn run(cli: Cli, root: &clap::Command) -> Result<Status, Error> {
    let Cli {
        command,
        check,
        global,
    } = cli;
    terminal::set_threads(global.threads)?;
    match command {
        None => {
            hints::on_paths(root, &check.input.paths)?;
            check::check(check, &global)
        }
        Some(Command::Check(check)) => check::check(check, &global),
        Some(Command::List(list)) => list::list(list, &global),
        Some(Command::Diff(args)) => diff::diff(*args, &global),
        Some(Command::Plan(args)) => plan::plan(*args, &global),
        Some(Command::Explain(explain)) => explain::explain(&explain, &global),
        Some(Command::Rules(rules)) => explain::rules(rules.output),
        Some(Command::Baseline(args)) => baseline::baseline(args),
        Some(Command::Learn(args)) => learn::learn(&args),
        Some(Command::Init(args)) => init::init(&args),
        #[cfg(feature = "lsp")]
        Some(Command::Lsp(_)) => {
            // An editor that sends `exit` without `shutdown` gets status 1, as the protocol requires.
            Ok(if crate::lsp::serve_stdio()? {
                Status::Clean
            } else {
                Status::Findings
            })
        }
        Some(Command::Schema(schema)) => explain::schema(&schema),
        Some(Command::Completions(args)) => completions::completions(&args),
        Some(Command::Man(args)) => completions::man(&args, root),
    }
}

/// Prints an error of clap, or its help or version, and returns the exit status.
fn usage(mut error: clap::Error, root: &clap::Command) -> ExitCode {
    hints::on_argument(&mut error, root);
    let failed = error.use_stderr();
    // If printing fails, the error cannot be reported anywhere.
    let _ = error.print();
    if failed {
        Status::Failure.into()
    } else {
        Status::Clean.into()
    }
}
