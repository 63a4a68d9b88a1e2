//! Scalars that may be keys: plain, single-quoted and double-quoted.

use super::{Scanner, TokenKind};
use crate::text::Span;
use crate::yaml::document::Quirk;
use crate::yaml::escape;
use crate::yaml::tape::{Style, SyntaxError};

/// Line breaks and blanks between two words of a scalar, until it is known how they fold.
#[derive(Default)]
struct Gap {
    /// Whether a line break (or an escaped one) was seen.
    broken: bool,
    /// Whether one of them was NEL, LS or PS.
    unusual: bool,
    first: String,
    more: String,
    blanks: String,
}

impl Gap {
    fn is_empty(&self) -> bool {
        !self.broken && self.blanks.is_empty()
    }

    /// Writes the gap as folding requires: one LF becomes a space, further breaks stay, LS and PS are kept.
    fn flush(&mut self, into: &mut String) {
        if !self.broken {
            into.push_str(&self.blanks);
        } else if self.first.starts_with('\n') {
            into.push_str(if self.more.is_empty() {
                " "
            } else {
                &self.more
            });
        } else {
            into.push_str(&self.first);
            into.push_str(&self.more);
        }
        *self = Self::default();
    }
}

impl Scanner<'_> {
    pub(super) fn fetch_quoted(&mut self, single: bool) -> Result<(), SyntaxError> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let decoded_from = self.decoded.len();
        self.cursor.skip();
        loop {
            if self.cursor.is_document_indicator() {
                return self.fail("found unexpected document indicator");
            }
            if self.cursor.is_end(0) {
                let at = self.offset_of(start);
                return Err(SyntaxError::new(
                    at,
                    "found unexpected end of stream in a quoted scalar",
                ));
            }
            let escaped_break = self.read_quoted_words(single)?;
            if self.cursor.at(0) == if single { b'\'' } else { b'"' } {
                break;
            }
            let mut gap = Gap {
                broken: escaped_break,
                ..Gap::default()
            };
            self.read_gap(&mut gap, None)?;
            self.note_low_continuation(&gap, start.pos);
            gap.flush(&mut self.decoded);
        }
        let inner = start.pos + 1..self.cursor.mark.pos;
        self.cursor.skip();
        let text = self.text_since(decoded_from, inner);
        let style = if single { Style::Single } else { Style::Double };
        self.push(TokenKind::Scalar { style, text }, start);
        Ok(())
    }

    /// YAML 1.2 requires a continued line right of the parent's indent; go-yaml accepts it anywhere.
    fn note_low_continuation(&mut self, gap: &Gap, start: usize) {
        let low = self.flow_level == 0 && self.cursor.mark.column <= self.indent;
        if gap.broken && low && !gap.unusual {
            let end = self.offset();
            self.quirks.push((
                Quirk::LowContinuation,
                Span::new(self.base + start as u32, end),
            ));
        }
    }

    /// Reads up to the next blank, break, closing quote or the end. True when it stopped after an escaped line break.
    fn read_quoted_words(&mut self, single: bool) -> Result<bool, SyntaxError> {
        while !self.cursor.is_blank_or_end(0) {
            match (self.cursor.at(0), single) {
                (b'\'', true) if self.cursor.at(1) == b'\'' => {
                    self.decoded.push('\'');
                    self.skip_many(2);
                }
                (b'\'', true) | (b'"', false) => return Ok(false),
                (b'\\', false) if self.cursor.is_break(1) => {
                    self.cursor.skip();
                    self.cursor.skip_line();
                    return Ok(true);
                }
                (b'\\', false) => self.read_escape()?,
                _ => self.cursor.read(&mut self.decoded),
            }
        }
        Ok(false)
    }

    fn read_escape(&mut self) -> Result<(), SyntaxError> {
        let rest = self
            .cursor
            .text
            .as_bytes()
            .get(self.cursor.mark.pos + 1..)
            .unwrap_or_default();
        match escape::decode(rest) {
            Ok((character, width)) => {
                self.decoded.push(character);
                self.skip_many(1 + width);
                Ok(())
            }
            Err(problem) => self.fail(problem),
        }
    }

    pub(super) fn fetch_plain(&mut self) -> Result<(), SyntaxError> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let decoded_from = self.decoded.len();
        let indent = self.indent + 1;
        let mut end = start;
        let mut gap = Gap::default();
        while !self.cursor.is_document_indicator() && self.cursor.at(0) != b'#' {
            while !self.cursor.is_blank_or_end(0) && !self.ends_plain() {
                if !gap.is_empty() {
                    gap.flush(&mut self.decoded);
                }
                self.cursor.read(&mut self.decoded);
                end = self.cursor.mark;
            }
            if !(self.cursor.is_blank(0) || self.cursor.is_break(0)) {
                break;
            }
            self.read_gap(&mut gap, Some(indent))?;
            if self.flow_level == 0 && self.cursor.mark.column < indent {
                break;
            }
        }
        let text = self.text_since(decoded_from, start.pos..end.pos);
        let token = super::Token {
            kind: TokenKind::Scalar {
                style: Style::Plain,
                text,
            },
            start: self.offset_of(start),
            end: self.offset_of(end),
        };
        self.tokens.push_back(token);
        // The scalar has consumed line breaks after it, so a new line begins.
        self.simple_key_allowed |= gap.broken;
        Ok(())
    }

    fn ends_plain(&self) -> bool {
        match self.cursor.at(0) {
            b':' => self.cursor.is_blank_or_end(1),
            b',' | b'?' | b'[' | b']' | b'{' | b'}' => self.flow_level > 0,
            _ => false,
        }
    }

    /// Reads blanks and line breaks. In a plain scalar, tabs left of `tab_limit` are an error.
    fn read_gap(&mut self, gap: &mut Gap, tab_limit: Option<i32>) -> Result<(), SyntaxError> {
        while self.cursor.is_blank(0) || self.cursor.is_break(0) {
            if self.cursor.is_break(0) {
                self.read_gap_break(gap, tab_limit.is_some());
                continue;
            }
            let low = tab_limit.is_some_and(|limit| self.cursor.mark.column < limit);
            if gap.broken && low && self.cursor.at(0) == b'\t' {
                return self.fail("found a tab character that violates indentation");
            }
            match gap.broken {
                true => self.cursor.skip(),
                false => self.cursor.read(&mut gap.blanks),
            }
        }
        Ok(())
    }

    fn read_gap_break(&mut self, gap: &mut Gap, plain: bool) {
        let start = self.offset();
        let unusual = matches!(self.cursor.at(0), 0xC2 | 0xE2);
        match gap.broken {
            true => self.cursor.read_line(&mut gap.more),
            false => {
                gap.blanks.clear();
                self.cursor.read_line(&mut gap.first);
            }
        }
        gap.broken = true;
        if unusual {
            gap.unusual = true;
            let quirk = if plain {
                Quirk::UnicodeLineBreak
            } else {
                Quirk::UnicodeLineBreakInQuotes
            };
            self.quirks.push((quirk, Span::new(start, self.offset())));
        }
    }
}
