//! The files that deliveries lead to, and the files that a kustomization above them leaves out.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::files::TreeFiles;
use super::kustomize::{KustomizationDoc, kustomization};
use crate::kustomize::{ancestors, folder_of};

/// The files that each delivery leads to, found without a build. Two deliveries for each place are
/// enough to know whether another one leads there, and keep the cost linear in the entries.
pub(super) struct Reached<'r> {
    files: &'r TreeFiles<'r>,
    /// The indices of at most two deliveries for each place.
    by: HashMap<String, Vec<usize>>,
    /// The entries of each folder.
    entries: HashMap<String, Vec<String>>,
}

impl<'r> Reached<'r> {
    pub(super) fn new(files: &'r TreeFiles<'r>) -> Self {
        Self {
            files,
            by: HashMap::default(),
            entries: HashMap::default(),
        }
    }

    /// Sets the entries of a place that is not a plain folder, such as a folder for which Flux generates a
    /// kustomization, before the place is followed.
    pub(super) fn set_entries(&mut self, place: &str, entries: impl FnOnce() -> Vec<String>) {
        if !self.entries.contains_key(place) {
            self.entries.insert(place.to_owned(), entries());
        }
    }

    /// Marks `pending` and everything that it leads to as reached by the delivery `number`.
    pub(super) fn follow(&mut self, number: usize, mut pending: Vec<String>) {
        while let Some(place) = pending.pop() {
            let by = self.by.entry(place.clone()).or_default();
            if by.len() > 1 || by.contains(&number) {
                continue;
            }
            by.push(number);
            pending.extend_from_slice(self.entries_of(place));
        }
    }

    fn entries_of(&mut self, place: String) -> &[String] {
        let files = self.files;
        self.entries.entry(place).or_insert_with_key(|place| {
            if files.has_file(place) {
                return Vec::new();
            }
            let doc = kustomization(files, place);
            doc.as_ref()
                .map(KustomizationDoc::includes)
                .unwrap_or_default()
        })
    }

    /// Whether a delivery other than `number` leads to a file.
    pub(super) fn by_another(&self, path: &str, number: usize) -> bool {
        let by = self.by.get(path).into_iter().flatten();
        by.into_iter().any(|other| *other != number)
    }
}

/// A vote on each source that delivery objects name: a source is assumed to be this tree if most of the folders that
/// they name in it exist here.
#[derive(Debug, Default)]
pub(super) struct Majorities<K>(BTreeMap<K, isize>);

impl<K: Ord> Majorities<K> {
    /// Counts a folder that is named in a source.
    pub(super) fn count(&mut self, source: K, is_here: bool) {
        *self.0.entry(source).or_default() += if is_here { 1 } else { -1 };
    }

    /// Returns the sources that are assumed to be this tree.
    pub(super) fn own(self) -> BTreeSet<K> {
        let own = self.0.into_iter().filter(|(_, majority)| *majority > 0);
        own.map(|(source, _)| source).collect()
    }
}

/// Returns the files that the nearest kustomization above them leaves out: no kustomization lists
/// the file, or a folder between the two. Deliveries are often disabled by removing them from the
/// list. A kustomization without a list, which only renders charts, does not count.
pub(super) fn left_out<'p>(
    files: &TreeFiles<'_>,
    paths: impl IntoIterator<Item = &'p str>,
) -> BTreeSet<String> {
    let docs = files.kustomizations();
    let named: BTreeSet<String> = docs.iter().flat_map(KustomizationDoc::includes).collect();
    let governing = docs
        .iter()
        .filter(|doc| doc.lists() || doc.charts().is_empty());
    let governing: BTreeSet<&str> = governing.map(|doc| doc.folder.as_str()).collect();
    let paths = paths.into_iter().filter(|path| {
        let folders = ancestors(folder_of(path));
        let mut above = folders.filter(|folder| governing.contains(folder));
        let Some(governing) = above.next() else {
            return false;
        };
        let between = ancestors(folder_of(path)).take_while(|folder| *folder != governing);
        !std::iter::once(*path)
            .chain(between)
            .any(|place| named.contains(place))
    });
    paths.map(str::to_owned).collect()
}

/// Returns the name of a repository without scheme, user, port and `.git`.
pub(super) fn normalized(repository: &str) -> String {
    let rest = repository
        .split_once("://")
        .map_or(repository, |(_, rest)| rest);
    let rest = match rest.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest,
        _ => rest,
    };
    let (host, path) = rest.split_once(['/', ':']).unwrap_or((rest, ""));
    // `host:22/path` has a port, `host:path` has none.
    let path = match path.split_once('/') {
        Some((port, path)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => path,
        _ => path,
    };
    let path = path.trim_matches('/').trim_end_matches(".git");
    format!("{}/{path}", host.to_lowercase()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn repository_urls_are_normalised() {
        for name in [
            "https://github.com/Acme/apps.git",
            "https://token@github.com/acme/apps",
            "git@github.com:acme/apps.git",
            "ssh://git@github.com:22/acme/apps/",
        ] {
            assert_eq!(normalized(name), "github.com/acme/apps", "{name}");
        }
    }
}
