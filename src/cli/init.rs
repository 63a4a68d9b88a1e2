//! `init`.

use std::path::Path;

use clap::Args;

use super::error::Error;
use super::status::Status;
use super::terminal;
use crate::config;
use crate::engine::{ConfigChoice, Request, Session};

#[derive(Clone, Debug, Args)]
pub(super) struct InitArgs {
    /// Where to look, and where to write
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(super) folder: String,
    /// Overwrite an ownerlint.yaml
    #[arg(long)]
    pub(super) force: bool,
}

pub(super) fn init(args: &InitArgs) -> Result<Status, Error> {
    let folder = args.folder.replace('\\', "/");
    let folder = folder.trim_end_matches('/');
    let below = |name: &str| if folder == "." { name.to_owned() } else { format!("{folder}/{name}") };
    let [name, hidden] = config::FILE_NAMES.map(below);
    let there = [(&name, args.force), (&hidden, false)];
    if let Some((path, _)) = there.into_iter().find(|(path, force)| !force && Path::new(path).exists()) {
        return Err(Error::Exists { path: path.clone(), forceable: *path == name });
    }
    let request = Request { paths: vec![folder.to_owned()], config: ConfigChoice::Without, ..Request::default() };
    let session = Session::open(&request)?;
    let inventories = || session.bundles().iter().map(|bundle| &bundle.inventory);
    let text = inventories().map(|inventory| config::starter(inventory, &below(""))).collect::<String>();
    std::fs::write(&name, text).map_err(|source| Error::Write { place: format!("`{name}`"), source })?;
    let objects = inventories().flat_map(|inventory| &inventory.members).filter(|member| member.decodes()).count();
    let objects = if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") };
    terminal::print(&format!(
        "wrote `{name}` for {objects}; next: `ownerlint`, and `ownerlint baseline write` to begin with a clean slate\n"
    ))?;
    Ok(Status::Clean)
}
