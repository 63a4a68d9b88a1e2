//! A budget for finding the requests that webhooks are called for and the namespaces that aggregated APIs block.

use std::cell::Cell;

/// Total budget of all webhooks and aggregated APIs of a cluster.
const MAX_LOOKS: usize = 500_000;

/// The remaining budget, in comparisons with a kind or an object.
#[derive(Debug)]
pub struct RequestBudget {
    left: Cell<usize>,
    refused: Cell<usize>,
}

impl RequestBudget {
    /// Creates the full budget.
    pub fn all() -> Self {
        Self {
            left: Cell::new(MAX_LOOKS),
            refused: Cell::new(0),
        }
    }

    /// Charges `looks` comparisons; returns `false` and charges nothing if fewer are left.
    pub fn take(&self, looks: usize) -> bool {
        let left = self.left.get().checked_sub(looks);
        match left {
            Some(left) => self.left.set(left),
            None => self.refused.set(self.refused.get() + 1),
        }
        left.is_some()
    }

    /// Returns the number of charges that were refused.
    pub fn refused(&self) -> usize {
        self.refused.get()
    }
}
