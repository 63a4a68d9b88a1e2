//! The text that trees point into.

use std::ops::Deref;
use std::sync::Arc;

/// The text of a file, shared by the trees of one part of it. Each part counts its own: threads that count the same number wait for
/// each other, and a file may have a million trees.
#[derive(Clone, Debug)]
pub(super) struct PartText(Arc<CountedText>);

/// The text, with the count of the whole file.
#[derive(Debug)]
struct CountedText(Arc<String>);

impl PartText {
    /// For the trees of a whole file.
    pub(super) fn new(text: Arc<String>) -> Self {
        Self(Arc::new(CountedText(text)))
    }

    /// For the trees of another part.
    pub(super) fn apart(&self) -> Self {
        Self::new(Arc::clone(&self.0.0))
    }
}

impl Deref for PartText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0.0
    }
}
