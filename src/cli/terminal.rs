//! Properties of the terminal, and all writes to standard output and error except by clap, progress bars and the
//! language server.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::LazyLock;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, ThemeCharacters,
    ThemeStyles,
};

use super::error::Error;
use super::global_args::Color;
use crate::text::runner::{Syntax, without_commands};
use crate::text::{RewrittenLines, plain};

/// Whether to colour the output to `stream`. `NO_COLOR`, `FORCE_COLOR` and `CLICOLOR_FORCE` count unless empty or `0`.
pub(super) fn use_color(choice: Color, stream: &impl IsTerminal) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if is_set("NO_COLOR") => false,
        Color::Auto if is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE") => true,
        Color::Auto => {
            stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether the locale supports only ASCII: as in POSIX, the first of these variables that is set decides. If none is
/// set, the terminal is assumed to support Unicode.
pub(super) fn is_ascii() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_some_and(|locale| matches!(locale.as_str(), "C" | "POSIX"))
}

/// Returns the width of the terminal in columns, from 40 to 160.
pub(super) fn width() -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    columns
        .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
        .unwrap_or(100)
        .clamp(40, 160)
}

/// The maximum number of threads: starting more would take longer than they save.
const MAX_THREADS: usize = 1024;

/// Starts the threads of the global pool.
pub(super) fn set_threads(threads: Option<usize>) -> Result<(), Error> {
    match threads {
        Some(0) => return Err(refused(0, "at least one thread is needed")),
        Some(threads) if threads > MAX_THREADS => {
            return Err(refused(threads, "at most 1024 threads are started"));
        }
        _ => {}
    }
    // If no thread can be started, the current one does all the work. rayon tries to build its pool
    // only once, so test this before.
    let count = match threads {
        None if !can_start_threads() => 1,
        threads => threads.unwrap_or_default(),
    };
    // The current thread is part of the pool, so a pool of one starts no thread.
    let built = rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .use_current_thread()
        .build_global();
    built.map_err(|error| refused(threads.unwrap_or(1), error))
}

fn refused(threads: usize, reason: impl ToString) -> Error {
    Error::Threads {
        threads,
        reason: reason.to_string(),
    }
}

fn can_start_threads() -> bool {
    std::thread::Builder::new()
        .spawn(|| ())
        .is_ok_and(|thread| thread.join().is_ok())
}

/// The variables that identify a CI runner which interprets the output: GitHub (and Gitea), Azure Pipelines, TeamCity.
const RUNNERS: [&str; 3] = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"];

/// Returns `text` without workflow commands, if a CI runner reads it.
fn inert(text: &str, syntax: Syntax) -> Cow<'_, str> {
    static WATCHED: LazyLock<bool> =
        LazyLock::new(|| RUNNERS.iter().any(|name| std::env::var_os(name).is_some()));
    if *WATCHED {
        without_commands(text, syntax)
    } else {
        Cow::Borrowed(text)
    }
}

pub(super) fn print(text: &str) -> Result<(), Error> {
    print_as(text, Syntax::Text)
}

/// Writes a complete document to standard output.
pub(super) fn print_as(text: &str, syntax: Syntax) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    printed(
        out.write_all(inert(text, syntax).as_bytes())
            .and_then(|()| out.flush()),
    )
}

/// Writes a document to standard output line by line, because it may be large.
pub(super) fn print_by(
    syntax: Syntax,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let out = BufWriter::new(std::io::stdout().lock());
    let mut out = RewrittenLines::new(out, |line| inert(line, syntax));
    printed(write(&mut out).and_then(|()| out.flush()))
}

/// Ignores a closed pipe: `ownerlint list | head` is not a failure, and the run ends as usual.
fn printed(written: io::Result<()>) -> Result<(), Error> {
    match written {
        Err(reason) if reason.kind() != ErrorKind::BrokenPipe => Err(Error::Write {
            place: "standard output".to_owned(),
            reason,
        }),
        _ => Ok(()),
    }
}

/// Writes a line to standard error; errors are ignored.
pub(super) fn say(line: &str) {
    tell(&format!("{}\n", plain::visible(line)));
}

/// Writes lines to standard error; errors are ignored.
pub(super) fn tell(lines: &str) {
    let _ = std::io::stderr()
        .lock()
        .write_all(inert(lines, Syntax::Text).as_bytes());
}

pub(super) fn print_error(error: &Error, color: Color) {
    let theme = match (use_color(color, &std::io::stderr()), is_ascii()) {
        (true, true) => GraphicalTheme::ascii(),
        (true, false) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme {
            characters: ThemeCharacters::ascii(),
            styles: ThemeStyles::none(),
        },
        (false, false) => GraphicalTheme::unicode_nocolor(),
    };
    // The line begins with `error:`, so the mark is redundant.
    let theme = GraphicalTheme {
        characters: ThemeCharacters {
            error: "×".to_owned(),
            ..theme.characters
        },
        ..theme
    };
    // Keys and paths are not broken, so that they can be copied.
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(width())
        .with_links(false)
        .with_break_words(false)
        .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
        .with_word_separator(textwrap::WordSeparator::AsciiSpace);
    let mut text = String::new();
    match handler.render_report(&mut text, &HarmlessError::new(error)) {
        Ok(()) => tell(&format!(
            "error: {}\n",
            text.trim_start_matches([' ', '×', '\n']).trim_end()
        )),
        Err(_) => say(&format!("error: {error}")),
    }
}

/// An error in which control characters are visible: it may quote file names, keys and other untrusted texts.
#[derive(Debug, thiserror::Error)]
#[error("{}", plain::visible(&error.to_string()))]
struct HarmlessError<'a> {
    error: &'a dyn Diagnostic,
    /// The cause of `error`, if it is a diagnostic.
    explained: Option<Box<HarmlessError<'a>>>,
    /// The cause of `error`, if it is not a diagnostic.
    #[source]
    cause: Option<HarmlessCause>,
}

impl<'a> HarmlessError<'a> {
    fn new(error: &'a dyn Diagnostic) -> Self {
        let explained = error
            .diagnostic_source()
            .map(|cause| Box::new(Self::new(cause)));
        let cause = error
            .source()
            .filter(|_| explained.is_none())
            .map(HarmlessCause::new);
        Self {
            error,
            explained,
            cause,
        }
    }
}

/// The text of an error, and its cause.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct HarmlessCause {
    message: String,
    #[source]
    cause: Option<Box<HarmlessCause>>,
}

impl HarmlessCause {
    fn new(error: &(dyn std::error::Error + 'static)) -> Self {
        let cause = error.source().map(|cause| Box::new(Self::new(cause)));
        Self {
            message: plain::visible(&error.to_string()).into_owned(),
            cause,
        }
    }
}

impl Diagnostic for HarmlessError<'_> {
    fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
        self.explained.as_deref().map(|cause| cause as _)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.error.help()?.to_string();
        Some(Box::new(
            help.lines()
                .map(plain::visible)
                .collect::<Vec<_>>()
                .join("\n"),
        ))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.error.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.error.labels()?.map(|mut label| {
            label.set_label(
                label
                    .label()
                    .map(|words| plain::visible(words).into_owned()),
            );
            label
        })))
    }
}
