//! The files of one state: their paths from the root of the repository, and where their contents are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::ObjectName;

/// One state of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The files, by path.
    pub files: BTreeMap<String, SnapshotFile>,
    /// The commit of each submodule, by path; empty if unknown. The files are in other
    /// repositories.
    pub submodules: BTreeMap<String, String>,
}

/// A file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The location of its content.
    pub content: FileContent,
    /// Whether the content is the path that a symbolic link leads to.
    pub is_link: bool,
    /// Whether git records it as executable; `false` for files on the disk, whose mode is on the disk.
    pub is_executable: bool,
}

/// The location of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// In the repository.
    Stored(ObjectName),
    /// In the work tree.
    Disk(PathBuf),
}

impl Snapshot {
    /// Returns the state after `before` of which only the paths that `includes` accepts have changed.
    pub fn within(&self, before: &Self, includes: impl Fn(&str) -> bool) -> Self {
        Self {
            files: limited([&before.files, &self.files], &includes),
            submodules: limited([&before.submodules, &self.submodules], &includes),
        }
    }

    /// Adds an entry with one of git's modes: a file, a link, or the commit of a submodule.
    pub(super) fn take(&mut self, mode: &str, name: &str, path: &str) {
        if mode == "160000" {
            self.submodules.insert(path.to_owned(), name.to_owned());
            return;
        }
        let file = SnapshotFile {
            content: FileContent::Stored(ObjectName::new(name)),
            is_link: mode == "120000",
            is_executable: mode == "100755",
        };
        self.files.insert(path.to_owned(), file);
    }
}
fn limited<T: Clone>(
    [before, after]: [&BTreeMap<String, T>; 2],
    includes: impl Fn(&str) -> bool,
) -> BTreeMap<String, T> {
    let changed = after.iter().filter(|(path, _)| includes(path));
    let before = before.iter().filter(|(path, _)| !includes(path));
    let all = before.chain(changed);
    all.map(|(path, entry)| (path.clone(), entry.clone()))
        .collect()
}
