//! The grammar inside brackets and braces.

use super::{Expects, Parser};
use crate::Span;
use crate::event::{Events, Properties, StartEvent, SyntaxError};
use crate::scan::TokenKind;

impl<E: Events> Parser<'_, '_, E> {
    pub(super) fn flow_sequence(&mut self, first: bool) -> Result<(), SyntaxError> {
        let problem = "did not find expected ',' or ']'";
        self.flow_member(first, TokenKind::FlowSequenceEnd, problem)?;
        match self.peek()? {
            TokenKind::FlowSequenceEnd => {
                let end = self.take()?.span;
                self.events.end(end);
            }
            TokenKind::Key => {
                let key = self.take()?;
                self.states
                    .extend([Expects::FlowSequence { first: false }, Expects::FlowPairKey]);
                let start = StartEvent {
                    is_map: true,
                    flow: false,
                    span: Span::empty(key.span.start),
                };
                self.events.start(start, &Properties::default());
            }
            _ => {
                self.states.push(Expects::FlowSequence { first: false });
                self.node(false, false)?;
            }
        }
        Ok(())
    }

    /// Skips the token before a member or the end: the opening one, or a comma.
    fn flow_member(
        &mut self,
        first: bool,
        close: TokenKind,
        problem: &'static str,
    ) -> Result<(), SyntaxError> {
        let next = self.peek()?;
        if first || next == TokenKind::FlowEntry {
            self.take()?;
        } else if next != close {
            return self.fail(problem);
        }
        Ok(())
    }

    pub(super) fn flow_pair_key(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowPairValue);
        match self.peek()? {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // libyaml consumes the token here, so go-yaml loses the value of `[? : x]`.
                self.take()?;
                self.emit_empty(&Properties::default());
                Ok(())
            }
            _ => self.node(false, false),
        }
    }

    pub(super) fn flow_pair_value(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowPairEnd);
        self.flow_value(TokenKind::FlowSequenceEnd)
    }

    /// Parses the value after a key in a collection that ends with `close`.
    fn flow_value(&mut self, close: TokenKind) -> Result<(), SyntaxError> {
        if self.peek()? == TokenKind::Value {
            self.take()?;
            let ends = |next| next == TokenKind::FlowEntry || next == close;
            return self.node_unless(ends, false, false);
        }
        self.emit_empty(&Properties::default());
        Ok(())
    }

    pub(super) fn flow_pair_end(&mut self) -> Result<(), SyntaxError> {
        self.peek()?;
        self.events.end(Span::empty(self.last_end));
        Ok(())
    }

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> Result<(), SyntaxError> {
        let problem = "did not find expected ',' or '}'";
        self.flow_member(first, TokenKind::FlowMappingEnd, problem)?;
        match self.peek()? {
            TokenKind::FlowMappingEnd => {
                let end = self.take()?.span;
                self.events.end(end);
                Ok(())
            }
            TokenKind::Key => {
                self.take()?;
                self.states.push(Expects::FlowMappingValue);
                let ends = |next| {
                    matches!(
                        next,
                        TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd
                    )
                };
                self.node_unless(ends, false, false)
            }
            _ => {
                self.states.push(Expects::FlowMappingEmptyValue);
                self.node(false, false)
            }
        }
    }

    pub(super) fn flow_mapping_value(&mut self, empty: bool) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowMappingKey { first: false });
        if !empty {
            return self.flow_value(TokenKind::FlowMappingEnd);
        }
        self.emit_empty(&Properties::default());
        Ok(())
    }
}
