//! What `init` looks at: the files of a tree, each with what it says of objects, tools and other files.

use std::collections::BTreeSet;

/// The files of a tree, sorted by path. Paths start at the folder of the configuration and have forward slashes.
#[derive(Clone, Debug, Default)]
pub(super) struct FileTree {
    pub(super) files: Vec<TreeFile>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeFile {
    pub(super) path: String,
    /// The keys of its objects.
    pub(super) objects: Vec<String>,
    /// The names of the custom resource definitions among them.
    pub(super) definitions: Vec<String>,
    /// What it is to kustomize.
    pub(super) kustomization: Option<Kustomization>,
    /// Folders that its objects deliver: paths of Flux Kustomizations and Argo CD Applications.
    pub(super) delivers: Vec<String>,
    /// Folders of tests that it tells of.
    pub(super) tests: Vec<String>,
    /// The chart that it describes.
    pub(super) chart: Option<String>,
}

/// A kustomization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kustomization {
    /// Files and folders that it applies, from the folder of the configuration.
    pub(super) applies: Vec<String>,
    /// Whether it is a Component, which is only ever a part of another one.
    pub(super) is_component: bool,
}

impl FileTree {
    /// The files below a folder; all of them when it is empty. `None` when there is none.
    pub(super) fn below(&self, folder: &str) -> Option<std::ops::Range<usize>> {
        if folder.is_empty() {
            return Some(0..self.files.len());
        }
        // `a-b/x` sorts between `a/` and `a0`: the slash belongs to the bounds.
        let start = self
            .files
            .partition_point(|file| file.path.as_str() < format!("{folder}/").as_str());
        let end = self
            .files
            .partition_point(|file| file.path.as_str() < format!("{folder}0").as_str());
        (start < end).then_some(start..end)
    }

    /// The place of the file at `path`.
    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()
    }

    /// Every folder that holds something.
    pub(super) fn folders(&self) -> BTreeSet<&str> {
        let parents = |path: &'_ str| {
            path.match_indices('/')
                .map(|(at, _)| at)
                .collect::<Vec<_>>()
        };
        self.files
            .iter()
            .flat_map(|file| parents(&file.path).into_iter().map(|at| &file.path[..at]))
            .collect()
    }
}

/// The folder of a path, without a slash at its end; empty for the folder of the configuration.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A tree of files with the keys of their objects, by words.
    pub(in super::super) fn tree(files: &[(&str, &str)]) -> FileTree {
        let file = |(path, objects): &(&str, &str)| TreeFile {
            path: (*path).to_owned(),
            objects: objects.split_whitespace().map(str::to_owned).collect(),
            ..TreeFile::default()
        };
        let mut files: Vec<_> = files.iter().map(file).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        FileTree { files }
    }

    #[test]
    fn a_folder_is_more_than_the_beginning_of_a_name() {
        let tree = tree(&[
            ("a-b/x", ""),
            ("a/x", ""),
            ("a/y/z", ""),
            ("a.yaml", ""),
            ("ab/x", ""),
        ]);
        let below = |folder: &str| -> Vec<&str> {
            tree.below(folder)
                .into_iter()
                .flatten()
                .map(|file| tree.files[file].path.as_str())
                .collect()
        };
        assert_eq!(below("a"), ["a/x", "a/y/z"]);
        assert_eq!(below("a/y"), ["a/y/z"]);
        assert_eq!(below("b"), [""; 0]);
        assert_eq!(below("").len(), 5);
        assert_eq!(
            tree.folders().into_iter().collect::<Vec<_>>(),
            ["a", "a-b", "a/y", "ab"]
        );
    }
}
