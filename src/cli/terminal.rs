//! What the terminal can do, and the only writes to it.

use std::io::{IsTerminal, Write};

use miette::{GraphicalReportHandler, GraphicalTheme, ThemeCharacters, ThemeStyles};

use super::error::Error;
use super::global_args::Color;

/// Whether to colour what goes to `stream`. `NO_COLOR`, `FORCE_COLOR` and `CLICOLOR_FORCE` count as they do elsewhere.
pub(super) fn use_color(choice: Color, stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if set("FORCE_COLOR") || set("CLICOLOR_FORCE") => true,
        Color::Auto => stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// Whether the locale is one that shows ASCII only: the first of these variables that is set decides, as in POSIX. Where none
/// is, the terminal counts as one of today.
pub(super) fn is_ascii() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| matches!(locale.as_str(), "C" | "POSIX"))
}

/// The width of the terminal in columns, within reason.
pub(super) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(terminal).unwrap_or(100).clamp(40, 160)
}

pub(super) fn set_threads(threads: Option<usize>) -> Result<(), Error> {
    let Some(threads) = threads else { return Ok(()) };
    if threads == 0 {
        return Err(Error::Threads { threads, reason: "at least one thread is needed".to_owned() });
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })
}

/// Writes a whole document to standard output.
pub(super) fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|reason| Error::Write { place: "standard output".to_owned(), reason })
}

/// Writes a line to standard error; nobody is left to tell when that fails.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes lines to standard error.
pub(super) fn tell(lines: &str) {
    let _ = std::io::stderr().lock().write_all(lines.as_bytes());
}

/// Shows a failure with its help.
pub(super) fn print_error(error: &Error, color: Color) {
    let theme = match (use_color(color, &std::io::stderr()), is_ascii()) {
        (true, true) => GraphicalTheme::ascii(),
        (true, false) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme { characters: ThemeCharacters::ascii(), styles: ThemeStyles::none() },
        (false, false) => GraphicalTheme::unicode_nocolor(),
    };
    // The line begins with `error:`; a mark says no more.
    let theme = GraphicalTheme { characters: ThemeCharacters { error: "×".to_owned(), ..theme.characters }, ..theme };
    // What a reader copies out of an error, a key or a path, stays whole.
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(width())
        .with_links(false)
        .with_break_words(false)
        .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
        .with_word_separator(textwrap::WordSeparator::AsciiSpace);
    let mut text = String::new();
    match handler.render_report(&mut text, error) {
        Ok(()) => say(&format!("error: {}", text.trim_start_matches([' ', '×', '\n']).trim_end())),
        Err(_) => say(&format!("error: {error}")),
    }
}
