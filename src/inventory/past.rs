//! The result of a walk as of an earlier commit: changed files have their old content, new files are absent, deleted files
//! are present.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::budget::WalkBudget;
use super::error::InputError;
use super::exclusion::Exclusion;
use super::location::locate;
use super::walk::{reaches, walk_within};
use super::walked::{InputFile, Origin, Walk};
use crate::text::plain;

/// The earlier contents of the changed files below a folder. Earlier contents of other files, and of standard input,
/// are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    root: PathBuf,
    /// By absolute path; `None` if the path did not exist. The entry of a folder applies to everything below it.
    differing: BTreeMap<PathBuf, Option<Arc<[u8]>>>,
}

impl Past {
    /// Collects the earlier contents of files below `root`, by their paths from there; `None` for files that did not exist.
    pub fn new(root: &Path, files: impl IntoIterator<Item = (String, Option<Arc<[u8]>>)>) -> Self {
        let root = locate(&root.to_string_lossy());
        let differing = files
            .into_iter()
            .map(|(path, bytes)| (root.join(path), bytes))
            .collect();
        Self { root, differing }
    }

    /// Adds the earlier content of a file that is not in a commit, such as a rendering.
    pub fn add(&mut self, path: &str, text: &str) {
        self.differing
            .insert(locate(path), Some(text.as_bytes().into()));
    }

    /// Whether a file was changed, added or deleted.
    pub fn differs(&self, path: &str) -> bool {
        self.differing.contains_key(&locate(path))
    }

    /// Returns the changed, added and deleted files with these names, as paths from the current folder.
    pub fn differing(&self, names: &[&str]) -> impl Iterator<Item = String> {
        let here = locate(".");
        let differing = self.differing.keys().filter(|path| {
            let name = path.file_name().unwrap_or_default();
            names.iter().any(|one| name == *one)
        });
        differing.map(move |path| plain::path(path.strip_prefix(&here).unwrap_or(path)))
    }

    /// Returns the earlier content: `Some(None)` if it is unchanged, `None` if there was none or `identity` is outside.
    fn of(&self, identity: &Path) -> Option<Option<Arc<[u8]>>> {
        if !identity.starts_with(&self.root) {
            return None;
        }
        let mut above = identity
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.root));
        match above.find_map(|path| self.differing.get(path)) {
            Some(bytes) => bytes.clone().map(Some),
            None => Some(None),
        }
    }
}

/// Returns the result of [`walk`](fn@super::walk::walk) before a change.
///
/// # Errors
/// Errors of [`walk`](fn@super::walk::walk).
pub fn walk_past(
    arguments: &[String],
    exclude: &[String],
    past: &Past,
    budget: &WalkBudget,
) -> Result<Walk, InputError> {
    // A rendering has no file.
    let on_disk = arguments.iter().filter(|argument| {
        let place = locate(argument);
        place.exists() || !past.differing.contains_key(&place)
    });
    let on_disk: Vec<String> = on_disk.cloned().collect();
    let mut found = walk_within(&on_disk, exclude, budget)?;
    found
        .unreadable
        .retain(|file| past.of(&locate(&file.path)).is_some());
    found.files = found
        .files
        .into_iter()
        .filter(|file| file.origin != Origin::Stdin)
        .filter_map(|mut file| {
            if let Some(bytes) = past.of(file.identity.path())? {
                file.origin = Origin::Stored(bytes);
            }
            Some(file)
        })
        .collect();
    let here = locate(".");
    let exclude = Exclusion::new(exclude)?;
    for (identity, bytes) in &past.differing {
        let Some(bytes) = bytes.as_ref().filter(|_| !identity.exists()) else {
            continue;
        };
        let path = plain::path(identity.strip_prefix(&here).unwrap_or(identity));
        if reaches(arguments, &exclude, &path, identity) {
            found.files.push(InputFile {
                path,
                origin: Origin::Stored(Arc::clone(bytes)),
                identity: identity.clone().into(),
            });
        }
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
