//! Keys that a type does not have.

use crate::text::Span;

/// A key that the type does not have: strict clients reject it, others silently drop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The key.
    pub name: String,
    /// Where the key is.
    pub span: Span,
}
