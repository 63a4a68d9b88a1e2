//! Maintenance tasks of this repository: `cargo xtask --help`.

mod rule;
mod style;

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use ownerlint::knowledge::Operator;

/// Chores of the repository of ownerlint
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Start the file of an operator: rules/operators/NAME.yaml
    Operator {
        /// The name of the operator, such as k6-operator
        #[arg(value_parser = file_name)]
        name: String,
    },
    /// Start a rule: its page, rules/ID.md, and its fixtures
    NewRule {
        /// The id of the rule, such as owner-not-found
        #[arg(value_parser = file_name)]
        id: String,
    },
    /// Count habits of style in src, crates and xtask, per 1,000 comment lines or functions
    Style,
}

fn file_name(name: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.is_empty() && name.chars().all(is_word) {
        Ok(name.to_owned())
    } else {
        Err("expects lower-case letters, digits and hyphens".to_owned())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    match Arguments::parse().task {
        Task::Operator { name } => operator(&name),
        Task::NewRule { id } => rule::start(&root(), &id),
        Task::Style => style::report(&root(), &["src", "crates", "xtask"]),
    }
}

fn operator(name: &str) -> Result<(), Box<dyn Error>> {
    let path = root().join(format!("rules/operators/{name}.yaml"));
    let text = Operator::sketch(name, None).to_file("../schema/operator.schema.json", "")?;
    create(&path, &text)?;
    writeln!(
        io::stdout(),
        "Wrote {}. Fill in what is in capitals and what says example; CONTRIBUTING.md, \"A new operator\", says how.\n\
         Then: UPDATE_DOCS=1 cargo test --test it operators docs",
        path.display()
    )?;
    Ok(())
}

/// Returns the folder of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Writes a file that does not exist yet.
fn create(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    let mut file = File::create_new(path)
        .map_err(|reason| format!("cannot create {}: {reason}", path.display()))?;
    file.write_all(text.as_bytes())?;
    Ok(())
}
