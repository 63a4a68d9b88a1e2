//! Patterns of the git generators of Argo CD, and of the paths in their templates.

use globset::GlobSet;

use crate::kustomize::{folder_of, resolve};
use crate::text::glob::{compiled, glob, with_unknown_parts};

/// A pattern of a git generator or of a path in a template. A pattern that is malformed or too large matches nothing.
#[derive(Debug)]
pub struct GitPattern {
    /// The folder that contains all paths that may match.
    start: String,
    glob: Option<GlobSet>,
    paths: Paths,
}

/// The paths that a pattern may match.
#[derive(Debug)]
enum Paths {
    /// Folders of which no part is hidden.
    VisibleFolders,
    /// Any folder: a parameter may name a hidden one, too.
    Folders,
    /// Files that match, and all files below this folder.
    Files(String),
}

impl GitPattern {
    /// Reads an entry of `directories`: `*` stays within a name, and so does `**`; hidden folders never match (argo-cd
    /// applicationset/generators/git.go, filterApps; Go path.Match).
    pub fn folders(pattern: &str) -> Self {
        Self {
            start: fixed_folder(pattern).to_owned(),
            glob: glob(&within_names(escaped(pattern))).ok(),
            paths: Paths::VisibleFolders,
        }
    }

    /// Reads an entry of `files`, a pathspec of `git ls-files`: `*` crosses folders, and a folder stands for the files
    /// below it.
    pub fn files(pattern: &str) -> Self {
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        Self {
            start: fixed_folder(pattern).to_owned(),
            glob: compiled(&escaped(pattern), false).ok(),
            paths: Paths::Files(pattern.to_owned()),
        }
    }

    /// Reads a path with unknown parts, each within one folder name. The path must not be [wholly
    /// unknown](Self::is_wholly_unknown).
    pub fn partly_unknown(path: &str) -> Self {
        let pattern = of_partly_unknown(path);
        Self {
            start: fixed_folder(&pattern).to_owned(),
            glob: glob(&within_names(pattern)).ok(),
            paths: Paths::Folders,
        }
    }

    /// Whether nothing is known of a path with unknown parts, so that it names no folder.
    pub fn is_wholly_unknown(path: &str) -> bool {
        !of_partly_unknown(path).contains(|c: char| c != '*' && c != '/')
    }

    /// Returns the folder that contains all paths that may match.
    pub(super) fn start(&self) -> &str {
        &self.start
    }

    /// Whether the pattern matches a folder or, if it is of `files`, a file.
    pub fn is_match(&self, path: &str) -> bool {
        let fits_glob = self.glob.as_ref().is_some_and(|glob| glob.is_match(path));
        match &self.paths {
            Paths::VisibleFolders => {
                let is_hidden = path.split('/').any(|name| name.starts_with('.'));
                fits_glob && !path.is_empty() && !is_hidden
            }
            Paths::Folders => fits_glob && !path.is_empty(),
            Paths::Files(folder) => {
                let below = path.strip_prefix(folder.as_str());
                fits_glob || below.is_some_and(|rest| rest.starts_with('/'))
            }
        }
    }
}

fn of_partly_unknown(path: &str) -> String {
    resolve("", &with_unknown_parts(path, "*"))
}

/// Replaces `**`, which would cross folders, by `*`.
fn within_names(mut pattern: String) -> String {
    while pattern.contains("**") {
        pattern = pattern.replace("**", "*");
    }
    pattern
}

/// Escapes braces, which are literal in these patterns.
fn escaped(pattern: &str) -> String {
    pattern.replace('{', "[{]").replace('}', "[}]")
}

/// Returns the folder that contains all paths that a pattern may match.
fn fixed_folder(pattern: &str) -> &str {
    let end = pattern
        .find(['*', '?', '[', '\\', '{'])
        .unwrap_or(pattern.len());
    folder_of(&pattern[..end])
}
