//! A range of bytes in one text.

/// A half-open range of bytes, `start..end`, counted from the first byte of the text.
///
/// Offsets are `u32`: texts of 4 GiB and more have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the range `start..end`. An `end` before `start` gives the empty span at `start`.
    pub fn new(start: u32, end: u32) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// Creates the empty span at `offset`.
    pub fn empty(offset: u32) -> Self {
        Self {
            start: offset,
            end: offset,
        }
    }

    /// Returns the length in bytes.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the span covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the bytes of this span as a range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether `offset` is inside.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }
}
