//! Scalars in single and double quotes.

use super::{Scanner, TokenKind};
use crate::document::Quirk;
use crate::escape;
use crate::event::{Style, SyntaxError};

impl Scanner<'_> {
    pub(super) fn fetch_quoted(&mut self, single: bool) -> Result<(), SyntaxError> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let inner = start.pos + 1;
        let style = if single { Style::Single } else { Style::Double };
        self.cursor.advance(inner);
        let stop = self.find_in_quotes(single);
        // Most scalars are one run.
        let decoded = if self.cursor.text.as_bytes().get(stop) == Some(&quote(single))
            && !(single && self.cursor.text.as_bytes().get(stop + 1) == Some(&b'\''))
        {
            self.cursor.advance(stop + 1);
            None
        } else {
            let decoded_from = self.decoded.len();
            self.read_quoted(single, start.pos)?;
            self.decoded_since(decoded_from)
        };
        let end = self.cursor.mark.pos;
        self.push_scalar(TokenKind::Scalar { style, decoded }, start, end);
        Ok(())
    }

    /// Returns the offset of the next closing quote, backslash in double quotes, or line break.
    fn find_in_quotes(&self, single: bool) -> usize {
        let other = if single { b'\'' } else { b'\\' };
        self.cursor
            .find(self.cursor.mark.pos, [quote(single), other])
    }

    /// Decodes the text after the quote at `start`, and skips the closing one.
    fn read_quoted(&mut self, single: bool, start: usize) -> Result<(), SyntaxError> {
        loop {
            let run = self.cursor.mark.pos;
            let stop = self.find_in_quotes(single);
            self.cursor.advance(stop);
            let byte = self.cursor.at(0);
            let mut is_escaped = false;
            if byte == quote(single) {
                self.decoded.push_str(self.cursor.since(run));
                self.cursor.advance(stop + 1);
                if !(single && self.cursor.at(0) == b'\'') {
                    return Ok(());
                }
                self.cursor.advance(stop + 2);
                self.decoded.push('\'');
                continue;
            }
            if byte == b'\\' && !single {
                self.decoded.push_str(self.cursor.since(run));
                if !self.cursor.is_break(1) {
                    self.read_escape()?;
                    continue;
                }
                self.cursor.advance(stop + 1);
                is_escaped = true;
            } else {
                // Blanks at the end of a line are not part of the text, unless they are escaped.
                let end = self.cursor.before_blanks(run, stop);
                self.decoded
                    .push_str(self.cursor.text.get(run..end).unwrap_or_default());
            }
            self.read_quoted_breaks(is_escaped, start)?;
        }
    }

    /// Reads line breaks and the blanks after them. If the first break is escaped, it does not become a space, and the
    /// others are not folded.
    fn read_quoted_breaks(&mut self, is_escaped: bool, start: usize) -> Result<(), SyntaxError> {
        if is_escaped {
            self.cursor.skip_line();
            if self.cursor.at(0) == b'"' {
                return Ok(());
            }
        }
        let mut gap = self.read_breaks(None)?;
        gap.broken |= is_escaped;
        // YAML 1.2 requires a continuation line to be right of the parent's indent; go-yaml does not.
        if self.flow_level == 0
            && self.cursor.mark.column <= self.indent
            && gap.broken
            && !gap.unusual
        {
            self.note(Quirk::LowContinuation, start);
        }
        if is_escaped {
            self.decoded.push_str(&self.breaks);
        } else {
            self.fold();
        }
        if self.cursor.is_document_indicator() {
            return self.fail("found unexpected document indicator");
        }
        if self.cursor.is_end() {
            let problem = "found unexpected end of stream in a quoted scalar";
            return Err(SyntaxError::new(self.offset_at(start), problem));
        }
        Ok(())
    }

    fn read_escape(&mut self) -> Result<(), SyntaxError> {
        let start = self.cursor.mark.pos + 1;
        let rest = self.cursor.text.as_bytes().get(start..).unwrap_or_default();
        match escape::decode(rest) {
            Ok((character, width)) => {
                self.decoded.push(character);
                self.cursor.advance(start + width);
                Ok(())
            }
            Err(problem) => self.fail(problem),
        }
    }
}

fn quote(single: bool) -> u8 {
    if single { b'\'' } else { b'"' }
}
