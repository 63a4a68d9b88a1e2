//! Limits on the files that a run finds: an untrusted configuration can name the same folder in every bundle.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use foldhash::HashSet;

use super::error::InputError;

/// The maximum number of files in all bundles together. A file counts once for each bundle that contains it.
const MAX_FILES: usize = 500_000;

/// The maximum number of repeated visits to folder entries, manifests or not. The first visit does not count.
const MAX_ENTRIES: usize = 500_000;

/// The numbers of files and of repeated visits in all bundles of a run so far. The files of the first bundle are not
/// limited.
#[derive(Debug, Default)]
pub struct WalkBudget {
    files: Cell<usize>,
    entries: Cell<usize>,
    /// The visited folders, as absolute paths with links resolved.
    visited: RefCell<HashSet<PathBuf>>,
}

impl WalkBudget {
    /// Records a visit to a folder, and returns whether it was visited before.
    pub(super) fn visit(&self, folder: &Path) -> bool {
        !self.visited.borrow_mut().insert(folder.to_path_buf())
    }

    /// Records an entry of a folder that was visited before.
    pub(super) fn count_repeated_entry(&self) {
        self.entries.set(self.entries.get() + 1);
    }

    /// Checks whether the walk may go on to another argument.
    ///
    /// # Errors
    /// The arguments before it caused too many repeated visits.
    pub(super) fn admit_path(&self) -> Result<(), InputError> {
        Self::admit(
            self.entries.get(),
            MAX_ENTRIES,
            "repeated entries of folders",
        )
    }

    /// Records the files of a bundle.
    ///
    /// # Errors
    /// The bundles so far have too many files together.
    pub fn admit_files(&self, files: usize) -> Result<(), InputError> {
        let before = self.files.replace(self.files.get() + files);
        if before == 0 {
            Ok(())
        } else {
            Self::admit(before + files, MAX_FILES, "files")
        }
    }

    fn admit(spent: usize, most: usize, what: &'static str) -> Result<(), InputError> {
        if spent > most {
            Err(InputError::TooMany { most, what })
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_limit_applies_to_all_bundles_but_not_to_the_first() {
        let budget = WalkBudget::default();
        assert_eq!(budget.admit_files(2 * MAX_FILES), Ok(()));
        let too_many = Err(InputError::TooMany {
            most: MAX_FILES,
            what: "files",
        });
        assert_eq!(budget.admit_files(1), too_many);
        let budget = WalkBudget::default();
        assert_eq!(
            [budget.admit_files(MAX_FILES - 1), budget.admit_files(1)],
            [Ok(()), Ok(())]
        );
        assert_eq!(budget.admit_files(1), too_many);
    }

    #[test]
    fn repeated_folder_entries_count_against_the_limit() {
        let budget = WalkBudget::default();
        (0..=MAX_ENTRIES).for_each(|_| {
            assert_eq!(budget.admit_path(), Ok(()));
            budget.count_repeated_entry();
        });
        let too_many = InputError::TooMany {
            most: MAX_ENTRIES,
            what: "repeated entries of folders",
        };
        assert_eq!(budget.admit_path(), Err(too_many));
    }
}
