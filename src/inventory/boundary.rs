//! How far symbolic links and the paths of a configuration may lead: a repository decides what it contains, not what else of the
//! machine is read or written.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::device::names_a_device;
use super::location::locate;
use crate::git::in_git_folder;

/// The folder of a repository in which git keeps its own files: configuration and credentials among them.
const GIT: &str = ".git";

/// Why a path is neither read nor written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// It leads out of the boundary.
    Outside,
    /// It leads to git's own files.
    Git,
    /// It is or goes through a symbolic link, where none is followed.
    Link,
}

impl Escape {
    /// To be read after the name of a symbolic link.
    pub(super) fn of_link(self) -> &'static str {
        match self {
            Self::Outside => {
                "is a symbolic link out of the tree: name the file that it leads to instead"
            }
            Self::Git => "is a symbolic link into `.git`",
            Self::Link => "is a symbolic link",
        }
    }

    /// To be read after a path of a configuration.
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
    /// Absolute, links resolved.
    root: PathBuf,
}

impl Boundary {
    /// The repository that a folder is in; the folder itself where there is none. A folder that is a link is where it leads
    /// to: naming it is asking for that.
    pub(super) fn around(folder: &Path) -> Self {
        let folder = resolved(folder);
        Self {
            root: repository(&folder).unwrap_or(folder),
        }
    }

    /// The repository that a file is in by the text of its path, whatever links are on the way; without one the folder that
    /// really contains it.
    pub(super) fn of_file(path: &Path) -> Self {
        let written = written(path);
        let folder = written.parent().unwrap_or(&written);
        let root = written_repository(folder).unwrap_or_else(|| folder.to_owned());
        Self {
            root: resolved(&root),
        }
    }

    /// Whether a link may lead to `place`, which is absolute with links resolved.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn admit(&self, place: &Path) -> Result<(), Escape> {
        match place.strip_prefix(&self.root) {
            Err(_) => Err(Escape::Outside),
            // The name before it does not exist, so its target is unknown.
            Ok(below) if below.components().any(|part| part == Component::ParentDir) => {
                Err(Escape::Outside)
            }
            Ok(below) if in_git_folder(below) => Err(Escape::Git),
            Ok(_) => Ok(()),
        }
    }
}

/// Admits a path or a pattern of manifests that the configuration `config` names. Where there is no repository, only git's own
/// files are refused.
///
/// # Errors
/// It leads out of the repository of the configuration, or into `.git`.
pub fn admit_manifests(config: &str, path: &str) -> Result<(), Escape> {
    // A pattern that begins with a wildcard is below the current folder.
    let literal = path
        .split(['*', '?', '[', '{'])
        .next()
        .filter(|literal| !literal.is_empty())
        .unwrap_or(".");
    let root = written(Path::new(config))
        .parent()
        .and_then(written_repository);
    let place = locate(literal);
    match root {
        Some(root) => Boundary {
            root: resolved(&root),
        }
        .admit(&place),
        None if in_git_folder(&place) => Err(Escape::Git),
        None => Ok(()),
    }
}

/// Admits a file of ownerlint's own that the configuration `config` names, for reading.
///
/// # Errors
/// It leads out of the repository of the configuration (without one: out of its folder), or into `.git`.
pub fn admit_own_file(config: &str, path: &str) -> Result<(), Escape> {
    Boundary::of_file(Path::new(config)).admit(&locate(path))
}

/// Admits a file of ownerlint's own that the configuration `config` names, for writing.
///
/// # Errors
/// As those of [`admit_own_file`], and a symbolic link anywhere below the root.
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

/// The place of a file that is about to be replaced: its absolute path with the links of its folder resolved. A link in the place
/// of the file itself is not resolved: it is replaced. A device is itself.
///
/// # Errors
/// There is no such folder, or a symbolic link on the way leads out of the repository, or into `.git`.
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

/// The place of a file that is about to be edited: its absolute path, all links resolved.
///
/// # Errors
/// There is no such file, or a symbolic link on the way leads out of the repository, or into `.git`.
pub fn place_to_edit(path: &Path) -> io::Result<PathBuf> {
    admitted_to_write(path, path.canonicalize()?)
}

/// `place` is where `path` leads. A path that says `.git` itself is meant.
fn admitted_to_write(path: &Path, place: PathBuf) -> io::Result<PathBuf> {
    let refused = |leads: &str| {
        Err(io::Error::other(format!(
            "a symbolic link on the way leads {leads}"
        )))
    };
    match Boundary::of_file(path).admit(&place) {
        Err(Escape::Git) if !in_git_folder(path) => refused("into `.git`"),
        Err(Escape::Outside) => refused("out of the repository"),
        _ => Ok(place),
    }
}

/// The folder with `.git` at or above this one.
fn repository(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .find(|above| above.join(GIT).exists())
        .map(Path::to_owned)
}

/// Compares the text of the path: the target of a link of a repository is no part of another one.
fn written_repository(folder: &Path) -> Option<PathBuf> {
    let mut found = None;
    let mut path = PathBuf::new();
    for part in folder.components() {
        path.push(part);
        if found.is_some()
            && path
                .symlink_metadata()
                .is_ok_and(|metadata| metadata.is_symlink())
        {
            break;
        }
        if path.join(GIT).exists() {
            found = Some(path.clone());
        }
    }
    found
}

/// The absolute path by its text, without `..`.
fn written(path: &Path) -> PathBuf {
    without_dots(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
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
