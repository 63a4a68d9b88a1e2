//! Block scalars: `|` and `>` with their indicators.

use super::{Scanner, TokenKind};
use crate::event::{Style, SyntaxError};

/// The handling of the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    /// `-`: all are removed.
    Strip,
    /// Neither `-` nor `+`: only that of the last line is kept.
    Clip,
    /// `+`: all are kept.
    Keep,
}

impl Scanner<'_> {
    pub(super) fn fetch_block_scalar(&mut self, literal: bool) -> Result<(), SyntaxError> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        let start = self.cursor.mark;
        self.cursor.skip();
        let (chomp, increment) = self.read_block_header()?;
        let header_end = self.end_block_header()?;
        let parent = self.indent.max(0);
        let mut indent = increment.map_or(0, |increment| parent + i32::from(increment));
        let decoded_from = self.decoded.len();
        let end = self
            .read_block_lines(literal, chomp, &mut indent)?
            .unwrap_or(header_end);
        let kind = TokenKind::Scalar {
            style: Style::Block,
            decoded: self.decoded_since(decoded_from),
        };
        self.push_scalar(kind, start, end);
        Ok(())
    }

    /// Reads the indicators after `|` or `>`, in either order, each at most once: the chomping, and the indentation
    /// relative to the parent, if it is written.
    fn read_block_header(&mut self) -> Result<(Chomp, Option<u8>), SyntaxError> {
        let mut chomp = None;
        let mut increment = None;
        loop {
            match self.cursor.at(0) {
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                b'0' if increment.is_none() => {
                    return self.fail("found an indentation indicator equal to 0");
                }
                digit @ b'1'..=b'9' if increment.is_none() => increment = Some(digit - b'0'),
                _ => return Ok((chomp.unwrap_or(Chomp::Clip), increment)),
            }
            self.cursor.skip();
        }
    }

    /// Skips blanks and a comment up to the end of the line. Returns the offset at which the header ends.
    fn end_block_header(&mut self) -> Result<usize, SyntaxError> {
        let end = self.cursor.mark.pos;
        self.cursor.skip_blanks();
        self.skip_comment();
        if !self.cursor.is_break_or_end() {
            return self.fail("did not find expected comment or line break");
        }
        if self.cursor.is_break(0) {
            self.skip_structural_break();
        }
        Ok(end)
    }

    /// Reads the lines into `decoded`; returns the end of the last written line, if there is one.
    fn read_block_lines(
        &mut self,
        literal: bool,
        chomp: Chomp,
        indent: &mut i32,
    ) -> Result<Option<usize>, SyntaxError> {
        // The line break of the previous line; those of empty lines after it are in `breaks`.
        let mut leading = "";
        let mut after_blank = false;
        let mut end = None;
        self.read_block_breaks(indent)?;
        while self.cursor.mark.column == *indent && !self.cursor.is_end() {
            let blank = self.cursor.is_blank();
            if !literal && !after_blank && !blank && leading == "\n" {
                if self.breaks.is_empty() {
                    self.decoded.push(' ');
                }
            } else {
                self.decoded.push_str(leading);
            }
            self.decoded.push_str(&self.breaks);
            after_blank = blank;
            let start = self.cursor.mark.pos;
            let line_end = self.cursor.line_end();
            self.cursor.advance(line_end);
            self.decoded.push_str(self.cursor.since(start));
            end = Some(line_end);
            leading = if self.cursor.is_break(0) {
                self.cursor.read_line()
            } else {
                ""
            };
            self.read_block_breaks(indent)?;
        }
        if chomp != Chomp::Strip {
            self.decoded.push_str(leading);
        }
        if chomp == Chomp::Keep {
            self.decoded.push_str(&self.breaks);
        }
        Ok(end)
    }

    /// Reads indentation, and empty lines into `breaks`. Determines the indentation if it is not known yet.
    fn read_block_breaks(&mut self, indent: &mut i32) -> Result<(), SyntaxError> {
        self.breaks.clear();
        let mut widest = 0;
        loop {
            while (*indent == 0 || self.cursor.mark.column < *indent) && self.cursor.at(0) == b' ' {
                self.cursor.skip();
            }
            widest = widest.max(self.cursor.mark.column);
            if (*indent == 0 || self.cursor.mark.column < *indent) && self.cursor.at(0) == b'\t' {
                return self.fail("found a tab character where an indentation space is expected");
            }
            if !self.cursor.is_break(0) {
                break;
            }
            let meaning = self.cursor.read_line();
            self.breaks.push_str(meaning);
        }
        if *indent == 0 {
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}
