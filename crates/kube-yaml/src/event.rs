//! The events of a document, which a parser of YAML or JSON emits for each node in written order.
//!
//! A parser knows the places and the text of nodes. The receiver of the events interprets them: [`super::compose`]
//! builds the value, [`super::edit`] the layout. Offsets are absolute in the file.

use std::borrow::Cow;

use super::document::Quirk;
use crate::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Unquoted, or left out.
    Plain,
    /// `'…'`.
    Single,
    /// `"…"`.
    Double,
    /// `|` or `>`.
    Block,
    /// A bare JSON word: `true`, `false`, `null` or a number.
    JsonWord,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ScalarEvent<'e> {
    pub(super) style: Style,
    /// The place of the token: including quotes, a block scalar from its `|` or `>`, without anchor and tag.
    pub(super) span: Span,
    /// The decoded text.
    pub(super) text: &'e str,
    /// Whether `text` equals what is written, without the quotes.
    pub(super) is_verbatim: bool,
}

/// The start of a mapping or a sequence. In a mapping keys and values alternate until its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartEvent {
    pub(super) is_map: bool,
    pub(super) flow: bool,
    pub(super) span: Span,
}

/// The anchor and the tag before a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Properties<'e> {
    /// The anchor's name without `&`.
    pub(super) anchor: Option<&'e str>,
    /// The tag as go-yaml resolves it, `tag:yaml.org,2002:str` for `!!str`, as prefix and suffix: a document may define
    /// a long prefix and use it often.
    pub(super) tag: Option<[&'e str; 2]>,
}

impl Properties<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.anchor.is_none() && self.tag.is_none()
    }
}

/// Receives the events of one document. After its first error, a receiver ignores all further events, since a syntax
/// error anywhere in the document takes precedence.
pub(super) trait Events {
    fn scalar(&mut self, scalar: ScalarEvent<'_>, properties: &Properties<'_>);

    fn start(&mut self, start: StartEvent, properties: &Properties<'_>);

    /// Ends the innermost collection with the token at `end`.
    fn end(&mut self, end: Span);

    /// Receives an alias for the anchor `name`.
    fn alias(&mut self, span: Span, name: &str);
}

/// Information about a document besides its events.
#[derive(Debug, Default)]
pub(super) struct ParseInfo {
    /// The offset of the text that Kubernetes never reads.
    pub(super) dropped_from: Option<u32>,
    /// Whether the document ended with a line `...`.
    pub(super) ended_by_marker: bool,
    /// Text that Kubernetes accepts and YAML 1.2 forbids or reads differently.
    pub(super) quirks: Vec<(Quirk, Span)>,
    /// The places of comments, up to the end of parsing.
    pub(super) comments: Vec<Span>,
}

/// An error in a document, in go-yaml's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// The offset of the error in the file.
    pub(super) at: u32,
    /// go-yaml's problem text, such as `did not find expected key`.
    pub(super) problem: Cow<'static, str>,
}

impl SyntaxError {
    pub(super) fn new(at: u32, problem: impl Into<Cow<'static, str>>) -> Self {
        Self {
            at,
            problem: problem.into(),
        }
    }
}
