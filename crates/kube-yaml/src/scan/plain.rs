//! Unquoted scalars.

use super::{Scanner, TokenKind};
use crate::event::{Style, SyntaxError};

impl Scanner<'_> {
    pub(super) fn fetch_plain(&mut self) -> Result<(), SyntaxError> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let (kind, end) = self.read_plain()?;
        self.push_scalar(kind, start, end);
        Ok(())
    }

    /// Reads unquoted text; returns its token and its end.
    #[inline]
    fn read_plain(&mut self) -> Result<(TokenKind, usize), SyntaxError> {
        let start = self.cursor.mark;
        let indent = self.indent + 1;
        let decoded_from = self.decoded.len();
        let mut end = start.pos;
        let mut is_folded = false;
        let mut is_broken = false;
        while !self.cursor.is_document_indicator() && self.cursor.at(0) != b'#' {
            let run = self.cursor.mark.pos;
            let stop = self.plain_end(run);
            self.cursor.advance(stop);
            let text_end = self.cursor.before_blanks(run, stop);
            if text_end > run {
                if run > start.pos {
                    if !is_folded {
                        is_folded = true;
                        self.push_written(start.pos, end);
                    }
                    self.fold();
                    self.push_written(run, text_end);
                }
                end = text_end;
                is_broken = false;
            }
            if !self.cursor.is_break(0) {
                break;
            }
            is_broken = true;
            self.read_breaks(Some(indent))?;
            if self.flow_level == 0 && self.cursor.mark.column < indent {
                break;
            }
        }
        let decoded = if is_folded {
            self.decoded_since(decoded_from)
        } else {
            None
        };
        // The scalar has consumed line breaks after it, so a new line begins.
        self.simple_key_allowed |= is_broken;
        let kind = TokenKind::Scalar {
            style: Style::Plain,
            decoded,
        };
        Ok((kind, end))
    }

    fn push_written(&mut self, start: usize, end: usize) {
        self.decoded
            .push_str(self.cursor.text.get(start..end).unwrap_or_default());
    }

    /// Returns the end of unquoted text from `start` on, on its line, including blanks after it.
    #[inline]
    fn plain_end(&self, start: usize) -> usize {
        let text = self.cursor.text.as_bytes();
        let mut pos = start;
        loop {
            pos = if self.flow_level == 0 {
                self.cursor.find(pos, [b':', b'#'])
            } else {
                self.cursor.find_by(pos, |byte| b":#,?[]{}".contains(&byte))
            };
            match text.get(pos) {
                Some(b':') if !self.cursor.is_blank_or_end_at(pos + 1) => {}
                Some(b'#') if pos == start || !matches!(text[pos - 1], b' ' | b'\t') => {}
                _ => return pos,
            }
            pos += 1;
        }
    }
}
