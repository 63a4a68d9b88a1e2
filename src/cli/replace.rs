//! Atomic replacement of files: a full disk or an interrupt leaves the old file as it was.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::error::Error;

use crate::inventory::{names_a_device, place_to_write};

/// Writes a file through a temporary file beside it. A link is replaced, never followed, because it may have come with
/// the repository. Anything but a regular file, such as `/dev/stdout`, is written directly. The written file is never
/// executable, even if the old one was.
pub(super) fn replace(path: &str, text: &str) -> Result<(), Error> {
    put(Path::new(path), text, not_executable).map_err(|reason| Error::Write {
        place: format!("`{path}`"),
        reason,
    })
}

/// Writes an existing file like [`replace`], but keeps all of its permissions.
pub(super) fn rewrite(path: &Path, text: &str) -> io::Result<()> {
    put(path, text, |permissions| permissions)
}

fn put(path: &Path, text: &str, keep: fn(Permissions) -> Permissions) -> io::Result<()> {
    let place = place_to_write(path)?;
    let there = place.symlink_metadata().ok();
    if names_a_device(path)
        || there
            .as_ref()
            .is_some_and(|metadata| !metadata.is_file() && !metadata.is_symlink())
    {
        return File::options()
            .write(true)
            .open(place)?
            .write_all(text.as_bytes());
    }
    if there
        .as_ref()
        .is_some_and(|metadata| metadata.permissions().readonly())
    {
        // Renaming would ignore that the old file is read-only.
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let permissions = there
        .filter(|metadata| metadata.is_file())
        .map(|metadata| keep(metadata.permissions()));
    // The error omits the name of the temporary file, which is internal.
    let folder = place.parent().unwrap_or(&place);
    let mut file = temporary(folder).map_err(|error| io::Error::from(error.kind()))?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&place).map_err(|error| error.error)?;
    Ok(())
}

/// Creates a temporary file with the usual permissions; by default, only its owner could read it.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ownerlint-");
    if let Some(permissions) = usual() {
        builder.permissions(permissions);
    }
    builder.tempfile_in(folder)
}

#[cfg(unix)]
fn usual() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual() -> Option<Permissions> {
    None
}

#[cfg(unix)]
fn not_executable(permissions: Permissions) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(permissions.mode() & 0o666)
}

#[cfg(not(unix))]
fn not_executable(permissions: Permissions) -> Permissions {
    permissions
}
