//! Interned strings that many objects share.

use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::{Equivalent, HashSet};

/// Maximum number of interned values.
pub(super) const MOST_REMEMBERED: usize = 1024;

/// The interned values of one thread.
#[derive(Debug)]
pub(super) struct Remembered<T>(HashSet<Arc<T>, RandomState>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(HashSet::default())
    }
}

impl<T: Eq + Hash> Remembered<T> {
    /// Returns the interned value that equals `wanted`, or interns a new one. A full cache is cleared first.
    pub(super) fn shared<W: Hash + Equivalent<Arc<T>>>(
        &mut self,
        wanted: W,
        new: impl FnOnce(W) -> T,
    ) -> Arc<T> {
        if let Some(known) = self.0.get(&wanted) {
            return Arc::clone(known);
        }
        if self.0.len() == MOST_REMEMBERED {
            self.0.clear();
        }
        let new = Arc::new(new(wanted));
        self.0.insert(Arc::clone(&new));
        new
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
