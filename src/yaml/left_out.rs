//! What of a document nobody looks into.

/// Shorter texts are kept, whatever is in them, in bytes.
pub(super) const SHORT: usize = 32 * 1024;

/// So are longer ones. There is nearly always a line to show beside what is left out, and then both what was kept and all of the
/// text would be in memory.
const LONG: usize = 16 * 1024 * 1024;

/// A mapping that is left out in one of so many documents counts: each tree that keeps texts takes room for that.
pub(super) const FEW: usize = 32;

/// What is read and checked like everything else, and not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Mappings under these keys.
    pub under: &'static [&'static str],
    /// Everything inside the values of a root mapping that has not this key.
    pub without: Option<&'static str>,
}

impl LeftOut {
    /// Whether so much of a text is left out that each tree should keep what it needs of it, and nobody all of it: one of [`FEW`]
    /// documents mentions what is left out.
    pub(super) fn is_most_of(self, text: &str, documents: usize) -> bool {
        let wanted = documents.div_ceil(FEW);
        let has_enough = |key: &&str| text.matches(*key).take(wanted).count() == wanted;
        (SHORT..LONG).contains(&text.len()) && self.under.iter().any(has_enough)
    }
}
