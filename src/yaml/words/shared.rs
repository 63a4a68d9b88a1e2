//! Words that several trees share.
//!
//! Who writes hundreds of thousands of small documents has a program that does so. What they say differs, and where it stands in
//! them hardly does: most of their trees have the same words.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::text::QuickHasher;

/// How many different words are remembered.
const REMEMBERED: usize = 256;

/// The words of a larger tree are its own, in halves.
const LARGE: usize = 512;

/// The words of the last small trees.
#[derive(Default)]
pub(in crate::yaml) struct SharedWords {
    /// By their hash; none before the first.
    last: Vec<Option<Arc<[u16]>>>,
    /// Where words are written before it is known whether they are there already.
    scratch: Vec<u16>,
}

impl SharedWords {
    /// So many halves that `write` writes, which may be those of another tree.
    pub(super) fn words(&mut self, halves: usize, write: impl FnOnce(&mut [u16])) -> Arc<[u16]> {
        if halves > LARGE {
            // Written where they stay: there is no room for a second copy of the largest.
            let mut words: Arc<[u16]> = std::iter::repeat_n(0, halves).collect();
            if let Some(written) = Arc::get_mut(&mut words) {
                write(written);
            }
            return words;
        }
        self.last.resize(REMEMBERED, None);
        self.scratch.resize(LARGE, 0);
        let written = &mut self.scratch[..halves];
        write(written);
        let place = &mut self.last[hash(written) % REMEMBERED];
        match place {
            Some(words) if **words == *written => Arc::clone(words),
            _ => Arc::clone(place.insert((&*written).into())),
        }
    }
}

fn hash(halves: &[u16]) -> usize {
    let mut hasher = QuickHasher::default();
    halves.hash(&mut hasher);
    hasher.finish() as usize
}
