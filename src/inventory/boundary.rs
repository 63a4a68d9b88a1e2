//! How far symbolic links may lead: a repository decides what it contains, not what else of the machine is read.

use std::path::{Component, Path, PathBuf};

use super::location::locate;

/// The folder of a repository in which git keeps its own files: configuration and credentials among them.
const GIT: &str = ".git";

/// Why a symbolic link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkEscape {
    /// It leads out of the boundary.
    Outside,
    /// It leads to git's own files.
    Git,
}

impl LinkEscape {
    /// To be read after the name of the link.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Outside => "is a symbolic link out of the tree: name the file that it leads to instead",
            Self::Git => "is a symbolic link into `.git`",
        }
    }
}

/// A folder that symbolic links must not leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    /// Absolute, links resolved.
    root: PathBuf,
}

impl Boundary {
    /// The repository that a folder is in; the folder itself where there is none. A folder that is a link is where it leads
    /// to: naming it is asking for that.
    pub(super) fn around(folder: &Path) -> Self {
        let folder = resolved(folder);
        Self { root: repository(&folder).unwrap_or(folder) }
    }

    /// The repository that a file is in by the text of its path, whatever links are on the way; without one the folder that
    /// really contains it.
    pub(super) fn of_file(path: &Path) -> Self {
        let written = without_dots(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        let folder = written.parent().unwrap_or(&written);
        let root = written_repository(folder).unwrap_or_else(|| folder.to_owned());
        Self { root: resolved(&root) }
    }

    /// Whether a link may lead to `place`, which is absolute with links resolved.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn admit(&self, place: &Path) -> Result<(), LinkEscape> {
        match place.strip_prefix(&self.root) {
            Err(_) => Err(LinkEscape::Outside),
            Ok(below) if below.iter().any(|part| part == GIT) => Err(LinkEscape::Git),
            Ok(_) => Ok(()),
        }
    }
}

/// Whether `path` is outside the repository that `file` is in. Nothing is where there is no repository.
pub fn leaves_repository_of(file: &str, path: &str) -> bool {
    let written = |path: &str| without_dots(&std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path)));
    let root = written(file).parent().and_then(written_repository);
    // A pattern that begins with a wildcard is below the current folder.
    let literal = path.split(['*', '?', '[', '{']).next().filter(|literal| !literal.is_empty()).unwrap_or(".");
    root.is_some_and(|root| !locate(literal).starts_with(resolved(&root)))
}

/// The folder with `.git` at or above this one.
fn repository(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|above| above.join(GIT).exists()).map(Path::to_owned)
}

/// The same by the text of the path: what a link of a repository leads to is no part of another one.
fn written_repository(folder: &Path) -> Option<PathBuf> {
    let mut found = None;
    let mut path = PathBuf::new();
    for part in folder.components() {
        path.push(part);
        if found.is_some() && path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            break;
        }
        if path.join(GIT).exists() {
            found = Some(path.clone());
        }
    }
    found
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// An absolute path without `..`, by its text.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
