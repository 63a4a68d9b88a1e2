//! The command line: arguments, exit status, and the one place that prints.

mod adoption_args;
mod args;
mod baseline;
mod changed;
mod commands;
mod convenience;
mod error;
mod help;
mod output;
mod plan;
mod settings;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use error::Error;

/// How a run ended, as the process tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nothing at or above `--fail-on`.
    Clean,
    /// Something is.
    Findings,
    /// Usage, configuration, I/O or internal failure.
    Failure,
    /// No Kubernetes object was found.
    NoObjects,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Clean => 0,
            Status::Findings => 1,
            Status::Failure => 2,
            Status::NoObjects => 3,
        })
    }
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let global = cli.global.clone();
    match run(cli) {
        Ok(status) => status.into(),
        // Whoever reads us has seen enough: `ownerlint list | head`.
        Err(Error::Write { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            terminal::print_error(&error, global.color);
            Status::Failure.into()
        }
    }
}

fn run(cli: Cli) -> Result<Status, Error> {
    let Cli { command, check, global } = cli;
    terminal::set_threads(global.threads)?;
    match command {
        None => commands::check(check, &global),
        Some(Command::Check(check)) => commands::check(check, &global),
        Some(Command::List(list)) => commands::list(list, &global),
        Some(Command::Plan(args)) => plan::plan(*args, &global),
        Some(Command::Explain(explain)) => commands::explain(&explain),
        Some(Command::Rules(rules)) => commands::rules(&rules),
        Some(Command::Baseline(args)) => baseline::baseline(args),
        Some(Command::Init(args)) => convenience::init(&args),
        Some(Command::Schema(schema)) => commands::schema(&schema),
        Some(Command::Completions(args)) => convenience::completions(&args),
        Some(Command::Man) => convenience::man(),
    }
}

/// clap knows how to show its own errors; help and version are no failure.
fn usage(error: &clap::Error) -> ExitCode {
    let failed = error.use_stderr();
    // Nobody is left to tell when even this cannot be written.
    let _ = error.print();
    if failed { Status::Failure.into() } else { Status::Clean.into() }
}
