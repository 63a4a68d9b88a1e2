//! The files of a state in a temporary folder, written as they are stored: no filter, hook or driver of Git is applied.

use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use super::RenderError;
use crate::git::in_git_folder;

/// A file to check out.
#[derive(Clone, Copy, Debug)]
pub struct CheckoutFile<'a> {
    /// Its path from the root, with slashes.
    pub path: &'a str,
    /// Its content; for a link, its target.
    pub bytes: &'a [u8],
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Whether it may be executed.
    pub is_executable: bool,
}

/// A tree in which renderers run, and a temporary folder for their homes, removed on drop.
#[derive(Debug)]
pub struct Checkout {
    folder: TempDir,
    /// The root of the tree, if it is not a temporary one.
    existing: Option<PathBuf>,
}

impl Checkout {
    /// Writes the files into a new folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn of<'a>(files: impl IntoIterator<Item = CheckoutFile<'a>>) -> Result<Self, RenderError> {
        let found = Self {
            folder: temporary()?,
            existing: None,
        };
        let root = found.root();
        std::fs::create_dir(&root).map_err(failed)?;
        // Links come last: nothing is written through one.
        let (links, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.is_link);
        for file in files.into_iter().chain(links) {
            write(&root, file)?;
        }
        Ok(found)
    }

    /// Uses the existing tree at `root`.
    ///
    /// # Errors
    /// Returns an error if the temporary folder cannot be written.
    pub fn existing(root: PathBuf) -> Result<Self, RenderError> {
        Ok(Self {
            folder: temporary()?,
            existing: Some(root),
        })
    }

    /// Returns the root of the tree.
    pub fn root(&self) -> PathBuf {
        self.existing
            .clone()
            .unwrap_or_else(|| self.folder.path().join("tree"))
    }

    /// Creates a home folder for one program.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn home(&self) -> Result<TempDir, RenderError> {
        tempfile::Builder::new()
            .prefix("home-")
            .tempdir_in(self.folder.path())
            .map_err(failed)
    }
}

fn temporary() -> Result<TempDir, RenderError> {
    tempfile::Builder::new()
        .prefix("ownerlint-")
        .tempdir()
        .map_err(failed)
}

/// Writes one file. Skips paths that leave the tree or enter a Git folder, which Git does not write
/// either, and links that may lead out of the tree.
fn write(root: &Path, file: CheckoutFile<'_>) -> Result<(), RenderError> {
    if !stays_inside("", file.path) || in_git_folder(Path::new(file.path)) {
        return Ok(());
    }
    let path = root.join(file.path);
    let folder = path.parent().unwrap_or(root);
    if file.is_link {
        let target = String::from_utf8_lossy(file.bytes);
        let above = file.path.rsplit_once('/').map_or("", |(above, _)| above);
        if !stays_inside(above, &target) || turns_back(&target) || path.symlink_metadata().is_ok() {
            return Ok(());
        }
        std::fs::create_dir_all(folder).map_err(failed)?;
        return link(&target, &path).map_err(failed);
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    std::fs::write(&path, file.bytes).map_err(failed)?;
    if file.is_executable {
        executable(&path).map_err(failed)?;
    }
    Ok(())
}

/// Whether a path stays in the tree at every step, if it starts in the folder `from`.
fn stays_inside(from: &str, path: &str) -> bool {
    let mut depth = Path::new(from).components().count();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    !path.is_empty()
}

/// Whether a path has a `..` after a name: if the name is a link, the path leads elsewhere.
fn turns_back(path: &str) -> bool {
    Path::new(path)
        .components()
        .skip_while(|part| matches!(part, Component::ParentDir | Component::CurDir))
        .any(|part| part == Component::ParentDir)
}

#[cfg(unix)]
fn link(target: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Creates no link: outside of Unix, links need permissions that users rarely have.
#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn executable(path: &Path) -> std::io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn failed(error: std::io::Error) -> RenderError {
    RenderError::Checkout(error.to_string())
}
