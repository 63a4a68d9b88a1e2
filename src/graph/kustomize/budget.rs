//! The limits of builds.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

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
    /// The files that were included: the first inclusion of a file takes no copies.
    included: RefCell<HashSet<Arc<str>>>,
    /// Everything that was taken.
    taken: RefCell<Taken>,
}

/// Amounts that were taken from a budget.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    copies: usize,
    text: usize,
    /// The files that were included, each with the number of its objects.
    files: Vec<(Arc<str>, usize)>,
}

impl Budget {
    /// Creates the budget of the limits.
    pub fn new(limits: &Limits) -> Self {
        Self {
            copies: Cell::new(limits.instances),
            text: Cell::new(limits.text),
            nesting: limits.nesting,
            included: RefCell::default(),
            taken: RefCell::default(),
        }
    }

    /// Runs `build`, and also returns what it takes.
    pub fn recorded<T>(&self, build: impl FnOnce() -> T) -> (T, Taken) {
        let before = self.taken.borrow();
        let (copies, text, files) = (before.copies, before.text, before.files.len());
        drop(before);
        let outcome = build();
        let after = self.taken.borrow();
        let taken = Taken {
            copies: after.copies - copies,
            text: after.text - text,
            files: after.files[files..].to_vec(),
        };
        (outcome, taken)
    }

    /// Takes what an equal build took. Returns `false` and takes nothing if the budget might not suffice for that build.
    pub fn repeat(&self, taken: &Taken) -> bool {
        let of_files: usize = taken.files.iter().map(|(_, objects)| objects).sum();
        let copies = taken.copies.saturating_add(of_files);
        let is_left = copies < self.copies.get() && taken.text < self.text.get();
        if is_left {
            for (path, objects) in &taken.files {
                self.include(path, *objects);
            }
            self.lower_copies(taken.copies);
            self.lower_text(taken.text);
        }
        is_left
    }

    /// Returns the limit that is reached, if the budget is spent.
    pub fn spent(&self) -> Option<Limit> {
        if self.copies.get() == 0 {
            return Some(Limit::Instances);
        }
        (self.text.get() == 0).then_some(Limit::Text)
    }

    /// Takes the copies that a `file` requires, and returns the limit that is then reached.
    pub fn spend(&self, copies: usize, file: &str) -> Option<Limit> {
        // An error means that the budget is spent.
        let _ = self.take(copies, file);
        self.spent()
    }

    /// Takes the bytes of a text that a build produces.
    ///
    /// # Errors
    /// Returns the reason if this uses up the budget.
    pub fn take_text(&self, bytes: usize) -> Result<(), String> {
        if self.lower_text(bytes) > 0 {
            return Ok(());
        }
        Err("variables, templates and patches make more text than is allowed".to_owned())
    }

    /// Returns the number of bytes of text that builds may still produce.
    pub fn text_left(&self) -> usize {
        self.text.get()
    }

    /// Takes the copies of objects of a file that `by` includes; fails if this uses up the budget.
    pub(super) fn take_file(&self, path: &str, copies: usize, by: &str) -> Result<(), BuildError> {
        let left = self.include(&Arc::from(path), copies);
        in_budget(left, by)
    }

    /// Records that a file is included. The first time, takes nothing and returns `usize::MAX`;
    /// otherwise, takes its copies and returns the number of copies left.
    fn include(&self, path: &Arc<str>, copies: usize) -> usize {
        let included = (Arc::clone(path), copies);
        self.taken.borrow_mut().files.push(included);
        let is_first = self.included.borrow_mut().insert(Arc::clone(path));
        let left = self.copies.get();
        if is_first {
            return usize::MAX;
        }
        let left = left.saturating_sub(copies);
        self.copies.set(left);
        left
    }

    fn lower_copies(&self, copies: usize) -> usize {
        let mut taken = self.taken.borrow_mut();
        taken.copies = taken.copies.saturating_add(copies);
        let left = self.copies.get().saturating_sub(copies);
        self.copies.set(left);
        left
    }

    fn lower_text(&self, bytes: usize) -> usize {
        let mut taken = self.taken.borrow_mut();
        taken.text = taken.text.saturating_add(bytes);
        let left = self.text.get().saturating_sub(bytes);
        self.text.set(left);
        left
    }

    /// Fails early if a build would use up the budget for copies.
    ///
    /// # Errors
    /// Returns an error if at most `copies` are left.
    pub fn expect(&self, copies: usize, file: &str) -> Result<(), BuildError> {
        if copies < self.copies.get() {
            return Ok(());
        }
        self.take(copies, file)
    }

    /// Takes the copies that a `file` requires.
    ///
    /// # Errors
    /// Returns an error if this uses up the budget.
    pub fn take(&self, copies: usize, file: &str) -> Result<(), BuildError> {
        in_budget(self.lower_copies(copies), file)
    }
}

/// Fails if no copies are left for `file`.
fn in_budget(left: usize, file: &str) -> Result<(), BuildError> {
    if left > 0 {
        return Ok(());
    }
    let reason = "builds make more copies of objects than are allowed";
    Err(BuildError::new(reason, file, 1))
}
