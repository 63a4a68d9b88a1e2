//! The result of reading a file: documents, their problems, and errors.

use std::borrow::Cow;

use super::breakage::Breakage;
use super::tree::Tree;
use crate::Span;

/// One document of a file, as Kubernetes counts them.
#[derive(Clone, Debug)]
pub struct Document {
    /// 0-based, as in Kubernetes' reader; documents without an object count, too.
    pub index: u32,
    /// The text of the document. A leading `---` belongs to it, the `---` that ends it does not.
    pub span: Span,
    /// Whether Kubernetes reads the document as JSON or as YAML.
    pub format: Notation,
    /// The content of the document.
    pub content: Content,
    /// Fields and text that Kubernetes silently drops or overrides, in the order of their places.
    pub problems: Vec<Problem>,
    /// Text that Kubernetes accepts and YAML 1.2 forbids or reads differently, each with its place, in order.
    pub quirks: Vec<(Quirk, Span)>,
    /// The comments, in order; for an unreadable document those before the error. JSON has none.
    pub comments: Vec<Comment>,
}

/// The two languages of manifests. If the text starts with `{`, Kubernetes tries JSON first, and YAML if that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// YAML as go-yaml v2 reads it.
    #[default]
    Yaml,
    /// JSON as Go reads it.
    Json,
}

/// The content of one document.
#[derive(Clone, Debug)]
pub enum Content {
    /// Empty, comments only, or `null`: Kubernetes skips the document.
    Empty,
    /// A value.
    Value(Tree),
    /// Kubernetes rejects the document, or it is larger than what the API server takes.
    Unreadable(ReadError),
}

/// The error in a document that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The place of the error; never outside the file.
    pub span: Span,
    /// The message, in the words of Kubernetes' reader where it has any.
    pub message: Cow<'static, str>,
    pub(super) cause: Breakage,
}

impl ReadError {
    /// Returns the consequence of the error.
    pub fn reason(&self) -> &'static str {
        self.cause.reason()
    }

    /// Returns how to fix the error.
    pub fn help(&self) -> &'static str {
        self.cause.help(&self.message)
    }

    /// Whether braces of an unrendered Helm template broke the document: `{{ … }}` where YAML reads nested flow mappings,
    /// a bare line `{{- if … }}`, or an error on a line that contains braces. Braces inside quotes and block scalars are
    /// ordinary text.
    pub fn is_template(&self) -> bool {
        self.cause == Breakage::Braces
    }
}

/// A problem in a readable document that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of the problem.
    pub kind: ProblemKind,
    /// Its place.
    pub span: Span,
    /// A second place that belongs to the problem, if any.
    pub related: Option<Span>,
    /// The path of the field (`metadata.labels[app.kubernetes.io/name]`); empty for the document.
    pub path: String,
}

/// The kinds of problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A key appears twice in one mapping. `span` is the later key, whose value wins; `related` the earlier one, whose
    /// value is lost. Keys that become the same JSON key (`1` and `"1"`) collide as well, and there Kubernetes picks at
    /// random.
    DuplicateKey {
        /// The key in JSON.
        key: String,
    },
    /// A merge (`<<`) after a written key replaces its value: go-yaml v2 merges in written order,
    /// unlike YAML's merge type. `span` is the written key, `related` the `<<`.
    MergeOverride {
        /// The key in JSON.
        key: String,
    },
    /// Text that Kubernetes never reads. `span` covers all of it.
    DroppedContent {
        /// Why Kubernetes stopped.
        after: Dropped,
    },
    /// Bytes that are not UTF-8 were replaced by U+FFFD before the text was read. Callers that
    /// decode files add this problem. `span` is the first U+FFFD of the document.
    NotUtf8 {
        /// The number of replaced sequences in the document.
        count: usize,
    },
}

/// Why Kubernetes stops before the end of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A line `...` ended the document.
    DocumentEnd,
    /// The value was complete, for example a `{…}` at the top level, and more text followed.
    Root,
}

/// Text that go-yaml v2 accepts and YAML 1.2 forbids or reads differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quirk {
    /// A quoted scalar continues at or left of its parent's indentation.
    LowContinuation,
    /// A comment without a space before its `#`, as in `'x'#y`.
    CommentWithoutBlank,
    /// NEL, LS or PS is a line break in a quoted scalar, and is folded.
    UnicodeLineBreakInQuotes,
    /// NEL, LS or PS is a line break, so the text after it may be another key.
    UnicodeLineBreak,
}

impl Quirk {
    /// Describes it as a clause for a message.
    pub fn describe(self) -> &'static str {
        match self {
            Self::LowContinuation => {
                "a quoted text continues at or left of its parent's indentation"
            }
            Self::CommentWithoutBlank => "a comment begins without a space before it",
            Self::UnicodeLineBreakInQuotes => {
                "a Unicode line break (NEL, LS or PS) is folded inside quotes"
            }
            Self::UnicodeLineBreak => "a Unicode line break (NEL, LS or PS) ends a line",
        }
    }
}

/// A comment of a YAML document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The place from `#` to the end of the line.
    pub span: Span,
    /// Whether nothing else is on its line.
    pub own_line: bool,
}

impl Comment {
    /// Returns the text after `#`, as written in `file`.
    pub fn text(self, file: &str) -> &str {
        let text = file.get(self.span.range()).unwrap_or_default();
        text.strip_prefix('#').unwrap_or(text)
    }
}
