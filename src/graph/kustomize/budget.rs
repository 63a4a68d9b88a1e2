//! The limits of builds.

use std::cell::{Cell, RefCell};

use foldhash::HashSet;

use super::build::BuildError;
use crate::kustomize::Limit;
use crate::text::Limits;

/// The remaining budget of builds: copies of objects, bytes of text, and levels of kustomizations.
#[derive(Debug)]
pub struct Budget {
    copies: Cell<usize>,
    text: Cell<usize>,
    /// Maximum nesting of kustomizations.
    pub(super) nesting: usize,
    /// The files that were read: the first copy of an object does not count.
    read: RefCell<HashSet<String>>,
}

impl Budget {
    /// Creates the budget of the limits.
    pub fn new(limits: &Limits) -> Self {
        Self {
            copies: Cell::new(limits.instances),
            text: Cell::new(limits.text),
            nesting: limits.nesting,
            read: RefCell::default(),
        }
    }

    /// Returns the limit because of which a build ended.
    pub fn spent(&self) -> Option<Limit> {
        if self.copies.get() == 0 {
            return Some(Limit::Instances);
        }
        (self.text.get() == 0).then_some(Limit::Text)
    }

    /// Takes the copies that a `file` requires, and returns the limit that is then reached.
    pub fn spend(&self, copies: usize, file: &str) -> Option<Limit> {
        // An error is a budget that is spent.
        let _ = self.take(copies, file);
        self.spent()
    }

    /// Takes the bytes of a text that a build makes.
    ///
    /// # Errors
    /// Returns the reason if fewer are left.
    pub fn take_text(&self, bytes: usize) -> Result<(), String> {
        let left = self.text.get().saturating_sub(bytes);
        self.text.set(left);
        if left > 0 {
            return Ok(());
        }
        Err("variables, templates and patches make more text than is allowed".to_owned())
    }

    /// Returns the number of bytes that builds may still make.
    pub fn text_left(&self) -> usize {
        self.text.get()
    }

    /// Takes the copies of the objects of a file that `by` includes; fails if fewer are left.
    pub(super) fn take_file(&self, path: &str, copies: usize, by: &str) -> Result<(), BuildError> {
        if self.read.borrow_mut().insert(path.to_owned()) {
            return Ok(());
        }
        self.take(copies, by)
    }

    /// Fails if a build is going to take more copies than are left: it would fail anyway, after making those.
    ///
    /// # Errors
    /// Returns an error if fewer are left.
    pub fn expect(&self, copies: usize, file: &str) -> Result<(), BuildError> {
        if copies < self.copies.get() {
            return Ok(());
        }
        self.take(copies, file)
    }

    /// Takes the copies that a `file` requires.
    ///
    /// # Errors
    /// Returns an error if fewer are left.
    pub fn take(&self, copies: usize, file: &str) -> Result<(), BuildError> {
        let left = self.copies.get().saturating_sub(copies);
        self.copies.set(left);
        if left > 0 {
            return Ok(());
        }
        let reason = "builds make more copies of objects than are allowed";
        Err(BuildError::new(reason, file, 1))
    }
}
