//! The grammar: tokens to a tape, exactly as go-yaml v2 reads one document.
//!
//! A state machine with an explicit stack, so nesting costs no call stack. Only the first document of the text counts:
//! Kubernetes asks go-yaml for one value and never looks at what follows.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::scalar;
use super::scan::{Scanner, Token, TokenKind};
use super::tape::{EventKind, Properties, Style, SyntaxError, Tape, TextRef};

/// What the grammar expects next.
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

/// Parses the first document of `text`, whose first byte is at `base` of the file. `None`: there is no content at all.
pub(super) fn parse(text: &str, base: u32) -> Result<Option<Tape>, Failure> {
    let mut parser = Parser::new(text, base);
    match parser.document() {
        Ok(found) => {
            parser.tape.decoded = std::mem::take(&mut parser.scanner.decoded);
            parser.tape.quirks = std::mem::take(&mut parser.scanner.quirks);
            parser.tape.comments = std::mem::take(&mut parser.scanner.comments);
            Ok(found.then_some(parser.tape))
        }
        Err(error) => Err(Failure {
            error,
            braces: parser.scanner.braces,
        }),
    }
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    tape: Tape,
    states: SmallVec<[Expects; 8]>,
    /// The prefixes of this document's `%TAG` handles and of others that were used, as indices into the tape's.
    handles: BTreeMap<Box<str>, u32>,
    /// Where the last consumed token ends.
    last_end: u32,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, base: u32) -> Self {
        Self {
            scanner: Scanner::new(text, base),
            tape: Tape::that_may_be_deep(),
            states: SmallVec::new(),
            handles: BTreeMap::new(),
            last_end: base,
        }
    }

    fn peek(&mut self) -> Result<&TokenKind, SyntaxError> {
        self.scanner.peek().map(|token| &token.kind)
    }

    fn take(&mut self) -> Result<Token, SyntaxError> {
        let token = self.scanner.take()?;
        self.last_end = token.end;
        Ok(token)
    }

    fn fail<T>(&mut self, problem: &'static str) -> Result<T, SyntaxError> {
        let at = self.scanner.peek()?.start;
        Err(SyntaxError::new(at, problem))
    }

    fn emit(&mut self, kind: EventKind, start: u32, end: u32, properties: u32) {
        self.tape
            .push(kind, start, end, TextRef::default(), properties);
    }

    /// A value that is left out: the empty span at `at`.
    fn emit_empty(&mut self, at: u32, properties: u32) {
        let text = TextRef {
            start: at,
            end: at,
            decoded: false,
        };
        self.tape
            .push(EventKind::Scalar(Style::Plain), at, at, text, properties);
    }

    fn document(&mut self) -> Result<bool, SyntaxError> {
        if !self.start_document()? {
            return Ok(false);
        }
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
        Ok(true)
    }

    fn start_document(&mut self) -> Result<bool, SyntaxError> {
        self.states.push(Expects::DocumentEnd);
        match self.peek()? {
            TokenKind::StreamEnd => return Ok(false),
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart => {}
            _ => {
                self.node(true, false)?;
                return Ok(true);
            }
        }
        self.directives()?;
        if *self.peek()? != TokenKind::DocumentStart {
            return self.fail("did not find expected <document start>");
        }
        self.take()?;
        match self.peek()? {
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => self.emit_empty(self.last_end, 0),
            _ => self.node(true, false)?,
        }
        Ok(true)
    }

    fn directives(&mut self) -> Result<(), SyntaxError> {
        let mut versions = 0;
        loop {
            match self.peek()?.clone() {
                TokenKind::VersionDirective { major, minor } => {
                    versions += 1;
                    if versions > 1 {
                        return self.fail("found duplicate %YAML directive");
                    }
                    if (major, minor) != (1, 1) {
                        return self.fail("found incompatible YAML document");
                    }
                }
                TokenKind::TagDirective { handle, prefix } => {
                    if self.name_prefix(handle, prefix).is_some() {
                        return self.fail("found duplicate %TAG directive");
                    }
                }
                _ => return Ok(()),
            }
            self.take()?;
        }
    }

    /// The document is over; what is left of the text is never read.
    fn end_document(&mut self) -> Result<(), SyntaxError> {
        let next = self.scanner.peek()?;
        let start = next.start;
        let kind = next.kind.clone();
        self.tape.ended_by_marker = kind == TokenKind::DocumentEnd;
        self.tape.dropped_from = match kind {
            TokenKind::StreamEnd => None,
            TokenKind::DocumentEnd => self.scanner.rest(),
            _ => Some(start),
        };
        Ok(())
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<(), SyntaxError> {
        if let TokenKind::Alias(text) = *self.peek()? {
            let token = self.take()?;
            self.tape.has_aliases = true;
            self.tape
                .push(EventKind::Alias, token.start, token.end, text, 0);
            return Ok(());
        }
        let properties = self.properties()?;
        let start = self.scanner.peek()?.start;
        match self.peek()? {
            TokenKind::BlockEntry if indentless => {
                self.states.push(Expects::IndentlessSequence);
                self.emit(
                    EventKind::SeqStart { flow: false },
                    start,
                    start,
                    properties,
                );
            }
            TokenKind::Scalar { .. } => self.scalar(properties)?,
            TokenKind::FlowSequenceStart => {
                self.states.push(Expects::FlowSequence { first: true });
                self.emit(
                    EventKind::SeqStart { flow: true },
                    start,
                    start + 1,
                    properties,
                );
            }
            TokenKind::FlowMappingStart => {
                self.states.push(Expects::FlowMappingKey { first: true });
                self.emit(
                    EventKind::MapStart { flow: true },
                    start,
                    start + 1,
                    properties,
                );
            }
            TokenKind::BlockSequenceStart if block => {
                self.states.push(Expects::BlockSequence { first: true });
                self.emit(
                    EventKind::SeqStart { flow: false },
                    start,
                    start,
                    properties,
                );
            }
            TokenKind::BlockMappingStart if block => {
                self.states.push(Expects::BlockMappingKey { first: true });
                self.emit(
                    EventKind::MapStart { flow: false },
                    start,
                    start,
                    properties,
                );
            }
            _ if properties > 0 => self.emit_empty(self.last_end, properties),
            _ => return self.fail("did not find expected node content"),
        }
        Ok(())
    }

    fn scalar(&mut self, properties: u32) -> Result<(), SyntaxError> {
        let token = self.take()?;
        if let TokenKind::Scalar { style, text } = token.kind {
            self.tape.push(
                EventKind::Scalar(style),
                token.start,
                token.end,
                text,
                properties,
            );
        }
        Ok(())
    }

    /// An anchor and a tag, in either order, each at most once. Returns their index plus one, or 0.
    fn properties(&mut self) -> Result<u32, SyntaxError> {
        let mut found = Properties::default();
        loop {
            match self.peek()?.clone() {
                TokenKind::Anchor(name) if found.anchor.is_none() => found.anchor = Some(name),
                TokenKind::Tag { handle, suffix } if found.tag == 0 => {
                    let Some(prefix) = self.prefix_of(&handle) else {
                        return self.fail("found undefined tag handle");
                    };
                    found.tag = self.tape.add_tag(prefix, &suffix);
                }
                _ => break,
            }
            self.take()?;
        }
        if found.anchor.is_none() && found.tag == 0 {
            return Ok(0);
        }
        Ok(self.tape.add_properties(found))
    }

    /// The prefix of a handle, as an index into the tape's. `None`: nobody defined it.
    fn prefix_of(&mut self, handle: &str) -> Option<u32> {
        if let Some(defined) = self.handles.get(handle) {
            return Some(*defined);
        }
        let prefix = match handle {
            "" | "!" => handle,
            "!!" => scalar::CORE,
            _ => return None,
        };
        self.name_prefix(handle.into(), prefix.into());
        self.handles.get(handle).copied()
    }

    /// Gives a handle its prefix. Returns the one that it had.
    fn name_prefix(&mut self, handle: Box<str>, prefix: Box<str>) -> Option<u32> {
        self.handles
            .insert(handle, self.tape.add_tag_prefix(prefix))
    }

    fn block_sequence(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::BlockEntry => {
                let dash = self.take()?.end;
                self.states.push(Expects::BlockSequence { first: false });
                match self.peek()? {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => self.emit_empty(dash, 0),
                    _ => self.node(true, false)?,
                }
            }
            TokenKind::BlockEnd => self.end_block(EventKind::SeqEnd)?,
            _ => return self.fail("did not find expected '-' indicator"),
        }
        Ok(())
    }

    /// A block collection ends where its last token ended, not at the token that shows its end.
    fn end_block(&mut self, kind: EventKind) -> Result<(), SyntaxError> {
        let end = self.last_end;
        self.scanner.take()?;
        self.emit(kind, end, end, 0);
        Ok(())
    }

    fn indentless_sequence(&mut self) -> Result<(), SyntaxError> {
        if *self.peek()? != TokenKind::BlockEntry {
            self.emit(EventKind::SeqEnd, self.last_end, self.last_end, 0);
            return Ok(());
        }
        let dash = self.take()?.end;
        self.states.push(Expects::IndentlessSequence);
        match self.peek()? {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                self.emit_empty(dash, 0);
                Ok(())
            }
            _ => self.node(true, false),
        }
    }

    fn block_mapping_key(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::Key => {
                let mark = self.take()?.end;
                self.states.push(Expects::BlockMappingValue);
                self.block_part(mark)
            }
            TokenKind::BlockEnd => self.end_block(EventKind::MapEnd),
            _ => self.fail("did not find expected key"),
        }
    }

    fn block_mapping_value(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::BlockMappingKey { first: false });
        if *self.peek()? != TokenKind::Value {
            self.emit_empty(self.last_end, 0);
            return Ok(());
        }
        let colon = self.take()?.end;
        self.block_part(colon)
    }

    /// A key or a value of a block mapping, or nothing.
    fn block_part(&mut self, mark: u32) -> Result<(), SyntaxError> {
        match self.peek()? {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                self.emit_empty(mark, 0);
                Ok(())
            }
            _ => self.node(true, true),
        }
    }

    fn flow_sequence(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        } else if !matches!(
            self.peek()?,
            TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
        ) {
            return self.fail("did not find expected ',' or ']'");
        } else if *self.peek()? == TokenKind::FlowEntry {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::FlowSequenceEnd => {
                let end = self.take()?;
                self.emit(EventKind::SeqEnd, end.start, end.end, 0);
            }
            TokenKind::Key => {
                let key = self.take()?;
                self.states
                    .extend([Expects::FlowSequence { first: false }, Expects::FlowPairKey]);
                self.emit(EventKind::MapStart { flow: false }, key.start, key.start, 0);
            }
            _ => {
                self.states.push(Expects::FlowSequence { first: false });
                self.node(false, false)?;
            }
        }
        Ok(())
    }

    fn flow_pair_key(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowPairValue);
        match self.peek()? {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // libyaml consumes the token here, so go-yaml loses the value of `[? : x]`.
                let end = self.take()?.end;
                self.emit_empty(end, 0);
                Ok(())
            }
            _ => self.node(false, false),
        }
    }

    fn flow_pair_value(&mut self) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowPairEnd);
        if *self.peek()? == TokenKind::Value {
            self.take()?;
            if !matches!(
                self.peek()?,
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
            ) {
                return self.node(false, false);
            }
        }
        self.emit_empty(self.last_end, 0);
        Ok(())
    }

    fn flow_pair_end(&mut self) -> Result<(), SyntaxError> {
        self.peek()?;
        self.emit(EventKind::MapEnd, self.last_end, self.last_end, 0);
        Ok(())
    }

    fn flow_mapping_key(&mut self, first: bool) -> Result<(), SyntaxError> {
        if first {
            self.take()?;
        } else if !matches!(
            self.peek()?,
            TokenKind::FlowEntry | TokenKind::FlowMappingEnd
        ) {
            return self.fail("did not find expected ',' or '}'");
        } else if *self.peek()? == TokenKind::FlowEntry {
            self.take()?;
        }
        match self.peek()? {
            TokenKind::FlowMappingEnd => {
                let end = self.take()?;
                self.emit(EventKind::MapEnd, end.start, end.end, 0);
                Ok(())
            }
            TokenKind::Key => {
                let mark = self.take()?.end;
                self.states.push(Expects::FlowMappingValue);
                match self.peek()? {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                        self.emit_empty(mark, 0);
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

    fn flow_mapping_value(&mut self, empty: bool) -> Result<(), SyntaxError> {
        self.states.push(Expects::FlowMappingKey { first: false });
        if !empty && *self.peek()? == TokenKind::Value {
            self.take()?;
            if !matches!(
                self.peek()?,
                TokenKind::FlowEntry | TokenKind::FlowMappingEnd
            ) {
                return self.node(false, false);
            }
        }
        self.emit_empty(self.last_end, 0);
        Ok(())
    }
}
