//! How long a text is in characters and in UTF-16 units, up to many of its places: counted once, for a manifest in one line.

use super::ColumnUnit;

/// Characters are counted in blocks of so many bytes.
pub(super) const BLOCK: usize = 4096;

/// How long a text is up to each multiple of [`BLOCK`] bytes, or the beginning of the character there.
#[derive(Debug)]
pub(super) struct BlockLengths {
    characters: Vec<u32>,
    utf16: Vec<u32>,
}

impl BlockLengths {
    /// Counts them.
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

    /// The length before a block.
    pub(super) fn up_to(&self, block: usize, unit: ColumnUnit) -> usize {
        let lengths = if unit == ColumnUnit::Utf16 {
            &self.utf16
        } else {
            &self.characters
        };
        lengths.get(block).copied().unwrap_or_default() as usize
    }
}
