//! The tokens between the scanner and the grammar.

use crate::Span;
use crate::event::Style;

/// The tokens of YAML 1.1, as in libyaml.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    StreamEnd,
    VersionDirective {
        major: u8,
        minor: u8,
    },
    /// Its handle and prefix are the next ones of [`super::Scanner::tags`].
    TagDirective,
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
    Alias,
    Anchor,
    /// Its handle and suffix are the next ones of [`super::Scanner::tags`].
    Tag,
    Scalar {
        style: Style,
        /// The place of the text in the scanner's buffer; `None` if it equals what is written.
        decoded: Option<Span>,
    },
}

/// A token and its place in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}
