//! Obstacles that keep kustomizations of a tree from being built by any tool.

use std::collections::{BTreeMap, BTreeSet};

use super::kustomization::KustomizationFile;
use super::path::{folder_of, is_remote, resolve};
use crate::manifest::{ParsedFile, is_kustomization};

/// Kustomizations that cannot be read, and files that kustomizations name and that do not exist, by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeFlaws(BTreeSet<String>);

impl TreeFlaws {
    /// Finds the flaws of some files, with their paths from the root of the tree. `exists`: whether something is at a
    /// path, or may be behind a link or in a submodule.
    pub fn of<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>,
        exists: impl Fn(&str) -> bool,
    ) -> Self {
        let mut found = BTreeSet::new();
        let mut folders: BTreeMap<&str, &str> = BTreeMap::new();
        for (path, file) in files.into_iter().filter(|(path, _)| is_kustomization(path)) {
            let folder = folder_of(path);
            let value = file.documents().iter().find_map(|document| document.tree());
            let value = value.filter(|_| file.facts().is_some_and(|facts| facts.is_kustomization));
            // kustomize builds no folder that has two kustomizations (api/internal/target/kusttarget.go, LoadKustFile).
            if value.is_none() || folders.insert(folder, path).is_some() {
                found.insert(path.to_owned());
            }
            let Some(value) = value else { continue };
            let KustomizationFile {
                resources,
                components,
                ..
            } = KustomizationFile::read(value.root(), |_| None);
            let named = resources
                .iter()
                .chain(&components)
                .filter(|written| !is_remote(written));
            let paths = named.map(|written| resolve(folder, written));
            let is_missing =
                |path: &String| !path.is_empty() && !path.starts_with("..") && !exists(path);
            found.extend(paths.filter(is_missing));
        }
        Self(found)
    }

    /// The flaws that `earlier` does not have.
    #[must_use]
    pub fn beyond(mut self, earlier: &Self) -> Self {
        self.0.retain(|path| !earlier.0.contains(path));
        self
    }

    pub(super) fn contain(&self, path: &str) -> bool {
        self.0.contains(path)
    }
}
