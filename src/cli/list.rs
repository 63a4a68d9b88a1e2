//! `list`.

use std::time::Instant;

use clap::Args;

use super::error::Error;
use super::global_args::GlobalArgs;
use super::input_args::{InputArgs, open};
use super::output::TextOrJson;
use super::status::{Status, no_objects};
use super::terminal;
use crate::text::plain;
use crate::text::runner::Syntax;

#[derive(Clone, Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub(super) output: TextOrJson,
}

pub(super) fn list(args: ListArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let started = Instant::now();
    let allow_empty = args.input.allow_empty;
    let request = args.input.request(None)?;
    let session = open(&request)?;
    match args.output {
        TextOrJson::Human => terminal::print(&session.list().human())?,
        TextOrJson::Json => terminal::print_by(Syntax::Json, |out| session.write_list(out))?,
    }
    let objects = session.readable_objects();
    if global.verbose {
        terminal::say(&format!(
            "{} in {:.1?}",
            plain::count(objects, "object"),
            started.elapsed()
        ));
    }
    session
        .notes_on_list()
        .for_each(|note| terminal::say(&format!("{}: {}", note.severity.as_str(), note.message)));
    match objects == 0 && !allow_empty {
        true => Ok(no_objects(&session, &request.paths)),
        false => Ok(Status::Clean),
    }
}
