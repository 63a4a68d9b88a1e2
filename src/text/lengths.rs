//! The lengths of a text, in characters and UTF-16 units, up to many of its offsets: cached for manifests in one line.

use super::ColumnUnit;

/// The number of bytes of a block, in which characters are counted.
pub(super) const BLOCK: usize = 4096;

/// The length of a text up to each multiple of [`BLOCK`] bytes, rounded down to a character boundary.
#[derive(Debug)]
pub(super) struct BlockLengths {
    characters: Vec<u32>,
    utf16: Vec<u32>,
}

impl BlockLengths {
    /// Counts the lengths.
    pub(super) fn of(text: &str) -> Self {
        let mut lengths = Self {
            characters: vec![0],
            utf16: vec![0],
        };
        let (mut start, mut sum) = (0, [0, 0]);
        while start < text.len() {
            let boundary = lengths.characters.len() * BLOCK;
            let end = (start + 1..=boundary.min(text.len()))
                .rev()
                .find(|at| text.is_char_boundary(*at));
            let end = end.unwrap_or(text.len());
            let block = &text[start..end];
            sum[0] += ColumnUnit::Chars.length(block) as u32;
            sum[1] += ColumnUnit::Utf16.length(block) as u32;
            lengths.characters.push(sum[0]);
            lengths.utf16.push(sum[1]);
            start = end;
        }
        lengths
    }

    /// Returns the length before a block.
    pub(super) fn up_to(&self, block: usize, unit: ColumnUnit) -> usize {
        let lengths = if unit == ColumnUnit::Utf16 {
            &self.utf16
        } else {
            &self.characters
        };
        lengths.get(block).copied().unwrap_or_default() as usize
    }
}
