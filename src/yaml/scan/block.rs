//! Block scalars: `|` and `>` with their indicators.

use super::{Mark, Scanner, Token, TokenKind};
use crate::yaml::block_header::{BlockHeader, Chomp};
use crate::yaml::tape::{Style, SyntaxError, TextRef};

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
        let text = TextRef {
            start: decoded_from as u32,
            end: self.decoded.len() as u32,
            decoded: true,
        };
        let kind = TokenKind::Scalar {
            style: Style::Block,
            text,
        };
        self.tokens.push_back(Token {
            kind,
            start: self.offset_of(start),
            end: self.offset_of(end),
        });
        Ok(())
    }

    fn read_block_header(&mut self) -> Result<BlockHeader, SyntaxError> {
        let rest = self
            .cursor
            .text
            .as_bytes()
            .get(self.cursor.mark.pos..)
            .unwrap_or_default();
        let (header, width) = BlockHeader::read(rest);
        self.skip_many(width);
        match self.cursor.at(0) {
            b'0' if header.increment.is_none() => {
                self.fail("found an indentation indicator equal to 0")
            }
            _ => Ok(header),
        }
    }

    /// Blanks and a comment up to the line's end. Returns the place where the header ends.
    fn end_block_header(&mut self) -> Result<Mark, SyntaxError> {
        let end = self.cursor.mark;
        while self.cursor.is_blank(0) {
            self.cursor.skip();
        }
        self.skip_comment();
        if !self.cursor.is_break_or_end(0) {
            return self.fail("did not find expected comment or line break");
        }
        if self.cursor.is_break(0) {
            self.skip_structural_break();
        }
        Ok(end)
    }

    /// Reads the lines into `decoded`; returns where the last written line ends, if there is one.
    fn read_block_lines(
        &mut self,
        literal: bool,
        chomp: Chomp,
        indent: &mut i32,
    ) -> Result<Option<Mark>, SyntaxError> {
        let (mut leading, mut trailing) = (String::new(), String::new());
        let mut after_blank = false;
        let mut end = None;
        self.read_block_breaks(indent, &mut trailing)?;
        while self.cursor.mark.column == *indent && !self.cursor.is_end(0) {
            let blank = self.cursor.is_blank(0);
            if !literal && !after_blank && !blank && leading.starts_with('\n') {
                if trailing.is_empty() {
                    self.decoded.push(' ');
                }
            } else {
                self.decoded.push_str(&leading);
            }
            leading.clear();
            self.decoded.push_str(&trailing);
            trailing.clear();
            after_blank = blank;
            while !self.cursor.is_break_or_end(0) {
                self.cursor.read(&mut self.decoded);
            }
            end = Some(self.cursor.mark);
            if self.cursor.is_break(0) {
                self.cursor.read_line(&mut leading);
            }
            self.read_block_breaks(indent, &mut trailing)?;
        }
        if chomp != Chomp::Strip {
            self.decoded.push_str(&leading);
        }
        if chomp == Chomp::Keep {
            self.decoded.push_str(&trailing);
        }
        Ok(end)
    }

    /// Reads indentation and empty lines; finds the indentation out if it is not known yet.
    fn read_block_breaks(
        &mut self,
        indent: &mut i32,
        breaks: &mut String,
    ) -> Result<(), SyntaxError> {
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
            self.cursor.read_line(breaks);
        }
        if *indent == 0 {
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}
