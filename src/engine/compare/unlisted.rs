//! The files beside the manifests of an input: builds read those that a kustomization names, such as the `files` of a
//! generator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::{DirEntry, WalkDir};

use super::state::Bytes;
use crate::git::is_git_folder;
use crate::inventory::{is_manifest_name, read_in_tree};
use crate::kustomize::{ancestors, resolve, shown};
use crate::text::plain;

/// Files whose names are not those of manifests, by path. Each is read when a build asks for it.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct UnlistedFiles {
    files: BTreeMap<String, OnDisk>,
}

#[derive(Clone, Debug)]
struct OnDisk {
    path: PathBuf,
    /// The folder in which it was found: a link must not lead out of its tree.
    root: Arc<Path>,
}

impl UnlistedFiles {
    /// Lists the files in and below `folders`, which are resolved paths. Those that do not exist are ignored.
    pub(in crate::engine) fn below(folders: &BTreeSet<String>) -> Self {
        let mut files = BTreeMap::new();
        for folder in folders.iter().filter(|folder| !is_below(folder, folders)) {
            let root: Arc<Path> = Path::new(shown(folder)).into();
            let others = entries(&root).filter(|entry| !is_manifest_name(entry.path()));
            files.extend(others.map(|entry| {
                let root = Arc::clone(&root);
                let place = resolve("", &plain::path(entry.path()));
                let path = entry.into_path();
                (place, OnDisk { path, root })
            }));
        }
        Self { files }
    }

    /// Returns the files below a folder, by their paths from it.
    pub(in crate::engine) fn within(&self, top: &str) -> Self {
        let start = match top {
            "" => String::new(),
            top => format!("{top}/"),
        };
        let from = self.files.range(start.clone()..);
        let below = from.map_while(|(path, file)| Some((path.strip_prefix(&start)?, file)));
        Self {
            files: below
                .map(|(path, file)| (path.trim_start_matches('/').to_owned(), file.clone()))
                .collect(),
        }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(super) fn read(&self, path: &str) -> Bytes {
        let file = self.files.get(path).ok_or("was not read")?;
        read_in_tree(&file.path, Some(&file.root)).map(Arc::from)
    }
}

/// Returns the files and the symbolic links in and below a folder, except in `.git`. Links are not followed.
pub(super) fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    WalkDir::new(folder)
        .into_iter()
        .filter_entry(|entry| !is_git_folder(entry.file_name()))
        .flatten()
        .filter(|entry| !entry.file_type().is_dir())
}

/// Whether a folder lies below one of `folders`.
fn is_below(folder: &str, folders: &BTreeSet<String>) -> bool {
    let is_outside = folder.starts_with('/') || folder.starts_with("..");
    ancestors(folder)
        .skip(1)
        .any(|above| folders.contains(above) && !(above.is_empty() && is_outside))
}
