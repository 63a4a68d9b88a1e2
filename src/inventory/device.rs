//! Paths that lead to no file.

use std::path::{Component, Path};

/// Where an operating system shows what is no file, below its root: a read of it can block forever.
const PSEUDO_FOLDERS: [&str; 3] = ["dev", "proc", "sys"];

/// The folder among them whose files are files: memory that is used as a disk.
const MEMORY: &str = "/dev/shm";

/// Whether a path as it is written leads to a device, or to a file descriptor of a shell: `/dev/stdin`, `/proc/self/fd/63`. Such
/// a path is meant.
pub fn names_a_device(path: &Path) -> bool {
    let mut components = path.components();
    let in_root = components.next() == Some(Component::RootDir);
    in_root
        && components.next().is_some_and(|folder| {
            PSEUDO_FOLDERS
                .iter()
                .any(|name| folder.as_os_str() == *name)
        })
        && !path.starts_with(MEMORY)
}
