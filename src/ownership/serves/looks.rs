//! How much is looked at to find what webhooks are asked about, and what aggregated APIs hold.

use std::cell::Cell;

/// All of them together are compared with so many kinds and objects.
const MOST_LOOKS: usize = 500_000;

/// Remaining looks. A cluster has tens of webhooks; thousands of them and thousands of objects would take the product.
#[derive(Debug)]
pub struct RequestLooks {
    left: Cell<usize>,
    refused: Cell<usize>,
}

impl RequestLooks {
    /// All of them.
    pub fn all() -> Self {
        Self {
            left: Cell::new(MOST_LOOKS),
            refused: Cell::new(0),
        }
    }

    /// Takes as many as one webhook or API needs; false if there are not so many left. Then it is left out.
    pub fn take(&self, looks: usize) -> bool {
        if let Some(left) = self.left.get().checked_sub(looks) {
            self.left.set(left);
        } else {
            self.refused.set(self.refused.get() + 1);
            return false;
        }
        true
    }

    /// The webhooks and APIs that were left out.
    pub fn refused(&self) -> usize {
        self.refused.get()
    }
}
