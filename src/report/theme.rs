//! Colours that can be read on dark and on light backgrounds: no plain yellow, and what matters is bold.

use miette::ThemeStyles;

use super::HumanOptions;

/// The styles of snippets and of the names beside facts.
pub(super) fn styles(options: &HumanOptions) -> ThemeStyles {
    if !options.color {
        return ThemeStyles::none();
    }
    let ansi = ThemeStyles::ansi();
    ThemeStyles {
        error: ansi.error.bold(),
        warning: ansi.warning.magenta().bold(),
        highlights: vec![
            ansi.error.bold(),
            ansi.warning.blue().bold(),
            ansi.warning.green().bold(),
        ],
        ..ansi
    }
}

/// A headline.
pub(super) fn bold(text: &str, options: &HumanOptions) -> String {
    if options.color {
        format!("\u{1b}[1m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}
