//! The grammar: turns tokens into events, exactly as go-yaml v2 reads one document.
//!
//! A state machine with an explicit stack, so nesting does not use the call stack. Only the first document of the text
//! is parsed: Kubernetes asks go-yaml for one value and never reads the rest.

mod flow;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::event::{Events, ParseInfo, Properties, ScalarEvent, StartEvent, Style, SyntaxError};
use super::scalar;
use super::scan::{Scanner, Token, TokenKind};
use crate::Span;

/// The next expected token.
#[derive(Clone, Copy, Debug)]
enum Expects {
    BlockSequence { first: bool },
    IndentlessSequence,
    BlockMappingKey { first: bool },
    BlockMappingValue,
    FlowSequence { first: bool },
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowMappingKey { first: bool },
    FlowMappingValue,
    FlowMappingEmptyValue,
    DocumentEnd,
}

/// A document that could not be parsed.
pub(super) struct Failure {
    pub(super) error: SyntaxError,
    /// The first `{{` that is part of the structure.
    pub(super) braces: Option<u32>,
}

/// Parses the first document of `text`, whose first byte is at `base` of the file. Without content, there is no event.
pub(super) fn parse(text: &str, base: u32, events: &mut impl Events) -> Result<ParseInfo, Failure> {
    let mut parser = Parser {
        scanner: Scanner::new(text, base),
        events,
        states: Vec::with_capacity(32),
        handles: BTreeMap::new(),
        last_end: base,
    };
    match parser.document() {
        Ok(()) => Ok(parser.scanner.read),
        Err(error) => Err(Failure {
            error,
            braces: parser.scanner.braces,
        }),
    }
}

struct Parser<'t, 'e, E> {
    scanner: Scanner<'t>,
    events: &'e mut E,
    states: Vec<Expects>,
    /// The prefixes of this document's `%TAG` handles.
    handles: BTreeMap<Box<str>, Rc<str>>,
    /// The end of the last consumed token.
    last_end: u32,
}

impl<E: Events> Parser<'_, '_, E> {
    #[inline]
    fn peek(&mut self) -> Result<TokenKind, SyntaxError> {
        self.scanner.peek().map(|token| token.kind)
    }

    #[inline]
    fn take(&mut self) -> Result<Token, SyntaxError> {
        let token = self.scanner.take()?;
        self.last_end = token.span.end;
        Ok(token)
    }

    #[cold]
    fn fail<T>(&mut self, problem: &'static str) -> Result<T, SyntaxError> {
        let at = self.scanner.peek()?.span.start;
        Err(SyntaxError::new(at, problem))
    }

    /// Emits a value that is left out, with the empty span after the last token.
    fn emit_empty(&mut self, properties: &Properties<'_>) {
        let scalar = ScalarEvent {
            style: Style::Plain,
            span: Span::empty(self.last_end),
            text: "",
            is_verbatim: true,
        };
        self.events.scalar(scalar, properties);
    }

    fn document(&mut self) -> Result<(), SyntaxError> {
        self.start_document()?;
        while let Some(state) = self.states.pop() {
            match state {
                Expects::BlockSequence { first } => self.block_sequence(first)?,
                Expects::IndentlessSequence => self.indentless_sequence()?,
                Expects::BlockMappingKey { first } => self.block_mapping_key(first)?,
                Expects::BlockMappingValue => self.block_mapping_value()?,
                Expects::FlowSequence { first } => self.flow_sequence(first)?,
                Expects::FlowPairKey => self.flow_pair_key()?,
                Expects::FlowPairValue => self.flow_pair_value()?,
                Expects::FlowPairEnd => self.flow_pair_end()?,
                Expects::FlowMappingKey { first } => self.flow_mapping_key(first)?,
                Expects::FlowMappingValue => self.flow_mapping_value(false)?,
                Expects::FlowMappingEmptyValue => self.flow_mapping_value(true)?,
                Expects::DocumentEnd => self.end_document()?,
            }
        }
        Ok(())
    }

