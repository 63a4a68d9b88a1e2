//! `completions` and `man`.

use clap::CommandFactory;

use super::args::{Cli, CompletionsArgs};
use super::error::Error;
use super::status::Status;
use super::terminal;

pub(super) fn completions(args: &CompletionsArgs) -> Result<Status, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ownerlint", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Clean)
}

pub(super) fn man() -> Result<Status, Error> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
    rendered.map_err(|source| Error::Write { place: "the manual page".to_owned(), source })?;
    terminal::print(&String::from_utf8_lossy(&page))?;
    Ok(Status::Clean)
}
