//! The tokens between the scanner and the grammar.

use crate::text::Span;
use crate::yaml::event::Style;

/// The tokens of YAML 1.1 as libyaml cuts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::yaml) enum TokenKind {
    StreamEnd,
    VersionDirective {
        major: u8,
        minor: u8,
    },
    /// Its handle and prefix are the next of [`super::Scanner::tags`].
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
    /// Its handle and suffix are the next of [`super::Scanner::tags`].
    Tag,
    Scalar {
        style: Style,
        /// Where the text is in the scanner's buffer; `None` if it is as written.
        decoded: Option<Span>,
    },
}

/// A token and its place in the file.
#[derive(Clone, Copy, Debug)]
pub(in crate::yaml) struct Token {
    pub(in crate::yaml) kind: TokenKind,
    pub(in crate::yaml) start: u32,
    pub(in crate::yaml) end: u32,
}

impl Token {
    pub(in crate::yaml) fn span(self) -> Span {
        Span::new(self.start, self.end)
    }
}
