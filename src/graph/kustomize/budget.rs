//! How much builds may make.

use std::cell::Cell;

use super::build::BuildError;

/// The copies of objects that builds may still make: a tree of a few lines may ask for billions.
#[derive(Debug)]
pub struct Budget(Cell<usize>);

impl Budget {
    /// So many copies.
    pub fn of(most: usize) -> Self {
        Self(Cell::new(most))
    }

    /// Whether a build ended because it would have made more.
    pub fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Takes out the copies that a `file` asks for.
    ///
    /// # Errors
    /// There are not as many.
    pub fn take(&self, copies: usize, file: &str) -> Result<(), BuildError> {
        let left = self.0.get().saturating_sub(copies);
        self.0.set(left);
        if left > 0 {
            return Ok(());
        }
        Err(BuildError {
            reason: "builds make more copies of objects than are allowed".to_owned(),
            file: file.to_owned(),
            line: 1,
        })
    }
}
