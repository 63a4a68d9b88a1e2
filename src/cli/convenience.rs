//! `init`, `completions` and `man`.

use std::path::Path;

use clap::CommandFactory;

use super::adoption_args::{CompletionsArgs, InitArgs};
use super::args::Cli;
use super::error::Error;
use super::{Status, terminal};
use crate::config;
use crate::engine::{BundleError, Input};

pub(super) fn init(args: &InitArgs) -> Result<Status, Error> {
    let folder = args.folder.replace('\\', "/");
    let folder = folder.trim_end_matches('/');
    let below = |name: &str| if folder == "." { name.to_owned() } else { format!("{folder}/{name}") };
    let [name, hidden] = config::FILE_NAMES.map(below);
    let there = [(&name, args.force), (&hidden, false)];
    if let Some((path, _)) = there.into_iter().find(|(path, force)| !force && Path::new(path).exists()) {
        return Err(Error::Exists { path: path.clone(), forceable: *path == name });
    }
    let input = Input { paths: vec![folder.to_owned()], ..Input::default() };
    let inventory = input.read().map_err(BundleError::Argument)?;
    let text = config::starter(&inventory, &below(""));
    std::fs::write(&name, text).map_err(|source| Error::Write { place: format!("`{name}`"), source })?;
    let objects = inventory.members.iter().filter(|member| member.decodes()).count();
    let objects = if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") };
    terminal::print(&format!(
        "wrote `{name}` for {objects}; next: `ownerlint`, and `ownerlint baseline write` to begin with a clean slate\n"
    ))?;
    Ok(Status::Clean)
}

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
