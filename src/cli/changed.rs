//! The files of a Git commit: their content before a change, and which of them have not changed since.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::Error;
use crate::git::{Blobs, FileContent, GitError, Repository};
use crate::inventory::Past;

/// Returns the commit at which the current branch left `reference`, and the content of changed files at that commit.
/// Files that git does not track, ignored ones included, count as absent at that commit.
pub(super) fn changed_from(reference: &str) -> Result<(String, Past), Error> {
    past_of(reference).map_err(|reason| Error::Changed {
        reference: reference.to_owned(),
        reason,
    })
}

fn past_of(reference: &str) -> Result<(String, Past), GitError> {
    let repository = Repository::discover(Path::new("."))?;
    let base = repository.merge_base(reference, "HEAD")?;
    let root = repository
        .work_tree()
        .ok_or(GitError::Bare {
            missing: "work tree",
        })?
        .to_owned();
    let snapshot = repository.snapshot_of(&base)?;
    let names = repository
        .changed_since(&base)?
        .into_iter()
        .chain(repository.unknown()?);
    // Skip links: a changed target is listed under its own name.
    let names = names.filter(|name| !snapshot.files.get(name).is_some_and(|file| file.is_link));
    let names: Vec<String> = names.collect();
    let stored = names
        .iter()
        .filter_map(|name| Some((name.as_str(), snapshot.files.get(name)?)));
    let mut blobs = Blobs::default();
    repository.read(&mut blobs, stored)?;
    let files = names.into_iter().map(|name| {
        let content = snapshot.files.get(&name).map(|file| &file.content);
        let bytes = match content {
            Some(FileContent::Stored(object)) => blobs.get(object).bytes().cloned(),
            Some(FileContent::Disk(_)) | None => None,
        };
        (name, bytes)
    });
    Ok((base, Past::new(&root, files)))
}

/// Returns the files that are equal in the work tree and `HEAD`, relative to the repository's root.
///
/// # Errors
/// The working directory is in no repository, or git cannot read its files.
pub(super) fn as_committed() -> Result<BTreeSet<String>, GitError> {
    let repository = Repository::discover(Path::new("."))?;
    let committed = repository.snapshot_of("HEAD")?.files;
    let changed = repository.changed_since("HEAD")?;
    Ok(committed
        .into_keys()
        .filter(|name| !changed.contains(name))
        .collect())
}

/// Resolves a reference to the name of its commit; `None` without Git, or without such a commit.
pub(super) fn commit(reference: &str) -> Option<String> {
    Repository::discover(Path::new("."))
        .and_then(|repository| repository.commit(reference))
        .ok()
}

/// Returns the files of a commit, relative to the root of the repository.
///
/// # Errors
/// The working directory is in no repository, or the commit is unknown.
pub(super) fn files_of(reference: &str) -> Result<BTreeSet<String>, GitError> {
    let repository = Repository::discover(Path::new("."))?;
    let snapshot = repository.snapshot_of(&repository.commit(reference)?)?;
    Ok(snapshot.files.into_keys().collect())
}
