//! Reads the bytes of files: regular ones only, up to a maximum size. Others may block, or never end.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;

use super::boundary::Boundary;
use super::device::names_a_device;
use super::location::{STDIN, resolved};
use crate::text::SourceFile;

/// The reason why a device or a similar file is not read.
pub(super) const IRREGULAR: &str = "is not a regular file";

/// Reads the bytes of a file.
///
/// # Errors
/// Returns a reason that follows the name of the file: it is not a regular file (unless the path names a device), is
/// too large, or cannot be read.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    read_file_at(path, &resolved(path))
}

/// Reads a file like [`read_file`], for callers that know its `place`: its absolute path with links resolved. Resolving
/// the path of every file in a folder takes longer than reading them.
pub(super) fn read_file_at(path: &Path, place: &Path) -> Result<Vec<u8>, String> {
    if names_a_device(path) {
        return read_limited(File::open(path).map_err(|error| describe(&error))?, 0);
    }
    if names_a_device(place) {
        return Err(IRREGULAR.to_owned());
    }
    let file = opened(path).map_err(|error| describe(&error))?;
    // Uses the metadata of the opened file: the path may lead to another one by now.
    let metadata = file.metadata().map_err(|error| describe(&error))?;
    match metadata.len() {
        _ if metadata.is_dir() => Err("is a folder".to_owned()),
        _ if !metadata.is_file() => Err(IRREGULAR.to_owned()),
        // Some file systems report no length.
        0 => read_limited(file, 0),
        // Reads only the length at the time of opening. Detecting the end would take another system call.
        1..=SourceFile::MAX_BYTES => read_limited(file.take(metadata.len()), metadata.len()),
        _ => Err(too_large()),
    }
}

/// Opens a file without blocking: a FIFO would wait for a writer.
fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits() as i32,
    );
    options.read(true).open(path)
}

/// Reads all bytes of a stream, of the probable length `expected`.
///
/// # Errors
/// The stream fails, or exceeds the maximum size of a file.
pub(super) fn read_limited(source: impl Read, expected: u64) -> Result<Vec<u8>, String> {
    let limit = SourceFile::MAX_BYTES;
    // With one byte more, the end is detected without growing the buffer.
    let mut bytes = Vec::with_capacity(expected.min(limit) as usize + 1);
    source
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| describe(&error))?;
    if bytes.len() as u64 > limit {
        Err(too_large())
    } else {
        Ok(bytes)
    }
}

/// Reads a file that is written for ownerlint: a configuration, a baseline, steps. Mistakes in it are shown with the
/// lines around them, so a link must not lead to a file outside the repository.
///
/// # Errors
/// Errors of `read_file`, and a symbolic link out of the repository.
pub fn read_own_file(path: &str) -> Result<Vec<u8>, String> {
    if path == STDIN {
        return read_limited(std::io::stdin().lock(), 0);
    }
    let path = Path::new(path);
    if names_a_device(path) {
        read_file(path)
    } else {
        read_in_tree(path, None)
    }
}

/// Reads a file of a tree: of the folder `root` and its repository, or else of the repository that contains the file.
///
/// # Errors
/// Errors of `read_file`, and a symbolic link out of the tree.
pub fn read_in_tree(path: &Path, root: Option<&Path>) -> Result<Vec<u8>, String> {
    let place = path.canonicalize().map_err(|error| describe(&error))?;
    let boundary = root.map_or_else(|| Boundary::of_file(path), Boundary::around);
    let admitted = boundary.admit(&place);
    admitted.map_err(|escape| escape.of_link().to_owned())?;
    read_file_at(path, &place)
}

/// Returns the reason why a file over the maximum size is not read.
pub fn too_large() -> String {
    format!("is larger than {} MiB", SourceFile::MAX_BYTES / 1024 / 1024)
}

/// Describes an operating system's error, without its number.
pub(super) fn describe(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => "cannot be opened: permission denied".to_owned(),
        std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        _ => error.to_string(),
    }
}
