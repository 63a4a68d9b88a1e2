//! `--output FORMAT[:FILE]` and `--fail-on`.

use std::fmt::Display;
use std::str::FromStr;

use crate::finding::Severity;
use crate::report::plan::PlanFormat;
use crate::report::{Format, UnknownFormat};
use crate::text::near;

/// The formats of one command.
pub(super) trait Named: Copy + Display + FromStr<Err = UnknownFormat> + 'static {
    /// Every format, in the order in which they are listed.
    const ALL: &'static [Self];
}

impl Named for Format {
    const ALL: &'static [Self] = &Format::ALL;
}

impl Named for PlanFormat {
    const ALL: &'static [Self] = &PlanFormat::ALL;
}

/// A format, and the file it goes to; standard output without one.
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
            return Err(format!("`{text}` names no file: write `{name}:FILE`, or `{name}` for standard output"));
        }
        let format = name.parse::<F>().map_err(|error| {
            let names: Vec<_> = F::ALL.iter().map(F::to_string).collect();
            let help = near::did_you_mean(name, &names, || format!("formats are: {}", names.join(", ")));
            format!("{error}, {help}")
        })?;
        Ok(Self { format, file: file.map(str::to_owned) })
    }
}

/// The least severity that makes a run fail; `None` is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailOn(pub(super) Option<Severity>);

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
