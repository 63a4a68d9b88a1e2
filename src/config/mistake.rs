//! A mistake in a file that a user writes for ownerlint: the configuration, a list of steps or an operator file.

use miette::{Diagnostic, LabeledSpan, NamedSource};
use thiserror::Error;

use crate::inventory::STDIN;
use crate::text::{SourceFile, Span, plain};

/// A mistake in a file written for ownerlint, shown at its place.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct Mistake {
    message: String,
    help: Option<String>,
    label: String,
    place: Option<Box<(SourceFile, Span)>>,
    source_code: Option<Box<NamedSource<String>>>,
}

impl Mistake {
    /// Creates a mistake at a place of the file. `message` is printed after the file's name.
    pub(crate) fn at(file: &SourceFile, span: Span, message: impl Into<String>) -> Self {
        let path = shown(file.path());
        let text = plain::visible_in_place(file.text());
        let source_code = NamedSource::new(plain::visible(path), text).with_language("yaml");
        Self {
            message: format!("{path} {}", message.into()),
            help: None,
            label: "here".to_owned(),
            place: Some(Box::new((file.clone(), span))),
            source_code: Some(Box::new(source_code)),
        }
    }

    /// Creates a mistake about a configuration that cannot be read at all.
    #[doc(hidden)]
    pub fn unreadable(path: &str, reason: impl std::fmt::Display) -> Self {
        Self::without_place(format!("cannot read the configuration `{path}`: {reason}"))
    }

    /// Creates a mistake about two configurations in one folder.
    pub(crate) fn ambiguous(first: &str, second: &str) -> Self {
        let mistake =
            Self::without_place(format!("both `{first}` and `{second}` are configurations"));
        mistake.help("keep one of them, or choose with `--config`")
    }

    fn without_place(message: String) -> Self {
        Self {
            message,
            help: None,
            label: String::new(),
            place: None,
            source_code: None,
        }
    }

    /// Returns the file and the place in it; `None` if the file cannot be read or two files are ambiguous.
    #[doc(hidden)]
    pub fn place(&self) -> Option<(&SourceFile, Span)> {
        self.place.as_deref().map(|(file, span)| (file, *span))
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }
}

fn shown(path: &str) -> &str {
    if path == STDIN {
        "standard input"
    } else {
        path
    }
}

impl Diagnostic for Mistake {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(self.source_code.as_deref()?)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (_, span) = self.place.as_deref()?;
        let label = LabeledSpan::new_with_span(Some(self.label.clone()), span.range());
        Some(Box::new(std::iter::once(label)))
    }
}
