//! Paths that do not lead to ordinary files.

use std::path::{Component, Path};

/// Folders of the root in which an operating system shows devices and the like: reading from them can block forever.
const PSEUDO_FOLDERS: [&str; 3] = ["dev", "proc", "sys"];

/// The folder in one of them that contains ordinary files: a file system in memory.
const MEMORY: &str = "/dev/shm";

/// Whether a path as written leads to a device, or to a file descriptor of a shell: `/dev/stdin`, `/proc/self/fd/63`.
/// Such a path is read if the user names it, but not if a link leads to it.
pub fn names_a_device(path: &Path) -> bool {
    let mut components = path.components();
    components.next() == Some(Component::RootDir)
        && components.next().is_some_and(|folder| {
            PSEUDO_FOLDERS
                .iter()
                .any(|name| folder.as_os_str() == *name)
        })
        && !path.starts_with(MEMORY)
}
