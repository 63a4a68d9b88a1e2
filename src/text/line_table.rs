//! Where the lines of a text begin: a few bytes for each block of it, where a list would have four for every line.

use std::sync::OnceLock;

use memchr::{memchr_iter, memrchr};

use super::lengths::BLOCK;

/// Where the lines of one text begin; the empty one after a line break at the end counts. Counted when somebody asks for a place
/// beyond the first block: most files are asked for one near their beginning. Every call is given the text.
#[derive(Debug, Default)]
pub(super) struct LineTable(OnceLock<CountedLines>);

#[derive(Debug)]
struct CountedLines {
    blocks: Vec<BlockStart>,
    breaks: usize,
}

/// What is before a block.
#[derive(Clone, Copy, Debug, Default)]
struct BlockStart {
    /// How many line breaks.
    breaks: u32,
    /// Where the line begins that the block continues: lines may be longer than many blocks.
    line: u32,
}

/// Where a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineStart {
    /// Counted from 0.
    pub(super) index: usize,
    /// In bytes.
    pub(super) start: usize,
}

impl LineTable {
    /// The line around a place, which is at most the end of the text.
    pub(super) fn at(&self, text: &str, offset: usize) -> LineStart {
        let block = match offset / BLOCK {
            0 => BlockStart::default(),
            block => self.lines(text).blocks[block],
        };
        let from = offset / BLOCK * BLOCK;
        let before = &text.as_bytes()[from..offset];
        let start = memrchr(b'\n', before).map_or(block.line as usize, |at| from + at + 1);
        LineStart {
            index: block.breaks as usize + memchr_iter(b'\n', before).count(),
            start,
        }
    }

    /// Where a line begins, counted from 0; `None` if there are not so many.
    pub(super) fn start(&self, text: &str, index: usize) -> Option<usize> {
        if index == 0 {
            return Some(0);
        }
        let lines = self.lines(text);
        if index > lines.breaks {
            return None;
        }
        let block = lines
            .blocks
            .partition_point(|block| (block.breaks as usize) < index)
            .checked_sub(1)?;
        let from = block * BLOCK;
        let inside = &text.as_bytes()[from..text.len().min(from + BLOCK)];
        let last = index - lines.blocks[block].breaks as usize - 1;
        memchr_iter(b'\n', inside).nth(last).map(|at| from + at + 1)
    }

    /// How many there are.
    pub(super) fn count(&self, text: &str) -> usize {
        self.lines(text).breaks + 1
    }

    fn lines(&self, text: &str) -> &CountedLines {
        self.0.get_or_init(|| CountedLines::of(text.as_bytes()))
    }
}

impl CountedLines {
    fn of(text: &[u8]) -> Self {
        let mut next = BlockStart::default();
        let blocks = text.chunks(BLOCK).enumerate().map(|(at, block)| {
            let start = next;
            next.breaks += memchr_iter(b'\n', block).count() as u32;
            next.line =
                memrchr(b'\n', block).map_or(next.line, |last| (at * BLOCK + last + 1) as u32);
            start
        });
        let mut blocks: Vec<BlockStart> = blocks.collect();
        // Places at the end of the text are in no block if the last one is full.
        blocks.push(next);
        Self {
            blocks,
            breaks: next.breaks as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) {
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let table = LineTable::default();
        for offset in 0..=text.len() {
            let index = starts.partition_point(|start| *start <= offset) - 1;
            assert_eq!(
                table.at(text, offset),
                LineStart {
                    index,
                    start: starts[index]
                },
                "{offset}"
            );
        }
        for (index, start) in starts.iter().enumerate() {
            assert_eq!(table.start(text, index), Some(*start));
        }
        assert_eq!(
            (table.start(text, starts.len()), table.count(text)),
            (None, starts.len())
        );
    }

    #[test]
    fn lines_are_where_a_list_of_them_says() {
        for text in ["", "\n", "a", "a\n", "\n\n", "a\nb"] {
            checked(text);
        }
        let lines: String = (0..3 * BLOCK / 50)
            .map(|at| format!("{}\n", "x".repeat(at * 37 % 100)))
            .collect();
        checked(&lines);
        let long = "x".repeat(2 * BLOCK + 3);
        checked(&format!("a\n{long}\nb{long}"));
        for end in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK] {
            checked(&"x".repeat(end));
            checked(&format!("{}\n", "x".repeat(end - 1)));
            checked(&format!("{}\n", "x".repeat(end)));
            checked(&"\n".repeat(end));
        }
    }
}
