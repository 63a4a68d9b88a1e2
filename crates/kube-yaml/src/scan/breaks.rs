//! Line breaks inside scalars, and how they fold.

use super::Scanner;
use crate::document::Quirk;
use crate::event::SyntaxError;

/// The line breaks that `read_breaks` found between two runs of a scalar.
#[derive(Clone, Copy, Default)]
pub(super) struct Gap {
    /// Whether there are any, including an escaped one.
    pub(super) broken: bool,
    /// Whether one of them was NEL, LS or PS.
    pub(super) unusual: bool,
}

impl Scanner<'_> {
    /// Reads consecutive line breaks into `self.breaks`, and skips the blanks around them. For a
    /// plain scalar, a tab left of column `tab_limit` after a break is an error.
    #[inline]
    pub(super) fn read_breaks(&mut self, tab_limit: Option<i32>) -> Result<Gap, SyntaxError> {
        self.breaks.clear();
        let mut gap = Gap::default();
        loop {
            self.cursor.skip_spaces();
            if self.cursor.is_break(0) {
                gap.broken = true;
                let start = self.cursor.mark.pos;
                if matches!(self.cursor.at(0), b'\n' | b'\r') {
                    self.cursor.skip_line();
                    self.breaks.push('\n');
                    continue;
                }
                gap.unusual = true;
                let meaning = self.cursor.read_line();
                self.breaks.push_str(meaning);
                let quirk = if tab_limit.is_some() {
                    Quirk::UnicodeLineBreak
                } else {
                    Quirk::UnicodeLineBreakInQuotes
                };
                self.note(quirk, start);
            } else if self.cursor.at(0) == b'\t' {
                let is_low = tab_limit.is_some_and(|limit| self.cursor.mark.column < limit);
                if gap.broken && is_low {
                    return self.fail("found a tab character that violates indentation");
                }
                self.cursor.skip();
            } else {
                return Ok(gap);
            }
        }
    }

    /// Appends `breaks` to `decoded`, folded: a lone LF becomes a space; of several breaks, a
    /// leading LF is dropped; LS and PS are kept.
    pub(super) fn fold(&mut self) {
        self.decoded.push_str(match self.breaks.strip_prefix('\n') {
            Some("") => " ",
            Some(more) => more,
            None => &self.breaks,
        });
    }
}
