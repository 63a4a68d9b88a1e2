//! An interner for values that many objects share.

use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::{Equivalent, HashSet};

/// Maximum number of interned values.
pub(super) const CAPACITY: usize = 1024;

/// The interned values of one thread.
#[derive(Debug)]
pub(super) struct Interner<T>(HashSet<Arc<T>, RandomState>);

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self(HashSet::default())
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// Returns the interned value that equals `wanted`, or interns a new one. A full cache is cleared first.
    pub(super) fn intern<W: Hash + Equivalent<Arc<T>>>(
        &mut self,
        wanted: W,
        new: impl FnOnce(W) -> T,
    ) -> Arc<T> {
        if let Some(known) = self.0.get(&wanted) {
            return Arc::clone(known);
        }
        if self.0.len() == CAPACITY {
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
