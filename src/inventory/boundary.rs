//! Limits on symbolic links and on the paths of a configuration: a repository must not make ownerlint read or write
//! files elsewhere on the machine.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::device::names_a_device;
use super::location::{locate, resolved};
use crate::git::in_git_folder;

/// The folder in which Git keeps its own files, among them configuration and credentials.
const GIT: &str = ".git";

/// The reason why a path is neither read nor written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// It leads out of the boundary.
    Outside,
    /// It leads to Git's own files.
    Git,
    /// It is or contains a symbolic link, and links are not followed when writing.
    Link,
}

impl Escape {
    /// Returns the reason, worded to follow the name of a symbolic link.
    pub(super) fn of_link(self) -> &'static str {
        match self {
            Self::Outside => {
                "is a symbolic link out of the tree: name the file that it leads to instead"
            }
            Self::Git => "is a symbolic link into `.git`",
            Self::Link => "is a symbolic link",
        }
    }

    /// Returns the reason, worded to follow a path in a configuration.
    pub fn of_configured_path(self) -> &'static str {
        match self {
            Self::Outside => "is outside the repository",
            Self::Git => "is in `.git`",
            Self::Link => "is a symbolic link, or behind one",
        }
    }
}

/// A folder that symbolic links must not leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    /// An absolute path with links resolved.
    root: PathBuf,
}

impl Boundary {
    /// Returns the repository that contains `folder`, or the folder itself if there is none. If `folder` is a link, its
    /// target counts, since the user named it.
    pub(super) fn around(folder: &Path) -> Self {
        let folder = resolved(folder);
        let repository = folder.ancestors().find(|above| above.join(GIT).exists());
        Self {
            root: repository.unwrap_or(&folder).to_owned(),
        }
    }

    /// Returns the repository in which the path of a file lies before links are resolved, or, without a repository, the
    /// folder of the file with links resolved.
    pub(super) fn of_file(path: &Path) -> Self {
        let written = written(path);
        let folder = written.parent().unwrap_or(&written);
        let root = written_repository(folder).unwrap_or_else(|| folder.to_owned());
        Self {
            root: resolved(&root),
        }
    }

    /// Checks whether a link may lead to `place`, which is absolute with links resolved.
    ///
    /// # Errors
    /// Returns the reason if it may not.
    pub(super) fn admit(&self, place: &Path) -> Result<(), Escape> {
        match place.strip_prefix(&self.root) {
            Err(_) => Err(Escape::Outside),
            // The component before `..` does not exist, so the target is unknown.
            Ok(below) if below.components().any(|part| part == Component::ParentDir) => {
                Err(Escape::Outside)
            }
            Ok(below) if in_git_folder(below) => Err(Escape::Git),
            Ok(_) => Ok(()),
        }
    }
}

/// Checks a path or glob of manifests in the configuration `config`. Without a repository, only Git's own files are
/// refused.
///
/// # Errors
/// The path leads out of the repository of the configuration, or into `.git`.
pub fn admit_manifests(config: &str, path: &str) -> Result<(), Escape> {
    // A glob that begins with a wildcard is below the current folder.
    let literal = path
        .split(['*', '?', '[', '{'])
        .next()
        .filter(|literal| !literal.is_empty())
        .unwrap_or(".");
    let config = written(Path::new(config));
    let place = locate(literal);
    match config.parent().and_then(written_repository) {
        Some(root) => {
            let root = resolved(&root);
            Boundary { root }.admit(&place)
        }
        None if in_git_folder(&place) => Err(Escape::Git),
        None => Ok(()),
    }
}

/// Checks `path`, a file of ownerlint that `config` names, such as a baseline, before reading it.
///
/// # Errors
/// The path leads out of the repository of the configuration (without one: out of its folder), or into `.git`.
pub fn admit_own_file(config: &str, path: &str) -> Result<(), Escape> {
    Boundary::of_file(Path::new(config)).admit(&locate(path))
}

/// Checks `path`, a file of ownerlint that `config` names, such as a baseline, before writing it.
///
/// # Errors
/// Errors of [`admit_own_file`], and a symbolic link anywhere below the root.
pub fn admit_own_file_for_writing(config: &str, path: &str) -> Result<(), Escape> {
    let root = Boundary::of_file(Path::new(config)).root;
    admit_own_file(config, path)?;
    let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let mut below = path.ancestors().take_while(|above| resolved(above) != root);
    if below.any(Path::is_symlink) {
        Err(Escape::Link)
    } else {
        Ok(())
    }
}

/// Returns the place of a file that will be replaced: its absolute path, with the links of its folder resolved. If the
/// file itself is a link, that link is replaced. The path of a device is returned unchanged.
///
/// # Errors
/// The folder does not exist, or a symbolic link on the way leads out of the repository, or into `.git`.
pub fn place_to_write(path: &Path) -> io::Result<PathBuf> {
    if names_a_device(path) {
        return Ok(path.to_owned());
    }
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    admitted_to_write(path, folder.canonicalize()?.join(name))
}

/// Returns the place of a file that will be edited: its absolute path, with all links resolved.
///
/// # Errors
/// The file does not exist, or a symbolic link on the way leads out of the repository, or into `.git`.
pub fn place_to_edit(path: &Path) -> io::Result<PathBuf> {
    admitted_to_write(path, path.canonicalize()?)
}

/// Returns `place`, to which `path` leads, if that is allowed. A `path` that contains `.git` is.
fn admitted_to_write(path: &Path, place: PathBuf) -> io::Result<PathBuf> {
    let leads = match Boundary::of_file(path).admit(&place) {
        Err(Escape::Git) if !in_git_folder(path) => "into `.git`",
        Err(Escape::Outside) => "out of the repository",
        _ => return Ok(place),
    };
    Err(io::Error::other(format!(
        "a symbolic link on the way leads {leads}"
    )))
}

/// Returns the innermost repository along a path. Links within a repository are not followed into another one.
fn written_repository(folder: &Path) -> Option<PathBuf> {
    let mut found = None;
    let mut path = PathBuf::new();
    for part in folder.components() {
        path.push(part);
        if found.is_some() && path.is_symlink() {
            break;
        }
        if path.join(GIT).exists() {
            found = Some(path.clone());
        }
    }
    found
}

/// Returns the absolute path, with `..` removed textually.
fn written(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for part in absolute.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}
