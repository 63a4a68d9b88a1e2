//! The files of a tree by their paths, and the kustomizations among them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kustomization::KustomizationFile;
use super::path::{folder_of, resolve};
use crate::manifest::{KUSTOMIZATIONS, ParsedFile, is_kustomization};

/// Files by path, and kustomizations by folder.
pub(super) struct SourceTree<'f> {
    files: BTreeMap<String, (usize, &'f ParsedFile)>,
    kustomizations: BTreeMap<String, Arc<KustomizationFile>>,
}

impl<'f> SourceTree<'f> {
    /// Files with their paths from the root of the tree.
    pub(super) fn of(files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>) -> Self {
        let paths = files.into_iter().enumerate();
        let paths = paths.map(|(at, (path, file))| (resolve("", path), (at, file)));
        let mut tree = Self {
            files: paths.collect(),
            kustomizations: BTreeMap::new(),
        };
        let read = tree.files.iter().filter_map(|(path, (_, file))| {
            let folder = folder_of(path);
            let named =
                is_kustomization(path) && file.facts().is_some_and(|facts| facts.is_kustomization);
            let value = file
                .documents()
                .iter()
                .find_map(|document| document.tree())
                .filter(|_| named)?;
            let patch_file =
                |written: &str| tree.file(&resolve(folder, written)).map(|(_, file)| file);
            Some((
                folder.to_owned(),
                Arc::new(KustomizationFile::read(value.root(), patch_file)),
            ))
        });
        let kustomizations = read.collect();
        tree.kustomizations = kustomizations;
        tree
    }

    /// All files, in order, with their paths and places.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, usize, &'f ParsedFile)> {
        self.files
            .iter()
            .map(|(path, (at, file))| (path.as_str(), *at, *file))
    }

    pub(super) fn file(&self, path: &str) -> Option<(usize, &'f ParsedFile)> {
        self.files.get(path).copied()
    }

    pub(super) fn kustomization(&self, folder: &str) -> Option<&Arc<KustomizationFile>> {
        self.kustomizations.get(folder)
    }

    /// The path of the kustomization of a folder.
    pub(super) fn kustomization_path(&self, folder: &str) -> Option<String> {
        self.kustomization(folder)?;
        KUSTOMIZATIONS
            .iter()
            .map(|name| resolve(folder, name))
            .find(|path| self.files.contains_key(path))
    }

    /// Folders with a kustomization, in order.
    pub(super) fn kustomizations(&self) -> impl Iterator<Item = (&str, &Arc<KustomizationFile>)> {
        self.kustomizations
            .iter()
            .map(|(folder, kustomization)| (folder.as_str(), kustomization))
    }

    /// Whether a file lies in or below a folder.
    pub(super) fn contains(&self, folder: &str) -> bool {
        self.below(folder).next().is_some()
    }

    /// The files below a folder, in order.
    pub(super) fn below<'t>(
        &'t self,
        folder: &'t str,
    ) -> impl Iterator<Item = (&'t str, usize, &'f ParsedFile)> {
        let start = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let from = self.files.range(start.clone()..);
        from.take_while(move |(path, _)| path.starts_with(&start))
            .map(|(path, (at, file))| (path.as_str(), *at, *file))
    }
}
