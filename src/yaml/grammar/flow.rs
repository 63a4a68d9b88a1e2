//! The grammar inside brackets and braces.

use super::{Expects, Parser};
use crate::text::Span;
use crate::yaml::event::{Events, Properties, StartEvent, SyntaxError};
use crate::yaml::scan::TokenKind;

impl<E: Events> Parser<'_, '_, E> {
    pub(super) fn flow_sequence(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        } else if !matches!(
            self.peek()?,
            TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
        ) {
            return self.fail("did not find expected ',' or ']'");
        } else if self.peek()? == TokenKind::FlowEntry {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::FlowSequenceEnd => {
                let end = self.take()?.span();
                self.events.end(end);
            }
            TokenKind::Key => {
                let key = self.take()?;
                self.states
                    .extend([Expects::FlowSequence { first: false }, Expects::FlowPairKey]);
                let start = StartEvent {
                    is_map: true,
                    flow: false,
                    span: Span::empty(key.start),
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

    pub(super) fn flow_pair_key(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowPairValue);
        match self.peek()? {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // libyaml consumes the token here, so go-yaml loses the value of `[? : x]`.
                let end = self.take()?.end;
                self.emit_empty(end, &Properties::default());
                Ok(())
            }
            _ => self.node(false, false),
        }
    }

    pub(super) fn flow_pair_value(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowPairEnd);
        if self.peek()? == TokenKind::Value {
            self.take()?;
            if !matches!(
                self.peek()?,
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
            ) {
                return self.node(false, false);
            }
        }
        self.emit_empty(self.last_end, &Properties::default());
        Ok(())
    }

    pub(super) fn flow_pair_end(&mut self) -> Result<(), SyntaxError> {
        self.peek()?;
        self.events.end(Span::empty(self.last_end));
        Ok(())
    }

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        } else if !matches!(
            self.peek()?,
            TokenKind::FlowEntry | TokenKind::FlowMappingEnd
        ) {
            return self.fail("did not find expected ',' or '}'");
        } else if self.peek()? == TokenKind::FlowEntry {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::FlowMappingEnd => {
                let end = self.take()?.span();
                self.events.end(end);
                Ok(())
            }
            TokenKind::Key => {
                let mark = self.take()?.end;
                self.states.push(Expects::FlowMappingValue);
                match self.peek()? {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                        self.emit_empty(mark, &Properties::default());
                        Ok(())
                    }
                    _ => self.node(false, false),
                }
            }
            _ => {
                self.states.push(Expects::FlowMappingEmptyValue);
                self.node(false, false)
            }
        }
    }

    pub(super) fn flow_mapping_value(&mut self, empty: bool) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowMappingKey { first: false });
        if !empty && self.peek()? == TokenKind::Value {
            self.take()?;
            if !matches!(
                self.peek()?,
                TokenKind::FlowEntry | TokenKind::FlowMappingEnd
            ) {
                return self.node(false, false);
            }
        }
        self.emit_empty(self.last_end, &Properties::default());
        Ok(())
    }
}
