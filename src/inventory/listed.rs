//! Finds files for arguments like [`walk`](super::walk), but among the listed paths of a commit.

use std::path::Path;

use globset::GlobSet;

use super::descent::SKIPPED_FOLDERS;
use super::error::InputError;
use super::walk::{is_manifest_name, matcher};
use crate::kustomize::{ancestors, folder_of};
use crate::manifest::is_kustomization;

/// The files that arguments lead to.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// The indices of the files in the list.
    pub found: Vec<usize>,
    /// The arguments that lead to no file.
    pub missing: Vec<String>,
    /// The arguments, to match files of any type.
    pub requested: RequestedPaths,
}

/// The characters of globs.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Finds the files that `arguments` name among `paths`. An argument is a file of any name, a glob, or a folder, which
/// stands for the files in and below it that have names of manifests. An empty argument is the whole list. A missing
/// file is not an error, since one of two commits may lack it.
///
/// # Errors
/// A glob is malformed.
pub fn walk_listed(paths: &[&str], arguments: &[String]) -> Result<Listed, InputError> {
    let mut found = vec![false; paths.len()];
    let mut missing = Vec::new();
    let mut globs = Vec::new();
    for argument in arguments {
        let mut hits = places(paths, |path| {
            path == argument || is_manifest_below(argument, path)
        });
        if hits.is_empty() && argument.contains(GLOB) {
            let matcher = matcher(argument)?;
            hits = places(paths, |path| matcher.is_match(path));
            globs.push(matcher);
        }
        if hits.is_empty() && !argument.is_empty() {
            missing.push(argument.clone());
        }
        for at in hits {
            found[at] = true;
        }
    }
    let found = (0..paths.len()).filter(|at| found[*at]).collect();
    let requested = RequestedPaths {
        paths: arguments.to_vec(),
        globs,
    };
    Ok(Listed {
        found,
        missing,
        requested,
    })
}

/// The requested paths of a tree, for files of any type. By default all files are requested.
#[derive(Clone, Debug, Default)]
pub struct RequestedPaths {
    paths: Vec<String>,
    globs: Vec<GlobSet>,
}

impl RequestedPaths {
    /// Whether a path is requested, is below a requested folder, or matches a glob.
    pub fn has(&self, path: &str) -> bool {
        let is_named =
            |requested: &String| requested.is_empty() || ancestors(path).any(|at| at == requested);
        self.paths.is_empty()
            || self.paths.iter().any(is_named)
            || self.globs.iter().any(|glob| glob.is_match(path))
    }
}

fn places(paths: &[&str], wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    paths
        .iter()
        .enumerate()
        .filter(|(_, path)| wanted(path))
        .map(|(at, _)| at)
        .collect()
}

/// Whether the name of a file in or below `folder` is that of a manifest.
fn is_manifest_below(folder: &str, path: &str) -> bool {
    (folder.is_empty() || ancestors(folder_of(path)).any(|above| above == folder))
        && (is_manifest_name(Path::new(path)) || is_kustomization(path))
        && !path.split('/').any(|part| SKIPPED_FOLDERS.contains(&part))
}
