//! Which files deliveries lead to, and which are no longer named.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::files::TreeFiles;
use super::kustomize::{KustomizationDoc, kustomization, kustomizations};
use crate::kustomize::{ancestors, folder_of};

/// Which files deliveries lead to, without any build. The cost is linear in the entries of kustomizations: of those
/// that lead to a place, two are kept, enough to tell whether another one does.
pub(super) struct Reached<'r> {
    files: &'r TreeFiles<'r>,
    /// By place; the numbers of deliveries.
    by: HashMap<String, Vec<usize>>,
    /// The entries of folders.
    lists: HashMap<String, Vec<String>>,
}

impl<'r> Reached<'r> {
    pub(super) fn new(files: &'r TreeFiles<'r>) -> Self {
        Self {
            files,
            by: HashMap::default(),
            lists: HashMap::default(),
        }
    }

    /// Says what a place lists that is no folder of the tree as it is: all files that a tool finds in one.
    pub(super) fn lists(&mut self, place: &str, listed: impl FnOnce() -> Vec<String>) {
        if !self.lists.contains_key(place) {
            self.lists.insert(place.to_owned(), listed());
        }
    }

    /// Marks what a delivery leads to.
    pub(super) fn follow(&mut self, number: usize, mut pending: Vec<String>) {
        while let Some(place) = pending.pop() {
            let by = self.by.entry(place.clone()).or_default();
            if by.len() > 1 || by.contains(&number) {
                continue;
            }
            by.push(number);
            pending.extend_from_slice(self.list(place));
        }
    }

    fn list(&mut self, place: String) -> &[String] {
        let files = self.files;
        self.lists.entry(place).or_insert_with_key(|place| {
            if files.has_file(place) {
                return Vec::new();
            }
            let doc = kustomization(files, place);
            doc.as_ref()
                .map(KustomizationDoc::includes)
                .unwrap_or_default()
        })
    }

    /// Whether a delivery other than that of a `number` leads to a file.
    pub(super) fn by_another(&self, path: &str, number: usize) -> bool {
        let by = self.by.get(path).into_iter().flatten();
        by.into_iter().any(|other| *other != number)
    }
}

/// The files that lie in or below the folder of a kustomization and that no kustomization names, nor a folder between:
/// people take a delivery out of use by taking it out of the list. One that has charts rendered and no list governs nothing.
pub(super) fn left_out<'p>(
    files: &TreeFiles<'_>,
    paths: impl IntoIterator<Item = &'p str>,
) -> BTreeSet<String> {
    let docs = kustomizations(files);
    let named: BTreeSet<String> = docs.iter().flat_map(KustomizationDoc::includes).collect();
    let governing = docs.iter().filter(|doc| doc.lists() || !doc.has_charts());
    let governing: BTreeSet<&str> = governing.map(|doc| doc.folder.as_str()).collect();
    let is_left_out = |path: &str| {
        let folders = ancestors(folder_of(path));
        let mut above = folders.filter(|folder| governing.contains(folder));
        let Some(governing) = above.next() else {
            return false;
        };
        let between = ancestors(folder_of(path)).take_while(|folder| *folder != governing);
        !std::iter::once(path)
            .chain(between)
            .any(|place| named.contains(place))
    };
    let paths = paths.into_iter().filter(|path| is_left_out(path));
    paths.map(str::to_owned).collect()
}
