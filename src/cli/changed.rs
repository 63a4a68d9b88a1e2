//! Which files a change touches, and which are as the commit has them, as git knows it.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::Error;
use crate::git::{GitError, Repository};

/// The files that differ between the working tree and the commit at which the current branch left `reference`, and all that
/// git does not know: of a file that it ignores, as rendered output often is, nobody can say that it did not change.
/// Absolute paths.
pub(super) fn changed_from(reference: &str) -> Result<Vec<String>, Error> {
    let changed = || {
        let repository = Repository::discover(Path::new("."))?;
        let base = repository.merge_base(reference)?;
        let root = repository.work_tree().ok_or(GitError::Bare { missing: "work tree" })?.to_owned();
        let names = repository.changed_since(&base)?.into_iter().chain(repository.unknown()?);
        Ok(names.map(|name| root.join(name).to_string_lossy().into_owned()).collect())
    };
    changed().map_err(|reason| Error::Changed { reference: reference.to_owned(), reason })
}

/// The files that are in the working tree as in the current commit, from the root of the repository; none without git.
pub(super) fn as_committed() -> BTreeSet<String> {
    let read = || {
        let repository = Repository::discover(Path::new("."))?;
        let committed = repository.snapshot_of("HEAD")?.files;
        let changed = repository.changed_since("HEAD")?;
        Ok::<_, GitError>(committed.into_keys().filter(|name| !changed.contains(name)).collect())
    };
    read().unwrap_or_default()
}
