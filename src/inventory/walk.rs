//! Finds the files that the arguments of the command line lead to.

use std::path::{Path, PathBuf};

use foldhash::HashSet;
use globset::GlobSet;

use super::budget::WalkBudget;
use super::descent::Descent;
use super::error::InputError;
use super::exclusion::Exclusion;
use super::location::{STDIN, locate, resolved};
use super::walked::{Collector, Walk};
use crate::text::{glob, plain};

/// Whether [`walk`] would find a file at `path` if it were there. `identity` is its absolute path.
pub(super) fn reaches(
    arguments: &[String],
    exclude: &Exclusion,
    path: &str,
    identity: &Path,
) -> bool {
    let shown = path.strip_prefix("./").unwrap_or(path);
    let reached = arguments.iter().any(|argument| {
        let root = locate(argument);
        let folder = Path::new(argument).is_dir()
            && is_manifest_name(identity)
            && identity.starts_with(&root);
        folder || root == identity || matcher(argument).is_ok_and(|glob| glob.is_match(shown))
    });
    reached && !exclude.is_match(shown)
}

/// Finds the manifests under `arguments`: directories (searched for `.yaml`, `.yml` and `.json`), files of any name,
/// globs, and `-`. Files whose reported path matches one of `exclude` are left out. `.gitignore` is not honoured,
/// because rendered output is often ignored. Symbolic links are followed within the repository of an argument, or,
/// without a repository, within the argument. Files elsewhere must be arguments themselves. A file that is reached
/// twice is read once.
///
/// # Errors
/// An argument does not exist, cannot be read, or is a glob that is malformed or matches nothing.
pub fn walk(arguments: &[String], exclude: &[String]) -> Result<Walk, InputError> {
    walk_within(arguments, exclude, &WalkBudget::default())
}

/// Walks for one of many bundles, which share a budget.
///
/// # Errors
/// Errors of [`walk`], and an exhausted budget.
pub(super) fn walk_within(
    arguments: &[String],
    exclude: &[String],
    budget: &WalkBudget,
) -> Result<Walk, InputError> {
    let exclude = Exclusion::new(exclude)?;
    let mut found = Collector::new(&exclude, budget);
    let mut seen = HashSet::default();
    for argument in arguments.iter().filter(|argument| seen.insert(*argument)) {
        found.budget.admit_path()?;
        if argument == STDIN {
            found.add_stdin();
        } else if Path::new(argument).symlink_metadata().is_ok() {
            add_existing(&mut found, argument)?;
        } else if argument.contains(['*', '?', '[', '{']) {
            add_glob(&mut found, argument)?;
        } else {
            return Err(InputError::missing(argument));
        }
    }
    Ok(found.finish())
}

/// Compiles globs in which `*` stays within a folder and `**` crosses folders.
///
/// # Errors
/// One of them is malformed.
pub fn globs(patterns: &[String]) -> Result<GlobSet, InputError> {
    let set = glob::globs(patterns.iter().map(String::as_str));
    set.map_err(|(pattern, reason)| InputError::Glob {
        pattern: pattern.to_owned(),
        reason,
    })
}

/// Compiles one glob like [`globs`].
pub(super) fn matcher(pattern: &str) -> Result<GlobSet, InputError> {
    globs(&[pattern.to_owned()])
}

/// Finds the files that an existing argument leads to.
fn add_existing(found: &mut Collector<'_>, argument: &str) -> Result<(), InputError> {
    let path = Path::new(argument);
    let metadata = path.metadata().map_err(|error| InputError::Unreadable {
        path: argument.to_owned(),
        reason: error.to_string(),
    })?;
    if metadata.is_dir() {
        Descent::new(path, argument, &is_manifest_name).walk(found);
    } else {
        found.add_file(path, resolved(path), plain::path(path));
    }
    Ok(())
}

/// Finds the files that a pattern matches.
fn add_glob(found: &mut Collector<'_>, pattern: &str) -> Result<(), InputError> {
    let matcher = matcher(pattern)?;
    let literal: PathBuf = Path::new(pattern)
        .iter()
        .take_while(|part| !part.to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let root = if literal.as_os_str().is_empty() {
        Path::new(".")
    } else {
        &literal
    };
    let before = found.found;
    Descent::new(root, &literal.to_string_lossy(), &|path| {
        matcher.is_match(path.strip_prefix(".").unwrap_or(path))
    })
    .walk(found);
    if found.found == before {
        Err(InputError::NoMatch {
            pattern: pattern.to_owned(),
        })
    } else {
        Ok(())
    }
}

/// Whether a search of folders finds a file of this name.
pub(crate) fn is_manifest_name(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["yaml", "yml", "json"]
        .iter()
        .any(|wanted| extension.eq_ignore_ascii_case(wanted))
}
