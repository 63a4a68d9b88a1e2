//! The scanner: splits text into the same tokens as go-yaml v2.
//!
//! Kubernetes reads manifests with go-yaml v2, whose scanner is libyaml's (see THIRD-PARTY-NOTICES.md). It follows
//! neither YAML 1.1 nor 1.2 exactly, but decides what a cluster accepts. This scanner follows its rules, above all:
//!
//! * **Indentation**: a column right of the current indent opens a block collection, a column left of it closes some.
//! * **Simple keys**: a token that may be a key is recorded; if `:` follows on the same line within 1024 characters,
//!   the `Key` (and perhaps `BlockMappingStart`) token is inserted before it. Until then, tokens wait in a queue.
//!
//! The scanner reads text in runs: it looks for the next byte that may end a scalar or a line, and a scalar of one run
//! is not copied. It does not recurse, and its stacks are bounded by [`super::limits::MAX_DEPTH`].

mod block;
mod breaks;
mod cursor;
mod plain;
mod property;
mod queue;
mod quoted;
mod token;

use std::collections::VecDeque;

use cursor::{Cursor, Mark};
pub(super) use token::{Token, TokenKind};

use super::document::Quirk;
use super::event::{ParseInfo, SyntaxError};
use super::limits::MAX_DEPTH;
use crate::Span;

/// The maximum number of characters from the start of an implicit key to its `:`.
const SIMPLE_KEY_LENGTH: i32 = 1024;

#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Whether only a key may begin here: in block context at the current indent.
    required: bool,
    token_number: usize,
    mark: Mark,
}

/// The scanner of one document.
pub(super) struct Scanner<'t> {
    cursor: Cursor<'t>,
    /// The offset in the file of the document's first byte.
    base: u32,
    tokens: VecDeque<Token>,
    tokens_taken: usize,
    /// Whether the first token in the queue is final: no `Key` token will be inserted before it.
    is_head_settled: bool,
    ended: bool,
    indent: i32,
    indents: Vec<i32>,
    flow_level: usize,
    simple_key_allowed: bool,
    /// One per flow level, the block level first. Token numbers never decrease along the stack.
    simple_keys: Vec<SimpleKey>,
    /// Decoded text of scalars in the queue that differs from what is written.
    pub(super) decoded: String,
    /// Line breaks between two runs of a scalar, which are not folded yet.
    breaks: String,
    /// The two parts of each tag and `%TAG` directive in the queue.
    pub(super) tags: VecDeque<(Box<str>, Box<str>)>,
    /// The comments and quirks so far.
    pub(super) read: ParseInfo,
    /// The first `{{` that is part of the structure and not inside a scalar.
    pub(super) braces: Option<u32>,
}

impl<'t> Scanner<'t> {
    /// Creates a scanner of `text`, whose first byte is at `base` of the file. An initial byte order mark is skipped.
    pub(super) fn new(text: &'t str, base: u32) -> Self {
        let mut cursor = Cursor::new(text);
        if text.starts_with('\u{FEFF}') {
            cursor.mark.pos = '\u{FEFF}'.len_utf8();
        }
        Self {
            cursor,
            base,
            tokens: VecDeque::with_capacity(8),
            tokens_taken: 0,
            is_head_settled: false,
            ended: false,
            indent: -1,
            indents: Vec::with_capacity(16),
            flow_level: 0,
            simple_key_allowed: true,
            simple_keys: vec![SimpleKey::default()],
            decoded: String::new(),
            breaks: String::new(),
            tags: VecDeque::new(),
            read: ParseInfo::default(),
            braces: None,
        }
    }

