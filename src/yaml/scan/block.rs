//! Block scalars: `|` and `>` with their indicators.

use super::{Scanner, TokenKind};
use crate::yaml::block_header::{BlockHeader, Chomp};
use crate::yaml::event::{Style, SyntaxError};

impl Scanner<'_> {
    pub(super) fn fetch_block_scalar(&mut self, literal: bool) -> Result<(), SyntaxError> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        let start = self.cursor.mark;
        self.cursor.skip();
        let BlockHeader { chomp, increment } = self.read_block_header()?;
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
        self.push_scalar(kind, start, end, false)
    }

    fn read_block_header(&mut self) -> Result<BlockHeader, SyntaxError> {
        let start = self.cursor.mark.pos;
        let rest = self.cursor.text.as_bytes().get(start..).unwrap_or_default();
        let (header, width) = BlockHeader::read(rest);
        self.cursor.advance(start + width);
        match self.cursor.at(0) {
            b'0' if header.increment.is_none() => {
                self.fail("found an indentation indicator equal to 0")
            }
            _ => Ok(header),
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
        while self.cursor.mark.column == *indent && !self.cursor.is_end(0) {
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
