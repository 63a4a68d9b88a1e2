//! The identity of files, whichever way their paths are written.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The argument that means standard input, and the name it is reported under.
pub const STDIN: &str = "-";

/// The identity of a file: its absolute path with links resolved. All are normalized, so they are compared as strings,
/// not component by component as paths are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdentity(Arc<OsStr>);

impl FileIdentity {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl From<PathBuf> for FileIdentity {
    fn from(located: PathBuf) -> Self {
        Self(located.into_os_string().into())
    }
}

/// Returns the absolute path with links resolved, or the path itself if nothing is there.
pub(super) fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the absolute path that `path` means, with links resolved as far as it exists: `./a/../b.yaml` and
/// `/srv/b.yaml` may be the same file. Standard input (`-`) is itself.
pub fn locate(path: &str) -> PathBuf {
    if path == STDIN {
        return PathBuf::from(STDIN);
    }
    let Ok(absolute) = std::path::absolute(path) else {
        return PathBuf::from(path);
    };
    let mut rest = Vec::new();
    let mut existing: &Path = &absolute;
    loop {
        if let Ok(found) = existing.canonicalize() {
            return rest
                .into_iter()
                .rev()
                .fold(found, |path: PathBuf, name| path.join(name));
        }
        let (Some(name), Some(parent)) = (existing.file_name(), existing.parent()) else {
            return absolute;
        };
        rest.push(name);
        existing = parent;
    }
}