    /// Returns the text of the document between two offsets of the file.
    pub(super) fn written(&self, span: Span) -> &'t str {
        let start = span.start.saturating_sub(self.base) as usize;
        let end = span.end.saturating_sub(self.base) as usize;
        self.cursor.text.get(start..end).unwrap_or_default()
    }

    /// Skips blanks, comments and `...` lines, and returns the offset of other text, if there is any.
    pub(super) fn rest(&mut self) -> Option<u32> {
        loop {
            self.skip_to_token();
            if self.cursor.is_end() {
                return None;
            }
            if !(self.cursor.is_document_indicator() && self.cursor.at(0) == b'.') {
                return Some(self.offset());
            }
            self.skip_many(3);
        }
    }

    /// Returns the current position as an offset in the file.
    #[inline]
    fn offset(&self) -> u32 {
        self.offset_at(self.cursor.mark.pos)
    }

    #[inline]
    fn offset_at(&self, pos: usize) -> u32 {
        self.base + pos as u32
    }

    #[cold]
    fn fail<T>(&self, problem: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.offset(), problem))
    }

    fn skip_many(&mut self, count: usize) {
        for _ in 0..count {
            self.cursor.skip();
        }
    }

    /// Returns the span of the text that was decoded from `start` on.
    fn decoded_since(&self, start: usize) -> Option<Span> {
        Some(Span::new(start as u32, self.decoded.len() as u32))
    }

    /// Opens a block collection if `mark` is right of the indent. Its token goes before token
    /// number `before`, or last.
    fn roll_indent(
        &mut self,
        mark: Mark,
        before: Option<usize>,
        kind: TokenKind,
    ) -> Result<(), SyntaxError> {
        if self.flow_level > 0 || self.indent >= mark.column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = mark.column;
        let at = self.offset_at(mark.pos);
        if self.indents.len() > MAX_DEPTH {
            return Err(SyntaxError::new(at, "exceeded max depth of 10000"));
        }
        let span = Span::empty(at);
        let token = Token { kind, span };
        match before {
            None => self.tokens.push_back(token),
            Some(number) => self.insert(number, token),
        }
        Ok(())
    }

    /// Closes every block collection right of `column`.
    fn unroll_indent(&mut self, column: i32) {
        while self.flow_level == 0 && self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Skips blanks, comments and line breaks. Tabs are skipped only where no key may start, since they cannot indent.
    fn skip_to_token(&mut self) {
        loop {
            self.cursor.skip_spaces();
            while self.cursor.at(0) == b'\t' && (self.flow_level > 0 || !self.simple_key_allowed) {
                self.cursor.skip_blanks();
            }
            self.skip_comment();
            if !self.cursor.is_break(0) {
                return;
            }
            self.skip_structural_break();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    #[inline]
    fn skip_structural_break(&mut self) {
        let start = self.cursor.mark.pos;
        let is_unusual = !matches!(self.cursor.at(0), b'\n' | b'\r');
        self.cursor.skip_line();
        if is_unusual {
            self.note(Quirk::UnicodeLineBreak, start);
        }
    }

    /// Records a quirk that began at `start`.
    fn note(&mut self, quirk: Quirk, start: usize) {
        let span = Span::new(self.offset_at(start), self.offset());
        self.read.quirks.push((quirk, span));
    }

    fn skip_comment(&mut self) {
        if self.cursor.at(0) != b'#' {
            return;
        }
        let start = self.cursor.mark;
        self.cursor.advance(self.cursor.line_end());
        let comment = Span::new(self.offset_at(start.pos), self.offset());
        self.read.comments.push(comment);
        let before = self.cursor.text.as_bytes()[..start.pos].last();
        if start.column > 0 && before.is_some_and(u8::is_ascii_graphic) {
            self.note(Quirk::CommentWithoutBlank, start.pos);
        }
    }

    /// Scans one more token, and adds it to the queue.
    fn fetch(&mut self) -> Result<(), SyntaxError> {
        self.skip_to_token();
        self.unroll_indent(self.cursor.mark.column);
        if self.cursor.is_end() {
            return self.fetch_stream_end();
        }
        let column = self.cursor.mark.column;
        if column == 0 && self.cursor.at(0) == b'%' {
            return self.fetch_directive();
        }
        if self.cursor.is_document_indicator() {
            return self.fetch_document_indicator();
        }
        let flow = self.flow_level > 0;
        let spaced = self.cursor.is_blank_or_end(1);
        match self.cursor.at(0) {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_indicator(TokenKind::FlowEntry, 1, true),
            b'-' if spaced => self.fetch_block_entry(),
            b'?' if flow || spaced => self.fetch_key(),
            b':' if flow || spaced => self.fetch_value(),
            b'*' => self.fetch_anchor(TokenKind::Alias),
            b'&' => self.fetch_anchor(TokenKind::Anchor),
            b'!' => self.fetch_tag(),
            b'|' if !flow => self.fetch_block_scalar(true),
            b'>' if !flow => self.fetch_block_scalar(false),
            b'\'' => self.fetch_quoted(true),
            b'"' => self.fetch_quoted(false),
            b'-' => self.fetch_plain(),
            b'?' | b':' if !flow => self.fetch_plain(),
            b'\t' | b'|' | b'>' | b'#' | b'%' | b'@' | b'`' => {
                self.fail("found character that cannot start any token")
            }
            _ => self.fetch_plain(),
        }
    }

    fn fetch_stream_end(&mut self) -> Result<(), SyntaxError> {
        if self.cursor.mark.column != 0 {
            self.cursor.mark.column = 0;
            self.cursor.mark.line += 1;
        }
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        self.ended = true;
        self.push(TokenKind::StreamEnd, self.cursor.mark);
        Ok(())
    }

    /// Adds an indicator that is in no simple key; `allows_key` says whether a key may follow.
    fn fetch_indicator(
        &mut self,
        kind: TokenKind,
        width: usize,
        allows_key: bool,
    ) -> Result<(), SyntaxError> {
        self.remove_simple_key()?;
        self.simple_key_allowed = allows_key;
        self.push_indicator(kind, width);
        Ok(())
    }

    fn fetch_document_indicator(&mut self) -> Result<(), SyntaxError> {
        self.unroll_indent(-1);
        let kind = if self.cursor.at(0) == b'-' {
            TokenKind::DocumentStart
        } else {
            TokenKind::DocumentEnd
        };
        self.fetch_indicator(kind, 3, false)
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), SyntaxError> {
        if self.cursor.at(0) == b'{' && self.cursor.at(1) == b'{' {
            let at = self.offset();
            self.braces.get_or_insert(at);
        }
        self.save_simple_key()?;
        let token_number = self.tokens_taken + self.tokens.len();
        self.simple_keys.push(SimpleKey {
            token_number,
            mark: self.cursor.mark,
            ..SimpleKey::default()
        });
        self.flow_level += 1;
        if self.flow_level > MAX_DEPTH {
            return self.fail("exceeded max depth of 10000");
        }
        self.simple_key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), SyntaxError> {
        self.fetch_indicator(kind, 1, false)?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            self.simple_keys.pop();
        }
        Ok(())
    }

    /// Opens a block collection for an indicator at the current position. `problem` is the error if none may begin
    /// here.
    fn open_block(&mut self, kind: TokenKind, problem: &'static str) -> Result<(), SyntaxError> {
        if self.flow_level == 0 && !self.simple_key_allowed {
            return self.fail(problem);
        }
        self.roll_indent(self.cursor.mark, None, kind)
    }

    fn fetch_block_entry(&mut self) -> Result<(), SyntaxError> {
        // In flow context a dash is an error as well, which the grammar reports.
        let problem = "block sequence entries are not allowed in this context";
        self.open_block(TokenKind::BlockSequenceStart, problem)?;
        self.fetch_indicator(TokenKind::BlockEntry, 1, true)
    }

    fn fetch_key(&mut self) -> Result<(), SyntaxError> {
        let problem = "mapping keys are not allowed in this context";
        self.open_block(TokenKind::BlockMappingStart, problem)?;
        self.fetch_indicator(TokenKind::Key, 1, self.flow_level == 0)
    }

    fn fetch_value(&mut self) -> Result<(), SyntaxError> {
        let level = self.simple_keys.len() - 1;
        if self.key_is_valid(level)? {
            let key = self.simple_keys[level];
            let token = Token {
                kind: TokenKind::Key,
                span: Span::empty(self.offset_at(key.mark.pos)),
            };
            self.insert(key.token_number, token);
            self.roll_indent(
                key.mark,
                Some(key.token_number),
                TokenKind::BlockMappingStart,
            )?;
            self.simple_keys[level].possible = false;
            self.simple_key_allowed = false;
        } else {
            let problem = "mapping values are not allowed in this context";
            self.open_block(TokenKind::BlockMappingStart, problem)?;
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.push_indicator(TokenKind::Value, 1);
        Ok(())
    }
}
