//! Writes new values as text.

use super::change::NewValue;
use crate::scalar::{Scalar, resolve};

/// The usual indentation of a mapping's entries below its key.
pub(super) const STEP: usize = 2;

/// The style of new lists and mappings.
#[derive(Clone, Debug)]
pub(super) struct ValueWriter {
    /// Whether all strings are double-quoted, as in JSON or like their surroundings, or only if
    /// needed.
    pub(super) quotes_all: bool,
    pub(super) line_break: &'static str,
    /// The style of lists in block mappings.
    pub(super) lists: Lists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lists {
    /// `[a, b]`.
    Flow,
    /// One line for each item, with the dash this many columns to the right of the list's key.
    Block(usize),
}

impl ValueWriter {
    /// Formats an entry of a block mapping; its further lines begin with `indent`.
    pub(super) fn block_entry(&self, key: &str, value: &NewValue, indent: &str) -> String {
        let key = self.scalar(key, true);
        match (value, self.lists) {
            (NewValue::Map(entries), _) if !entries.is_empty() => {
                let inner = format!("{indent}{}", " ".repeat(STEP));
                format!(
                    "{key}:{}{inner}{}",
                    self.line_break,
                    self.block_map(entries, &inner)
                )
            }
            (NewValue::List(items), Lists::Block(right)) if !items.is_empty() => {
                let inner = format!("{indent}{}", " ".repeat(right));
                let items = items
                    .iter()
                    .map(|item| format!("{}{inner}{}", self.line_break, self.item(item, &inner)));
                format!("{key}:{}", items.collect::<String>())
            }
            _ => format!("{key}: {}", self.flow(value, true)),
        }
    }

    /// Formats an item of a block list whose dash is at `indent`.
    pub(super) fn item(&self, value: &NewValue, indent: &str) -> String {
        match value {
            NewValue::Map(entries) if !entries.is_empty() => {
                format!("- {}", self.block_map(entries, &format!("{indent}  ")))
            }
            _ => format!("- {}", self.flow(value, true)),
        }
    }

    fn block_map(&self, entries: &[(String, NewValue)], indent: &str) -> String {
        let lines: Vec<_> = entries
            .iter()
            .map(|(key, value)| self.block_entry(key, value, indent))
            .collect();
        lines.join(&format!("{}{indent}", self.line_break))
    }

    /// Formats an entry of a flow mapping.
    pub(super) fn flow_entry(&self, key: &str, value: &NewValue) -> String {
        format!("{}: {}", self.scalar(key, false), self.flow(value, false))
    }

    /// Formats a value on one line; `block` means that no flow collection surrounds it.
    pub(super) fn flow(&self, value: &NewValue, block: bool) -> String {
        match value {
            NewValue::Text(text) => self.scalar(text, block),
            NewValue::List(items) => {
                let items: Vec<_> = items.iter().map(|item| self.flow(item, false)).collect();
                format!("[{}]", items.join(", "))
            }
            NewValue::Map(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| self.flow_entry(key, value))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    fn scalar(&self, text: &str, block: bool) -> String {
        if !self.quotes_all && is_plain(text, block) {
            text.to_owned()
        } else {
            double_quoted(text)
        }
    }
}

/// Formats a text as `"…"`, which JSON and YAML read alike.
pub(super) fn double_quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Formats a text as `'…'`, if it can be written so.
pub(super) fn single_quoted(text: &str) -> Option<String> {
    text.chars()
        .all(|c| matches!(c, ' '..='~') || c.is_alphanumeric())
        .then(|| format!("'{}'", text.replace('\'', "''")))
}

/// Whether a text without quotes is read as itself; `block` allows commas.
pub(super) fn is_plain(text: &str, block: bool) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._/=-".contains(c) || c == ',' && block)
        && matches!(resolve(text, true, None), Ok(Scalar::Text(_)))
}
