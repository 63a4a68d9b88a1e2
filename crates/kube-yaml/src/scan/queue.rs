//! The queue of tokens, and simple keys, which are recognised by the `:` after them.

use super::{Mark, SIMPLE_KEY_LENGTH, Scanner, SimpleKey, Token, TokenKind};
use crate::Span;
use crate::event::SyntaxError;

impl Scanner<'_> {
    /// Returns the next token without removing it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Token, SyntaxError> {
        if !self.is_head_settled {
            self.settle_head()?;
        }
        match self.tokens.front() {
            Some(token) => Ok(*token),
            None => self.fail("unexpected end of the stream"),
        }
    }

    /// Scans until the first token is final.
    pub(super) fn settle_head(&mut self) -> Result<(), SyntaxError> {
        while self.tokens.is_empty() || self.head_may_be_key()? {
            if self.ended {
                break;
            }
            if self.tokens.is_empty() {
                self.decoded.clear();
            }
            self.fetch()?;
        }
        self.is_head_settled = true;
        Ok(())
    }

    /// Removes the token that [`Self::peek`] returns. The next call of that method discards the text of a scalar.
    #[inline]
    pub(crate) fn take(&mut self) -> Result<Token, SyntaxError> {
        let token = self.peek()?;
        self.tokens.pop_front();
        self.tokens_taken += 1;
        self.is_head_settled = false;
        Ok(token)
    }

    #[inline]
    pub(super) fn push(&mut self, kind: TokenKind, start: Mark) {
        let span = Span::new(self.offset_at(start.pos), self.offset());
        self.tokens.push_back(Token { kind, span });
    }

    pub(super) fn push_indicator(&mut self, kind: TokenKind, width: usize) {
        let start = self.cursor.mark;
        self.cursor.advance(start.pos + width);
        self.push(kind, start);
    }

    #[inline]
    pub(super) fn push_scalar(&mut self, kind: TokenKind, start: Mark, end: usize) {
        let span = Span::new(self.offset_at(start.pos), self.offset_at(end));
        self.tokens.push_back(Token { kind, span });
    }

    /// Whether the token at the head of the queue may yet turn out to be a key.
    #[inline]
    pub(super) fn head_may_be_key(&mut self) -> Result<bool, SyntaxError> {
        let head = self.tokens_taken;
        if self.flow_level == 0 {
            let key = &self.simple_keys[0];
            return Ok(key.possible && key.token_number == head && self.key_is_valid(0)?);
        }
        let mut level = self
            .simple_keys
            .partition_point(|key| key.token_number < head);
        while self
            .simple_keys
            .get(level)
            .is_some_and(|key| key.token_number == head)
        {
            if self.key_is_valid(level)? {
                return Ok(true);
            }
            level += 1;
        }
        Ok(false)
    }

    pub(super) fn key_is_valid(&mut self, level: usize) -> Result<bool, SyntaxError> {
        let now = self.cursor.mark;
        let SimpleKey { possible, mark, .. } = self.simple_keys[level];
        if possible && mark.line >= now.line && mark.column + SIMPLE_KEY_LENGTH >= now.column {
            return Ok(true);
        }
        self.remove_simple_key_at(level)?;
        Ok(false)
    }

    /// Records that the next token may be a key, where keys are allowed.
    #[inline]
    pub(super) fn save_simple_key(&mut self) -> Result<(), SyntaxError> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        self.remove_simple_key()?;
        let key = SimpleKey {
            possible: true,
            required: self.flow_level == 0 && self.indent == self.cursor.mark.column,
            token_number: self.tokens_taken + self.tokens.len(),
            mark: self.cursor.mark,
        };
        if let Some(last) = self.simple_keys.last_mut() {
            *last = key;
        }
        Ok(())
    }

    pub(super) fn remove_simple_key(&mut self) -> Result<(), SyntaxError> {
        self.remove_simple_key_at(self.simple_keys.len() - 1)
    }

    fn remove_simple_key_at(&mut self, level: usize) -> Result<(), SyntaxError> {
        let key = &mut self.simple_keys[level];
        let was_possible = std::mem::take(&mut key.possible);
        let SimpleKey { required, mark, .. } = *key;
        if was_possible && required {
            let at = self.offset_at(mark.pos);
            return Err(SyntaxError::new(at, "could not find expected ':'"));
        }
        Ok(())
    }

    /// Inserts a token before the one with the number `number`.
    pub(super) fn insert(&mut self, number: usize, token: Token) {
        let place = number.saturating_sub(self.tokens_taken);
        self.tokens.insert(place.min(self.tokens.len()), token);
    }
}
