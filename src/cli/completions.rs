//! The commands `completions` and `man`.

use clap::CommandFactory;

use super::args::{Cli, CompletionsArgs, ManArgs};
use super::error::Error;
use super::status::Status;
use super::terminal;

pub(super) fn completions(args: &CompletionsArgs) -> Result<Status, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ownerlint", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Clean)
}

/// Prints the page of one command, or writes the pages of all commands to a folder.
pub(super) fn man(args: &ManArgs, root: &clap::Command) -> Result<Status, Error> {
    if let Some(folder) = &args.folder {
        let written = clap_mangen::generate_to(Cli::command(), folder);
        written.map_err(|reason| Error::Write {
            place: format!("manual pages to `{folder}`"),
            reason,
        })?;
        return Ok(Status::Clean);
    }
    let mut command = root;
    for word in &args.command {
        let found = command.find_subcommand(word);
        command = found.ok_or_else(|| Error::NoManual {
            words: args.command.join(" "),
        })?;
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
    rendered.map_err(|reason| Error::Write {
        place: "the manual page".to_owned(),
        reason,
    })?;
    terminal::print(&String::from_utf8_lossy(&page))?;
    Ok(Status::Clean)
}
