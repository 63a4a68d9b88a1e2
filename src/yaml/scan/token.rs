//! What the scanner hands to the grammar.

use crate::text::Span;
use crate::yaml::tape::{Style, TextRef};

/// The tokens of YAML 1.1 as libyaml cuts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::yaml) enum TokenKind {
    StreamEnd,
    VersionDirective { major: u32, minor: u32 },
    TagDirective { handle: Box<str>, prefix: Box<str> },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    FlowEntry,
    BlockEntry,
    Key,
    Value,
    Alias(TextRef),
    Anchor(Span),
    Tag { handle: Box<str>, suffix: Box<str> },
    Scalar { style: Style, text: TextRef },
}

/// A token and its place in the file.
#[derive(Clone, Debug)]
pub(in crate::yaml) struct Token {
    pub(in crate::yaml) kind: TokenKind,
    pub(in crate::yaml) start: u32,
    pub(in crate::yaml) end: u32,
}
