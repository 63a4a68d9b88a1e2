//! The lengths of a text, in characters and UTF-16 units, up to many of its offsets: cached for manifests in one line.

use super::{ColumnUnit, floor};

/// The number of bytes of a block, in which characters are counted.
pub(super) const BLOCK: usize = 4096;

/// The length of a text up to each multiple of [`BLOCK`] bytes, rounded down to a character boundary: in characters,
/// and in UTF-16 units.
#[derive(Debug)]
pub(super) struct BlockLengths(Vec<[u32; 2]>);

impl BlockLengths {
    /// Counts the lengths.
    pub(super) fn new(text: &str) -> Self {
        let mut lengths = vec![[0, 0]];
        let mut start = 0;
        let mut characters = 0;
        let mut utf16 = 0;
        while start < text.len() {
            let end = floor(text, lengths.len() * BLOCK);
            let block = &text[start..end];
            characters += ColumnUnit::Chars.length(block) as u32;
            utf16 += ColumnUnit::Utf16.length(block) as u32;
            lengths.push([characters, utf16]);
            start = end;
        }
        Self(lengths)
    }

    /// Returns the length before a block.
    pub(super) fn up_to(&self, block: usize, unit: ColumnUnit) -> usize {
        let [characters, utf16] = self.0.get(block).copied().unwrap_or_default();
        let length = if unit == ColumnUnit::Utf16 {
            utf16
        } else {
            characters
        };
        length as usize
    }
}
