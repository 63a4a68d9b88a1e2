//! `--output FORMAT[:FILE]` and `--fail-on`; how documents are rendered and written.

use std::fmt::Display;
use std::io::IsTerminal;
use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;

use super::error::Error;
use super::global_args::GlobalArgs;
use super::replace::replace;
use super::terminal;
use crate::engine::repository_root;
use crate::finding::Severity;
use crate::report::plan::PlanFormat;
use crate::report::{Format, HumanOptions, Options, Roots, UnknownFormat};
use crate::text::near;
use crate::text::runner::Syntax;

/// The formats of one command.
pub(super) trait Named: Copy + Display + FromStr<Err = UnknownFormat> + 'static {
    /// Every format, in the order in which they are listed.
    const ALL: &'static [Self];

    /// Returns the syntax of documents in this format.
    fn syntax(self) -> Syntax;
}

impl Named for Format {
    const ALL: &'static [Self] = &Format::ALL;

    fn syntax(self) -> Syntax {
        match self {
            Self::Human | Self::Concise | Self::Junit | Self::Markdown | Self::Html => Syntax::Text,
            Self::Github => Syntax::Commands,
            _ => Syntax::Json,
        }
    }
}

impl Named for PlanFormat {
    const ALL: &'static [Self] = &PlanFormat::ALL;

    fn syntax(self) -> Syntax {
        if self == Self::Json {
            Syntax::Json
        } else {
            Syntax::Text
        }
    }
}

/// Returns the names of a command's formats.
pub(super) fn formats<F: Named>() -> Vec<String> {
    F::ALL.iter().map(F::to_string).collect()
}

/// A format, and the file to write; `None` for standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputSpec<F = Format> {
    pub(super) format: F,
    pub(super) file: Option<String>,
}

impl<F: Named> FromStr for OutputSpec<F> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once(':') {
            Some((name, file)) => (name, Some(file)),
            None => (text, None),
        };
        if file == Some("") {
            return Err(format!(
                "`{text}` names no file: write `{name}:FILE`, or `{name}` for standard output"
            ));
        }
        let format = name.parse::<F>().map_err(|error| {
            let names = formats::<F>();
            let help = near::did_you_mean(name, &names, || {
                format!("formats are: {}", names.join(", "))
            });
            format!("{error}, {help}")
        })?;
        Ok(Self {
            format,
            file: file.map(str::to_owned),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    #[value(alias = "text")]
    Human,
    Json,
}

/// The lowest severity that makes a run fail; `None` means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailOn(pub(super) Option<Severity>);

impl FailOn {
    pub(super) fn names() -> Vec<String> {
        ["error", "warning", "info", "never"]
            .map(str::to_owned)
            .to_vec()
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<Severity>()) {
            ("never", _) => Ok(Self(None)),
            (_, Ok(severity)) => Ok(Self(Some(severity))),
            (_, Err(())) => Err("write `error`, `warning`, `info` or `never`".to_owned()),
        }
    }
}

pub(super) fn severity(text: &str) -> Result<Severity, String> {
    text.parse()
        .map_err(|()| "write `error`, `warning` or `info`".to_owned())
}

/// Rejects two documents for one file or for standard output.
pub(super) fn distinct<F: Named>(specs: &[OutputSpec<F>]) -> Result<(), Error> {
    for (at, second) in specs.iter().enumerate() {
        if let Some(first) = specs[..at].iter().find(|first| first.file == second.file) {
            let place = second
                .file
                .as_ref()
                .map_or("standard output".to_owned(), |file| format!("`{file}`"));
            let (first, second) = (first.format.to_string(), second.format.to_string());
            return Err(Error::SharedOutput {
                place,
                first,
                second,
            });
        }
    }
    Ok(())
}

/// Returns the options for rendering a document; colours and links are for standard output only.
pub(super) fn display(global: &GlobalArgs, to_stdout: bool) -> Options {
    let stdout = std::io::stdout();
    let here = std::env::current_dir().ok();
    let color = to_stdout && terminal::use_color(global.color, &stdout);
    Options {
        human: HumanOptions {
            color,
            links: color && stdout.is_terminal(),
            ascii: to_stdout && terminal::is_ascii(),
            width: terminal::width(),
            citations: global.verbose,
            verbose: global.verbose,
            ..HumanOptions::default()
        },
        roots: Roots {
            // Code hosts expect paths relative to the root of the repository.
            repository_root: here.as_deref().and_then(repository_root).map(slashes),
            working_directory: here.as_deref().map(slashes),
        },
        ..Options::default()
    }
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Writes a document to its file, or to standard output.
pub(super) fn write_document<F: Named>(spec: &OutputSpec<F>, text: &str) -> Result<(), Error> {
    match &spec.file {
        None => terminal::print_as(text, spec.format.syntax()),
        Some(file) => replace(file, text),
    }
}
