//! Scalars that may be keys: plain, single-quoted and double-quoted.

use super::{SIMPLE_KEY_LENGTH, Scanner, Token, TokenKind};
use crate::yaml::document::Quirk;
use crate::yaml::escape;
use crate::yaml::event::{Style, SyntaxError};

/// Which line breaks a scalar has.
#[derive(Clone, Copy, Default)]
struct Gap {
    /// Whether there are any, an escaped one included.
    broken: bool,
    /// Whether one of them was NEL, LS or PS.
    unusual: bool,
}

impl Scanner<'_> {
    pub(super) fn fetch_quoted(&mut self, single: bool) -> Result<(), SyntaxError> {
        let may_be_key = self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let inner = start.pos + 1;
        let style = if single { Style::Single } else { Style::Double };
        self.cursor.advance(inner);
        let stop = self.find_in_quotes(single);
        // Most are one run.
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
        self.push_scalar(TokenKind::Scalar { style, decoded }, start, end, may_be_key)
    }

    /// The next closing quote, backslash in double quotes, or line break.
    fn find_in_quotes(&self, single: bool) -> usize {
        let other = if single { b'\'' } else { b'\\' };
        self.cursor
            .find(self.cursor.mark.pos, [quote(single), other])
    }

    /// Decodes the text of quotes that were opened at `start`, with the closing one.
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

    /// Reads line breaks and the blanks after them. The first break may be escaped: then it is no space, and none of the others is
    /// folded.
    fn read_quoted_breaks(&mut self, is_escaped: bool, start: usize) -> Result<(), SyntaxError> {
        if is_escaped {
            self.cursor.skip_line();
            if self.cursor.at(0) == b'"' {
                return Ok(());
            }
        }
        let mut gap = self.read_breaks(None)?;
        gap.broken |= is_escaped;
        // YAML 1.2 requires a continued line right of the parent's indent; go-yaml accepts it anywhere.
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
        if self.cursor.is_end(0) {
            let at = self.offset_at(start);
            return Err(SyntaxError::new(
                at,
                "found unexpected end of stream in a quoted scalar",
            ));
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

    pub(super) fn fetch_plain(&mut self) -> Result<(), SyntaxError> {
        let may_be_key = self.save_simple_key()?;
        self.simple_key_allowed = false;
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
        self.push_scalar(kind, start, end, may_be_key)
    }

    /// Takes an unquoted key of the innermost block mapping together with its `:`, without the queue: the scalar token and the end
    /// of the `:`. `None` where anything else may come.
    #[inline]
    pub(in crate::yaml) fn take_plain_key(&mut self) -> Option<(Token, u32)> {
        if !self.tokens.is_empty() || self.flow_level > 0 {
            return None;
        }
        self.skip_to_token();
        let start = self.cursor.mark;
        let is_at_key = self.simple_key_allowed
            && start.column == self.indent
            && self.cursor.at(0).is_ascii_alphanumeric()
            && !self.simple_keys[0].possible;
        if !is_at_key {
            return None;
        }
        let colon = self.plain_end(start.pos);
        let is_short = colon - start.pos <= SIMPLE_KEY_LENGTH as usize;
        if self.cursor.text.as_bytes().get(colon) != Some(&b':') || !is_short {
            return None;
        }
        self.cursor.advance(colon + 1);
        self.simple_key_allowed = false;
        let token = Token {
            kind: TokenKind::Scalar {
                style: Style::Plain,
                decoded: None,
            },
            start: self.offset_at(start.pos),
            end: self.offset_at(self.cursor.before_blanks(start.pos, colon)),
        };
        Some((token, self.offset()))
    }

    fn push_written(&mut self, start: usize, end: usize) {
        self.decoded
            .push_str(self.cursor.text.get(start..end).unwrap_or_default());
    }

    /// Where unquoted text from `start` on ends on its line, blanks after it included.
    #[inline]
    fn plain_end(&self, start: usize) -> usize {
        let text = self.cursor.text.as_bytes();
        let byte = |pos: usize| text.get(pos).copied().unwrap_or(b'\n');
        let mut pos = start;
        loop {
            pos = if self.flow_level == 0 {
                self.cursor.find(pos, [b':', b'#'])
            } else {
                self.cursor.find_by(pos, |byte| b":#,?[]{}".contains(&byte))
            };
            match byte(pos) {
                b':' if !self.cursor.is_blank_or_end_at(pos + 1) => {}
                b'#' if pos == start || !matches!(byte(pos - 1), b' ' | b'\t') => {}
                _ => return pos,
            }
            pos += 1;
        }
    }

    /// Reads line breaks into `breaks`, and skips the blanks after them. In a plain scalar, tabs left of `tab_limit` are an error.
    #[inline]
    fn read_breaks(&mut self, tab_limit: Option<i32>) -> Result<Gap, SyntaxError> {
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

    /// Writes `breaks` as folding requires: one LF becomes a space, of several the first is dropped, LS and PS are kept.
    fn fold(&mut self) {
        self.decoded.push_str(match self.breaks.strip_prefix('\n') {
            Some("") => " ",
            Some(more) => more,
            None => &self.breaks,
        });
    }
}

fn quote(single: bool) -> u8 {
    if single { b'\'' } else { b'"' }
}
