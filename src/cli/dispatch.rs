//! From the arguments of the process to its exit status.

use std::process::ExitCode;

use clap::Parser;

use super::args::{Cli, Command};
use super::error::Error;
use super::status::Status;
use super::{baseline, check, completions, explain, init, list, plan, terminal};

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
        None => check::check(check, &global),
        Some(Command::Check(check)) => check::check(check, &global),
        Some(Command::List(list)) => list::list(list, &global),
        Some(Command::Plan(args)) => plan::plan(*args, &global),
        Some(Command::Explain(explain)) => explain::explain(&explain),
        Some(Command::Rules(rules)) => explain::rules(&rules),
        Some(Command::Baseline(args)) => baseline::baseline(args),
        Some(Command::Init(args)) => init::init(&args),
        Some(Command::Schema(schema)) => explain::schema(&schema),
        Some(Command::Completions(args)) => completions::completions(&args),
        Some(Command::Man) => completions::man(),
    }
}

/// clap knows how to show its own errors; help and version are no failure.
fn usage(error: &clap::Error) -> ExitCode {
    let failed = error.use_stderr();
    // Nobody is left to tell when even this cannot be written.
    let _ = error.print();
    if failed { Status::Failure.into() } else { Status::Clean.into() }
}
