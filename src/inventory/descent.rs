//! Walks one folder with everything below it. Each folder is visited once, however many links lead to it, and no link
//! is followed out of the boundary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foldhash::HashSet;
use walkdir::{DirEntry, WalkDir};

use super::boundary::{Boundary, Escape};
use super::device::names_a_device;
use super::open::describe;
use super::walked::Collector;
use crate::text::plain;

/// Folders that never contain the user's manifests.
pub(super) const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// A walk through a folder.
pub(super) struct Descent<'a> {
    root: &'a Path,
    /// The reported path of the root; empty for the current folder.
    shown: &'a str,
    /// Selects the files to find.
    wanted: &'a dyn Fn(&Path) -> bool,
    boundary: Boundary,
    /// The visited folders, as absolute paths with links resolved.
    visited: HashSet<PathBuf>,
    /// Links that are still to be followed: the path under which each was found, and its absolute path.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Descent<'a> {
    pub(super) fn new(root: &'a Path, shown: &'a str, wanted: &'a dyn Fn(&Path) -> bool) -> Self {
        let shown = if shown == "." {
            ""
        } else {
            shown.trim_end_matches('/')
        };
        Self {
            root,
            shown,
            wanted,
            boundary: Boundary::around(root),
            visited: HashSet::default(),
            links: BTreeMap::new(),
        }
    }

    /// Finds the files: first those that are not behind links, then those behind links, in the order of the paths.
    pub(super) fn walk(mut self, found: &mut Collector<'_>) {
        match self.root.canonicalize() {
            Ok(place) => self.visit(self.root, &place, found),
            Err(error) => {
                let reported = self.report(self.root);
                found.add_unreadable(reported, self.root.to_owned(), describe(&error));
            }
        }
        while let Some((path, place)) = self.links.pop_first() {
            self.follow(&path, &place, found);
        }
    }

    /// Visits everything below a folder but the targets of links. `place` is its absolute path with links resolved.
    fn visit(&mut self, folder: &Path, place: &Path, found: &mut Collector<'_>) {
        let mut walk = WalkDir::new(folder).sort_by_file_name().into_iter();
        // For each depth, whether an earlier argument visited the folder.
        let mut again: Vec<bool> = Vec::new();
        while let Some(entry) = walk.next() {
            let depth = entry
                .as_ref()
                .map_or_else(walkdir::Error::depth, DirEntry::depth);
            again.truncate(depth);
            if again.last() == Some(&true) {
                found.budget.count_repeated_entry();
            }
            match entry {
                Ok(entry) if entry.file_type().is_dir() || entry.depth() == 0 => {
                    let place = place_below(place, folder, entry.path());
                    if is_skipped(&entry)
                        || names_a_device(&place)
                        || !self.visited.insert(place.clone())
                    {
                        walk.skip_current_dir();
                    } else {
                        again.push(found.budget.visit(&place));
                    }
                }
                Ok(entry) if entry.path_is_symlink() => {
                    if !is_skipped(&entry) {
                        let place = place_below(place, folder, entry.path());
                        self.links.insert(entry.into_path(), place);
                    }
                }
                Ok(entry) if (self.wanted)(entry.path()) => {
                    let path = entry.path();
                    let reported = self.report(path);
                    let place = place_below(place, folder, path);
                    if entry.file_type().is_file() {
                        found.add_regular_file(path, place, reported);
                    } else {
                        found.add_file(path, place, reported);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let Some(path) = error.path() else { continue };
                    let reason = error.io_error().map_or_else(|| error.to_string(), describe);
                    let place = place_below(place, folder, path);
                    found.add_unreadable(self.report(path), place, reason);
                }
            }
        }
    }

    /// Follows a link if it stays within the boundary. `place` is the absolute path of the link itself.
    fn follow(&mut self, path: &Path, place: &Path, found: &mut Collector<'_>) {
        let reported = self.report(path);
        let wanted = (self.wanted)(path);
        let metadata = match (path.metadata(), path.canonicalize()) {
            (Ok(metadata), Ok(target)) => Ok((metadata, target)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        match metadata {
            Ok((metadata, target)) if metadata.is_dir() => match self.boundary.admit(&target) {
                Ok(()) if place.starts_with(&target) => {
                    let target = self.report_place(&target);
                    let back = format!("is a symbolic link back to `{target}`, a loop");
                    found.add_unreadable(reported, place.to_owned(), back);
                }
                Ok(()) => self.visit(path, &target, found),
                Err(Escape::Outside) => found.add_outside(reported),
                Err(Escape::Git | Escape::Link) => {}
            },
            // A link to a file matters only if its name is that of a manifest.
            _ if !wanted => {}
            Ok((_, target)) => match self.boundary.admit(&target) {
                Ok(()) => found.add_file(path, target, reported),
                Err(escape) => {
                    found.add_unreadable(reported, place.to_owned(), escape.of_link().to_owned());
                }
            },
            Err(_) => {
                let reason = "is a broken symbolic link".to_owned();
                found.add_unreadable(reported, place.to_owned(), reason);
            }
        }
    }

    /// Returns the reported path of a path below the root.
    fn report(&self, path: &Path) -> String {
        let below = plain::path(path.strip_prefix(self.root).unwrap_or(path));
        match self.shown {
            "" if self.root.has_root() => format!("/{below}"),
            "" => below,
            shown if below.is_empty() => shown.to_owned(),
            shown => format!("{shown}/{below}"),
        }
    }

    /// Returns the reported path of an absolute path with links resolved.
    fn report_place(&self, place: &Path) -> String {
        let root = self.root.canonicalize().ok();
        match root.and_then(|root| place.strip_prefix(root).ok()) {
            Some(below) => {
                let reported = self.report(&self.root.join(below));
                reported.trim_end_matches('/').to_owned()
            }
            None => plain::path(place),
        }
    }
}

/// Returns the absolute path of `path`, which is in or below `folder`; `place` is the absolute path of `folder`.
fn place_below(place: &Path, folder: &Path, path: &Path) -> PathBuf {
    place.join(path.strip_prefix(folder).unwrap_or(path))
}

/// Whether a folder never contains the user's manifests. The root is always searched.
fn is_skipped(entry: &DirEntry) -> bool {
    entry.depth() > 0
        && SKIPPED_FOLDERS
            .iter()
            .any(|folder| entry.file_name() == *folder)
}
