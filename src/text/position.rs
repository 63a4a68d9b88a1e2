//! Lines and columns as editors and formats count them.

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Bytes of UTF-8: the JSON contracts, rdjson, compilers.
    Utf8,
    /// Unicode scalar values: terminals and people.
    Chars,
    /// UTF-16 code units: SARIF, GitHub's annotations and the language server protocol.
    Utf16,
}

impl ColumnUnit {
    /// Returns the length of `text` in this unit.
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Chars => text.chars().count(),
            // One unit per character, two where UTF-8 takes four bytes, the first of which is at least 0xf0. Counting
            // bytes is much faster than decoding, which matters for a manifest in one line of JSON.
            Self::Utf16 => text.chars().count() + text.bytes().filter(|&byte| byte >= 0xf0).count(),
        }
    }
}

/// A place in a file as people count: line and column both start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based line.
    pub line: usize,
    /// 1-based column in the requested unit.
    pub column: usize,
}
