//! The events of a document: what a reader of YAML or JSON reports, node by node, in written order.
//!
//! A reader knows where nodes begin and end and what their text is; the *meaning* of the text is decided by the receiver of the
//! events: [`super::compose`] for the value, [`super::edit`] for the layout. Offsets are absolute in the file.

use std::borrow::Cow;

use super::document::Quirk;
use crate::text::Span;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Unquoted; also a value that is left out.
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

/// A scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScalarEvent<'e> {
    pub(super) style: Style,
    /// The token as written: quotes included, a block scalar from its `|` or `>`, without anchor and tag.
    pub(super) span: Span,
    /// The text, decoded.
    pub(super) text: &'e str,
    /// Whether `text` is what is written, between the quotes if there are some.
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
    /// The tag as go-yaml resolves it, `tag:yaml.org,2002:str` for `!!str`, in two parts: a document may define a long
    /// prefix once and use it a million times.
    pub(super) tag: Option<[&'e str; 2]>,
}

impl Properties<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.anchor.is_none() && self.tag.is_none()
    }
}

/// Receives the events of one document. A receiver that has failed ignores further events: an error of the syntax, wherever it
/// is, comes before one of the meaning.
pub(super) trait Events {
    fn scalar(&mut self, scalar: ScalarEvent<'_>, properties: &Properties<'_>);

    fn start(&mut self, start: StartEvent, properties: &Properties<'_>);

    /// The innermost collection ends with the token at `end`.
    fn end(&mut self, end: Span);

    /// An alias for the anchor `name`.
    fn alias(&mut self, span: Span, name: &str);
}

/// Observations of a reader in a document besides its events.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Where the text begins that Kubernetes never looks at.
    pub(super) dropped_from: Option<u32>,
    /// Whether the document ended with a line `...`.
    pub(super) ended_by_marker: bool,
    /// Text that Kubernetes accepts although YAML 1.2 does not.
    pub(super) quirks: Vec<(Quirk, Span)>,
    /// Where comments are, up to where the grammar stopped.
    pub(super) comments: Vec<Span>,
}

/// Why a document cannot be read, in go-yaml's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// Where, as an offset in the file.
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
