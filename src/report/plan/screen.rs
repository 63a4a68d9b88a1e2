//! The page of a plan on a terminal, line by line.

use crate::report::{HumanOptions, wrap};
use crate::story::words;
use crate::text::plain;

pub(super) struct Screen<'o> {
    pub(super) out: String,
    pub(super) options: &'o HumanOptions,
}

#[derive(Clone, Copy)]
pub(super) enum Emphasis {
    Strong,
    Dim,
    Bad,
    Warn,
}

impl<'o> Screen<'o> {
    pub(super) fn new(options: &'o HumanOptions) -> Self {
        Self {
            out: String::new(),
            options,
        }
    }

    pub(super) fn styled(&self, text: &str, style: Emphasis) -> String {
        let code = match style {
            Emphasis::Strong => "1",
            Emphasis::Dim => "2",
            Emphasis::Bad => "31",
            // Magenta, since yellow on white cannot be read.
            Emphasis::Warn => "35",
        };
        if self.options.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Citations at the end of a line, if asked for.
    pub(super) fn cited(&self, citations: &[&'static str]) -> String {
        if self.options.citations {
            words::cited(citations)
        } else {
            String::new()
        }
    }

    /// The mark of an object that a controller would have created.
    pub(super) fn implied(&self, rule: &str) -> String {
        if self.options.citations {
            format!(" (implied, {rule})")
        } else {
            " (implied)".to_owned()
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub(super) fn section(&mut self, title: &str) {
        let title = self.styled(title, Emphasis::Strong);
        self.line(&format!("\n{title}"));
    }

    /// Prose, wrapped.
    pub(super) fn prose(&mut self, indent: usize, text: &str) {
        let indent = " ".repeat(indent);
        let filled = wrap::fill(&plain::one_line(text), self.options.width, &indent, &indent);
        self.line(&filled);
    }

    /// A numbered command, never wrapped: it is to be copied.
    pub(super) fn command(&mut self, number: usize, command: &str) {
        let command = self.styled(&plain::visible(command), Emphasis::Strong);
        self.line(&format!("{number:>3}. {command}"));
    }

    /// A list item: the first line with a dash, the rest below it.
    pub(super) fn item(&mut self, text: &str) {
        let filled = wrap::fill(&plain::one_line(text), self.options.width, "  - ", "    ");
        self.line(&filled);
    }
}
