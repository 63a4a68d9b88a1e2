//! Colours that can be read on dark and on light backgrounds: no plain yellow, and what matters is bold.

use annotate_snippets::Renderer;
use annotate_snippets::renderer::{AnsiColor, DecorStyle, Effects, Style};

use super::HumanOptions;

const BOLD: Style = Style::new().effects(Effects::BOLD);

/// Draws findings.
pub(super) fn renderer(options: &HumanOptions) -> Renderer {
    let renderer = if options.color {
        Renderer::styled()
            .error(color(AnsiColor::Red))
            .warning(color(AnsiColor::Magenta))
            .info(color(AnsiColor::Blue))
            .note(BOLD)
            .help(color(AnsiColor::Cyan))
            .context(color(AnsiColor::Blue))
            .line_num(AnsiColor::Blue.on_default())
            .emphasis(BOLD)
    } else {
        Renderer::plain()
    };
    renderer
        .decor_style(DecorStyle::Ascii)
        .term_width(options.width)
        .hyperlink(options.links)
}

const fn color(color: AnsiColor) -> Style {
    color.on_default().effects(Effects::BOLD)
}
