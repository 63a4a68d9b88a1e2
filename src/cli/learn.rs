//! The command `learn`: derives an operator file from a dump of a cluster.

use std::fs::File;
use std::io::{BufReader, Read, stdin};

use clap::{Args, ValueHint};

use super::error::Error;
use super::progress;
use super::status::Status;
use super::terminal;
use crate::engine::{Learned, configured_tables};
use crate::inventory::STDIN;
use crate::knowledge::{OPERATOR_SCHEMA, Operator};

/// The maximum number of unreadable documents to show.
const SHOWN: usize = 5;

#[derive(Clone, Debug, Args)]
pub(super) struct LearnArgs {
    /// The output of kubectl get -o yaml or -o json; - reads standard input. Repeatable
    #[arg(short = 'f', long = "file", value_name = "DUMP", value_hint = ValueHint::FilePath, required = true)]
    files: Vec<String>,
}

pub(super) fn learn(args: &LearnArgs) -> Result<Status, Error> {
    let mut learned = Learned::default();
    for path in &args.files {
        let (name, dump, length): (&str, Box<dyn Read>, _) = if path.as_str() == STDIN {
            ("standard input", Box::new(stdin()), None)
        } else {
            let file = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
            let (length, file) = file.map_err(|reason| Error::Read {
                file: path.clone(),
                reason: reason.to_string(),
            })?;
            (path, Box::new(file), Some(length))
        };
        let bar = progress::of_bytes(length);
        let dump = BufReader::with_capacity(1 << 20, bar.wrap_read(dump));
        let result = learned.read(name, dump);
        drop(bar);
        result?;
    }
    for (path, line, reason) in learned.unreadable.iter().take(SHOWN) {
        terminal::say(&format!("warning: {path}:{line}: {reason}"));
    }
    if learned.unreadable.len() > SHOWN {
        let more = learned.unreadable.len() - SHOWN;
        terminal::say(&format!("warning: {more} more documents cannot be read"));
    }
    if learned.objects == 0 {
        return Err(Error::NothingLearned);
    }
    let operator = learned.operator(configured_tables()?.as_ref());
    let remark = format!(
        "# Learned from {} objects of a cluster. Name this file in ownerlint.yaml: `operators: \
         [FILE]`.\n",
        learned.objects
    );
    terminal::print(&file_of(&operator, &remark)?)?;
    Ok(Status::Clean)
}

pub(super) fn file_of(operator: &Operator, remark: &str) -> Result<String, Error> {
    operator
        .to_file(OPERATOR_SCHEMA, remark)
        .map_err(|reason| Error::Write {
            place: "the file of an operator".to_owned(),
            reason: std::io::Error::other(reason),
        })
}
