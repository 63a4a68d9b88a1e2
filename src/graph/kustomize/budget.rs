//! The limits of builds.

use std::cell::{Cell, RefCell};

use foldhash::HashSet;

use super::build::BuildError;
use crate::text::Limits;

/// The copies and levels that builds may still use: a tree of a few lines may ask for billions of copies.
#[derive(Debug)]
pub struct Budget {
    copies: Cell<usize>,
    /// Kustomizations within kustomizations that are followed.
    pub(super) nesting: usize,
    /// The files that were read: the first copy of an object does not count.
    read: RefCell<HashSet<String>>,
}

impl Budget {
    /// As much as the limits allow.
    pub fn of(limits: &Limits) -> Self {
        Self {
            copies: Cell::new(limits.instances),
            nesting: limits.nesting,
            read: RefCell::default(),
        }
    }

    /// Whether a build ended because it would have made more.
    pub fn is_spent(&self) -> bool {
        self.copies.get() == 0
    }

    /// Takes out the copies of the objects of a file that `by` includes.
    ///
    /// # Errors
    /// There are not as many.
    pub(super) fn take_file(&self, path: &str, copies: usize, by: &str) -> Result<(), BuildError> {
        if !self.read.borrow().contains(path) {
            self.read.borrow_mut().insert(path.to_owned());
            return Ok(());
        }
        self.take(copies, by)
    }

    /// Ends here if a build is going to ask for so many copies: it would end anyway, once it had made as many as are left.
    ///
    /// # Errors
    /// There are not as many.
    pub fn expect(&self, copies: usize, file: &str) -> Result<(), BuildError> {
        if copies < self.copies.get() {
            return Ok(());
        }
        self.take(copies, file)
    }

    /// Takes out the copies that a `file` asks for.
    ///
    /// # Errors
    /// There are not as many.
    pub fn take(&self, copies: usize, file: &str) -> Result<(), BuildError> {
        let left = self.copies.get().saturating_sub(copies);
        self.copies.set(left);
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
