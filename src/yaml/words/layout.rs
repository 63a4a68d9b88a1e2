//! What stands where in the words of a tree, and the numbers of the kinds of nodes.

use crate::yaml::limits::MAX_OFFSET;

/// The words before the first node, by what they say.
#[derive(Clone, Copy)]
pub(super) enum HeaderWord {
    Root,
    /// Where the list begins, as of those below.
    Entries,
    Items,
    /// Pairs: the first entry or item of a collection, and the one after its last.
    Bounds,
    /// Pairs, in order: an entry, and the index of its key's text.
    Elsewhere,
}

/// How many words there are before the first node.
pub(super) const NODES: usize = HeaderWord::Elsewhere as usize + 1;

/// How many words a node or an entry takes.
pub(super) const WIDTH: usize = 3;

/// Where the bits begin that say what something is, in a word of that many halves.
pub(super) const fn mark(halves: usize) -> u32 {
    16 * halves as u32 - 2
}

const _: () = assert!(MAX_OFFSET == 1 << mark(2));

pub(super) const NULL: u32 = 0;
pub(super) const FALSE: u32 = 1;
pub(super) const TRUE: u32 = 2;
pub(super) const NUMBER: u32 = 3;
pub(super) const WRITTEN: u32 = 4;
pub(super) const QUOTED: u32 = 5;
pub(super) const ELSEWHERE: u32 = 6;
pub(super) const MAP: u32 = 7;
pub(super) const SEQ: u32 = 8;
pub(super) const LEFT_OUT: u32 = 9;
pub(super) const INT: u32 = 10;
