//! Discovery of the configuration: in the folder of the first path or above it, up to the root of the repository.

use std::path::{Component, Path, PathBuf};

use super::Mistake;
use crate::inventory::{STDIN, locate};

/// The file names of a configuration.
pub const FILE_NAMES: [&str; 2] = ["ownerlint.yaml", ".ownerlint.yaml"];

/// Returns the path of the nearest configuration, relative to `working_directory`. The search goes
/// from the folder of the first of `paths` (of a glob, the part before its first wildcard), or from
/// `working_directory` if there is none but standard input, up to the folder with `.git`.
///
/// # Errors
/// A folder has files of both names.
pub fn discover(paths: &[String], working_directory: &Path) -> Result<Option<String>, Mistake> {
    let here = locate(&working_directory.to_string_lossy());
    let first = paths.iter().map(String::as_str).find(|path| *path != STDIN);
    let start = first.map_or_else(|| here.clone(), |path| folder_of_argument(&here.join(path)));
    for folder in start.ancestors() {
        let names: Vec<_> = FILE_NAMES
            .into_iter()
            .filter(|name| folder.join(name).is_file())
            .collect();
        match names.as_slice() {
            [] => {}
            [name] => return Ok(Some(relative(&folder.join(name), &here))),
            [first, second, ..] => {
                let [first, second] =
                    [first, second].map(|name| relative(&folder.join(name), &here));
                return Err(Mistake::ambiguous(&first, &second));
            }
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

/// Returns the deepest existing folder on the path of an argument.
fn folder_of_argument(argument: &Path) -> PathBuf {
    let existing = argument
        .ancestors()
        .find(|path| path.is_dir())
        .unwrap_or(argument);
    locate(&existing.to_string_lossy())
}

/// Returns `path` relative to `folder`, both absolute, with forward slashes. Without a common folder it stays absolute.
pub(crate) fn relative(path: &Path, folder: &Path) -> String {
    let shared = path
        .components()
        .zip(folder.components())
        .take_while(|(a, b)| a == b)
        .count();
    let only_root = path
        .components()
        .take(shared)
        .all(|part| !matches!(part, Component::Normal(_)));
    if only_root && folder.components().count() > shared {
        return path.to_string_lossy().replace('\\', "/");
    }
    let up = folder.components().skip(shared).map(|_| "..".to_owned());
    let down = path
        .components()
        .skip(shared)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Returns the folder of a configuration, with a trailing slash; empty for the working directory.
pub fn folder_of(config: &str) -> &str {
    config.rfind('/').map_or("", |at| &config[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_path_is_relative_to_working_directory() {
        for (path, folder, shown) in [
            (
                "/home/me/repo/ownerlint.yaml",
                "/home/me/repo",
                "ownerlint.yaml",
            ),
            (
                "/home/me/repo/ownerlint.yaml",
                "/home/me/repo/a/b",
                "../../ownerlint.yaml",
            ),
            (
                "/home/me/repo/a/ownerlint.yaml",
                "/home/me/repo",
                "a/ownerlint.yaml",
            ),
            ("/srv/x/ownerlint.yaml", "/home/me", "/srv/x/ownerlint.yaml"),
        ] {
            assert_eq!(relative(Path::new(path), Path::new(folder)), shown);
        }
    }
}