    fn start_document(&mut self) -> Result<(), SyntaxError> {
        match self.peek()? {
            TokenKind::StreamEnd => return Ok(()),
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective
            | TokenKind::DocumentStart => {}
            _ => {
                self.states.push(Expects::DocumentEnd);
                return self.node(true, false);
            }
        }
        self.states.push(Expects::DocumentEnd);
        self.directives()?;
        if self.peek()? != TokenKind::DocumentStart {
            return self.fail("did not find expected <document start>");
        }
        self.take()?;
        match self.peek()? {
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                self.emit_empty(&Properties::default());
                Ok(())
            }
            _ => self.node(true, false),
        }
    }

    fn directives(&mut self) -> Result<(), SyntaxError> {
        let mut versions = 0;
        loop {
            match self.peek()? {
                TokenKind::VersionDirective { major, minor } => {
                    versions += 1;
                    if versions > 1 {
                        return self.fail("found duplicate %YAML directive");
                    }
                    if (major, minor) != (1, 1) {
                        return self.fail("found incompatible YAML document");
                    }
                }
                TokenKind::TagDirective => {
                    let (handle, prefix) = self.scanner.tags.pop_front().unwrap_or_default();
                    if self.handles.insert(handle, prefix.into()).is_some() {
                        return self.fail("found duplicate %TAG directive");
                    }
                }
                _ => return Ok(()),
            }
            self.take()?;
        }
    }

    /// Ends the document; the rest of the text is never read.
    fn end_document(&mut self) -> Result<(), SyntaxError> {
        let next = self.scanner.peek()?;
        self.scanner.read.ended_by_marker = next.kind == TokenKind::DocumentEnd;
        self.scanner.read.dropped_from = match next.kind {
            TokenKind::StreamEnd => None,
            TokenKind::DocumentEnd => self.scanner.rest(),
            _ => Some(next.span.start),
        };
        Ok(())
    }

    /// Parses a node, or emits an empty one if the next token is one for which `ends` is true.
    fn node_unless(
        &mut self,
        ends: impl Fn(TokenKind) -> bool,
        block: bool,
        indentless: bool,
    ) -> Result<(), SyntaxError> {
        if ends(self.peek()?) {
            self.emit_empty(&Properties::default());
            return Ok(());
        }
        self.node(block, indentless)
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<(), SyntaxError> {
        match self.peek()? {
            TokenKind::Scalar { .. } => self.scalar(&Properties::default()),
            TokenKind::Alias => {
                let span = self.take()?.span;
                let name = self.scanner.written(span).get(1..).unwrap_or_default();
                self.events.alias(span, name);
                Ok(())
            }
            TokenKind::Anchor | TokenKind::Tag => self.node_with_properties(block, indentless),
            _ => self.content(block, indentless, &Properties::default()),
        }
    }

    /// Parses a node after an anchor and a tag, in either order, each at most once.
    fn node_with_properties(&mut self, block: bool, indentless: bool) -> Result<(), SyntaxError> {
        let mut anchor = None;
        let mut tag = None;
        loop {
            match self.peek()? {
                TokenKind::Anchor if anchor.is_none() => {
                    let span = self.scanner.peek()?.span;
                    anchor = self.scanner.written(span).get(1..);
                }
                TokenKind::Tag if tag.is_none() => {
                    let (handle, suffix) = self.scanner.tags.pop_front().unwrap_or_default();
                    let Some(prefix) = self.prefix_of(&handle) else {
                        return self.fail("found undefined tag handle");
                    };
                    tag = Some((prefix, suffix));
                }
                _ => break,
            }
            self.take()?;
        }
        let tag = tag.as_ref().map(|(prefix, suffix)| [&**prefix, &**suffix]);
        self.content(block, indentless, &Properties { anchor, tag })
    }

    /// Returns the prefix of a tag's handle; `None` if it is not defined.
    fn prefix_of(&self, handle: &str) -> Option<Rc<str>> {
        let defined = self.handles.get(handle).cloned();
        defined.or_else(|| match handle {
            "" | "!" => Some(handle.into()),
            "!!" => Some(scalar::CORE.into()),
            _ => None,
        })
    }

    /// Parses a node without its anchor and tag.
    fn content(
        &mut self,
        block: bool,
        indentless: bool,
        properties: &Properties<'_>,
    ) -> Result<(), SyntaxError> {
        let Token { kind, span } = self.scanner.peek()?;
        let (state, is_map, flow) = match kind {
            TokenKind::Scalar { .. } => return self.scalar(properties),
            TokenKind::BlockEntry if indentless => (Expects::IndentlessSequence, false, false),
            TokenKind::FlowSequenceStart => (Expects::FlowSequence { first: true }, false, true),
            TokenKind::FlowMappingStart => (Expects::FlowMappingKey { first: true }, true, true),
            TokenKind::BlockSequenceStart if block => {
                (Expects::BlockSequence { first: true }, false, false)
            }
            TokenKind::BlockMappingStart if block => {
                (Expects::BlockMappingKey { first: true }, true, false)
            }
            _ if !properties.is_empty() => {
                self.emit_empty(properties);
                return Ok(());
            }
            _ => return self.fail("did not find expected node content"),
        };
        self.states.push(state);
        let span = Span::new(span.start, span.start + u32::from(flow));
        let start = StartEvent { is_map, flow, span };
        self.events.start(start, properties);
        Ok(())
    }

    fn scalar(&mut self, properties: &Properties<'_>) -> Result<(), SyntaxError> {
        let token = self.take()?;
        self.emit_scalar(token, properties);
        Ok(())
    }

    #[inline]
    fn emit_scalar(&mut self, token: Token, properties: &Properties<'_>) {
        let TokenKind::Scalar { style, decoded } = token.kind else {
            return;
        };
        let span = token.span;
        let text = match (decoded, style) {
            (Some(decoded), _) => self.scanner.decoded.get(decoded.range()),
            (None, Style::Single | Style::Double) => {
                let written = self.scanner.written(span);
                written.get(1..written.len().saturating_sub(1))
            }
            (None, _) => Some(self.scanner.written(span)),
        };
        let scalar = ScalarEvent {
            style,
            span,
            text: text.unwrap_or_default(),
            is_verbatim: decoded.is_none(),
        };
        self.events.scalar(scalar, properties);
    }

    fn block_sequence(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::BlockEntry => {
                self.take()?;
                self.states.push(Expects::BlockSequence { first: false });
                let ends = |next| matches!(next, TokenKind::BlockEntry | TokenKind::BlockEnd);
                self.node_unless(ends, true, false)
            }
            TokenKind::BlockEnd => self.end_block(),
            _ => self.fail("did not find expected '-' indicator"),
        }
    }

    /// Ends a block collection where its last token ended, not at the token that shows its end.
    fn end_block(&mut self) -> Result<(), SyntaxError> {
        self.events.end(Span::empty(self.last_end));
        self.scanner.take()?;
        Ok(())
    }

    fn indentless_sequence(&mut self) -> Result<(), SyntaxError> {
        if self.peek()? != TokenKind::BlockEntry {
            self.events.end(Span::empty(self.last_end));
            return Ok(());
        }
        self.take()?;
        self.states.push(Expects::IndentlessSequence);
        let ends = |next| {
            matches!(
                next,
                TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd
            )
        };
        self.node_unless(ends, true, false)
    }

    fn block_mapping_key(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::Key => {
                self.take()?;
                self.states.push(Expects::BlockMappingValue);
                self.block_part()
            }
            TokenKind::BlockEnd => self.end_block(),
            _ => self.fail("did not find expected key"),
        }
    }

    fn block_mapping_value(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::BlockMappingKey { first: false });
        if self.peek()? != TokenKind::Value {
            self.emit_empty(&Properties::default());
            return Ok(());
        }
        self.take()?;
        self.block_part()
    }

    /// Parses a key or a value of a block mapping, which may be left out.
    fn block_part(&mut self) -> Result<(), SyntaxError> {
        let ends = |next| {
            matches!(
                next,
                TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd
            )
        };
        self.node_unless(ends, true, true)
    }
}
