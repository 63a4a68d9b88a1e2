//! The lines of a text that will be edited.

use super::super::document::Notation;
use crate::Span;

/// The text of a file, accessed by lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextLines<'t> {
    pub(super) text: &'t str,
    pub(super) notation: Notation,
}

impl<'t> TextLines<'t> {
    pub(super) fn slice(self, start: u32, end: u32) -> &'t str {
        self.text
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    fn text_from(self, at: u32) -> &'t str {
        self.text.get(at as usize..).unwrap_or_default()
    }

    /// Returns the start of the line of an offset.
    pub(super) fn start(self, at: u32) -> u32 {
        self.slice(0, at)
            .rfind('\n')
            .map_or(0, |line_break| line_break as u32 + 1)
    }

    /// Returns the end of the line of an offset, without its line break.
    pub(super) fn end(self, at: u32) -> u32 {
        let line = self.text_from(at).split('\n').next().unwrap_or_default();
        at + line.strip_suffix('\r').unwrap_or(line).len() as u32
    }

    /// Returns the start of the line after that of an offset, or the end of the text.
    pub(super) fn next(self, at: u32) -> u32 {
        let line = self.text_from(at).split_inclusive('\n').next();
        at + line.map_or(0, str::len) as u32
    }

    /// Returns the text before an offset on its line.
    pub(super) fn before(self, at: u32) -> &'t str {
        self.slice(self.start(at), at)
    }

    /// Whether nothing but spaces is before an offset on its line.
    pub(super) fn is_first(self, at: u32) -> bool {
        self.before(at).bytes().all(|byte| byte == b' ')
    }

    /// Whether nothing but a comment is after an offset on its line.
    pub(super) fn is_last(self, at: u32) -> bool {
        let rest = self.slice(at, self.end(at)).trim_start_matches([' ', '\t']);
        rest.is_empty() || rest.starts_with('#') && self.notation == Notation::Yaml
    }

    /// Returns the column of an offset as blanks, if only the dashes of list items are before it on its line.
    pub(super) fn indentation(self, at: u32) -> Option<String> {
        let before = self.before(at);
        let is_indentation = before.bytes().all(|byte| matches!(byte, b' ' | b'-'));
        is_indentation.then(|| " ".repeat(before.len()))
    }

    /// Returns the line break after an offset; at the end of the text, the one before it.
    pub(super) fn line_break(self, at: u32) -> &'static str {
        let end = self.end(at) as usize;
        let after = &self.text[end.min(self.text.len())..];
        let is_dos = if !after.is_empty() {
            after.starts_with("\r\n")
        } else {
            self.text[..end]
                .rfind('\n')
                .is_some_and(|at| self.text[..at].ends_with('\r'))
        };
        if is_dos { "\r\n" } else { "\n" }
    }

    /// Returns the end of the `:` after a key.
    pub(super) fn colon_after(self, key: Span) -> Option<u32> {
        let rest = self.text_from(key.end);
        let after = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
        Some(key.end + (rest.len() - after.len()) as u32)
    }

    /// Returns the offset of the `-` before an item of a block list, if only spaces are between.
    pub(super) fn dash_before(self, item: u32) -> Option<u32> {
        let before = self.text.get(..item as usize)?.trim_end_matches(' ');
        before.ends_with('-').then(|| before.len() as u32 - 1)
    }
}
