//! The pairs of a key and a value on a line.

use std::ops::Range;

/// A key and its value: `key: value` in YAML and JSON, `key=value` in arguments and settings files.
pub(super) struct Pair<'t> {
    pub(super) key: &'t str,
    pub(super) key_start: usize,
    pub(super) value_start: usize,
    is_assigned: bool,
    pub(super) in_flow: bool,
}

/// The pairs of a line.
pub(super) struct Pairs<'t> {
    text: &'t str,
    /// The end of the text that was searched for separators.
    pub(super) at: usize,
    /// The number of open braces up to an offset, and that offset.
    open: (isize, usize),
}

impl<'t> Pairs<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            open: (0, 0),
        }
    }

    /// Returns the pair with the separator at `at`; `None` if it separates nothing.
    fn pair_at(&mut self, at: usize) -> Option<Pair<'t>> {
        let (text, is_assigned) = (self.text, self.text[at..].starts_with('='));
        let before = text[..at].trim_end_matches([' ', '\t']);
        let key_end = before.trim_end_matches(['"', '\'', '\\']).len();
        let key_start = text[..key_end]
            .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "_.-/[]".contains(c))
            .len();
        let after = &text[at + 1..];
        let separates = if is_assigned {
            !after.starts_with('=') && !before.ends_with(['!', '<', '>', '='])
        } else {
            key_end < before.len() || after.is_empty() || after.starts_with([' ', '\t'])
        };
        if key_start == key_end || !separates {
            return None;
        }
        let (mut depth, counted) = self.open;
        for byte in &text.as_bytes()[counted.min(key_start)..key_start] {
            depth += isize::from(*byte == b'{') - isize::from(*byte == b'}');
        }
        self.open = (depth, key_start.max(counted));
        let value_start = at + 1 + (after.len() - after.trim_start_matches([' ', '\t']).len());
        Some(Pair {
            key: &text[key_start..key_end],
            key_start,
            value_start,
            is_assigned,
            in_flow: depth > 0,
        })
    }
}

impl<'t> Iterator for Pairs<'t> {
    type Item = Pair<'t>;

    fn next(&mut self) -> Option<Pair<'t>> {
        loop {
            let at = self.at + self.text.get(self.at..)?.find([':', '='])?;
            self.at = at + 1;
            if let Some(pair) = self.pair_at(at) {
                return Some(pair);
            }
        }
    }
}

impl Pair<'_> {
    /// Returns the place of the value in `text`, the line.
    pub(super) fn value(&self, text: &str) -> Range<usize> {
        self.value_start
            ..self.value_start
                + value_length(&text[self.value_start..], self.is_assigned, self.in_flow)
    }
}

/// Returns the length of the value at the start of a text.
fn value_length(text: &str, is_assigned: bool, in_flow: bool) -> usize {
    let escape = text.len() - text.trim_start_matches('\\').len();
    if let Some(quote @ ('"' | '\'')) = text[escape..].chars().next() {
        let opened = escape + 1;
        let (mut doubled, bytes) = (false, text.as_bytes());
        // In JSON inside a string, the closing quote has as many backslashes as the opening one.
        let end = text[opened..]
            .match_indices(quote)
            .map(|(at, _)| opened + at)
            .find(|&at| {
                let is_second = std::mem::take(&mut doubled);
                doubled = !is_second && quote == '\'' && bytes.get(at + 1) == Some(&b'\'');
                let escapes = bytes[opened..at]
                    .iter()
                    .rev()
                    .take(escape + 1)
                    .take_while(|byte| **byte == b'\\')
                    .count();
                !is_second && !doubled && escapes == escape
            });
        return end.map_or(text.len(), |at| at + 1);
    }
    let ends: &[char] = match (is_assigned, in_flow) {
        (true, _) => &[' ', '\t', '"', '\'', ',', ';', '&', '}', ']', '\\'],
        (false, true) => &[',', '}'],
        (false, false) => &['\u{0}'],
    };
    text.find(ends).unwrap_or_else(|| text.trim_end().len())
}
