//! What of a document nobody looks into.

/// What is read and checked like everything else, and not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Mappings under these keys.
    pub under: &'static [&'static str],
    /// Everything inside the values of a root mapping that has not this key.
    pub without: Option<&'static str>,
}
