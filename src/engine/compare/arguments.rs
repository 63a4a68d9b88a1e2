//! Conversion of paths between the working directory and the root of its repository.

use std::path::Path;

use crate::git::{GitError, Repository};
use crate::inventory::locate;
use crate::kustomize::resolve;

/// Converts paths from the working directory into paths from the root; no path means the root.
pub(super) fn arguments(
    repository: &Repository,
    paths: &[String],
) -> Result<Vec<String>, GitError> {
    if paths.is_empty() {
        return Ok(vec![String::new()]);
    }
    paths
        .iter()
        .map(|path| argument(repository, path))
        .collect()
}

/// Converts a path from the working directory into one from the root of the repository.
pub(super) fn argument(repository: &Repository, path: &str) -> Result<String, GitError> {
    let place = if Path::new(path).is_absolute() {
        let root = repository.work_tree();
        root.and_then(|root| {
            let place = locate(path);
            let below = place.strip_prefix(locate(&root.to_string_lossy())).ok()?;
            Some(below.to_string_lossy().replace('\\', "/"))
        })
    } else {
        Some(resolve(repository.prefix(), &path.replace('\\', "/")))
    };
    place
        .filter(|place| !place.starts_with(".."))
        .ok_or_else(|| GitError::OutsideOfRepository {
            path: path.to_owned(),
        })
}

/// Converts a path from the root into one from the folder `prefix` of the repository.
pub(super) fn from_prefix(prefix: &str, path: &str) -> String {
    let mut above = prefix;
    let mut up = String::new();
    loop {
        if let Some(below) = path.strip_prefix(above) {
            return format!("{up}{below}");
        }
        up.push_str("../");
        // Up to the slash before the last folder.
        let parent = above.trim_end_matches('/').rfind('/');
        above = &prefix[..parent.map_or(0, |slash| slash + 1)];
    }
}
