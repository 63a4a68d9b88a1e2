//! A plan on a terminal, line by line.

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
            // Magenta, since yellow is unreadable on white.
            Emphasis::Warn => "35",
        };
        if self.options.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Formats citations for the end of a line; empty unless requested.
    pub(super) fn cited(&self, citations: &[&'static str]) -> String {
        if self.options.citations {
            words::cited(citations)
        } else {
            String::new()
        }
    }

    /// Returns the mark of an object that a controller would have created.
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

    /// Writes wrapped prose.
    pub(super) fn prose(&mut self, indent: usize, text: &str) {
        let indent = " ".repeat(indent);
        let filled = wrap::fill(&plain::one_line(text), self.options.width, &indent, &indent);
        self.line(&filled);
    }

    /// Writes a command below its reason, never wrapped, so that it can be copied.
    pub(super) fn indented_command(&mut self, command: &str) {
        let command = self.styled(&plain::visible(command), Emphasis::Strong);
        self.line(&format!("      {command}"));
    }

    /// Writes a list item that counts the items beyond the first `shown` of `all`, if there are any.
    pub(super) fn more(&mut self, all: usize, shown: usize, noun: &str) {
        if all > shown {
            self.item(&format!("and {}", plain::count(all - shown, noun)));
        }
    }

    /// Writes a numbered command, never wrapped, so that it can be copied.
    pub(super) fn command(&mut self, number: usize, command: &str) {
        let command = self.styled(&plain::visible(command), Emphasis::Strong);
        self.line(&format!("{number:>3}. {command}"));
    }

    /// Writes a list item: the first line with a dash, the rest below it.
    pub(super) fn item(&mut self, text: &str) {
        let filled = wrap::fill(&plain::one_line(text), self.options.width, "  - ", "    ");
        self.line(&filled);
    }
}
