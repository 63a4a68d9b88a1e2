//! The fast parser's only answer besides a tape.

/// The document is for the exact parser, which may well accept it. Says what is outside the subset; nobody but those who
/// measure the subset reads that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::yaml) struct Refused(pub(in crate::yaml) &'static str);
