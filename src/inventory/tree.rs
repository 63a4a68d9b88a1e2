//! The folder trees of an input. Files in the same tree are likely to be applied together.
//!
//! A repository contains CRDs of many origins: those of a chart, of a test, of an old release. A CRD in another tree is
//! weak evidence for the versions that an object's cluster serves.

use std::sync::OnceLock;

use foldhash::HashSet;

use crate::kustomize::{ancestors, folder_of, name_of};
use crate::manifest::is_kustomization;
use crate::text::{FileId, Sources};

/// The file of a chart. Like a kustomization, a chart makes its folder a root: everything below is built as one.
const CHART: &str = "Chart.yaml";

/// The folder trees of an input. The tree of a file is the nearest folder at or above it with a kustomization or a
/// chart; without one, the first folder below the one that all files share.
#[derive(Debug)]
pub struct FolderTrees {
    roots: HashSet<String>,
    shared: String,
    /// The length of the root of each file's tree as a prefix of its path, computed on first use.
    trees: Vec<OnceLock<usize>>,
}

impl FolderTrees {
    /// Finds the trees of all files.
    pub fn of(sources: &Sources) -> Self {
        let roots = paths(sources)
            .filter(|path| is_kustomization(path) || name_of(path) == CHART)
            .map(|path| folder_of(path).to_owned());
        let mut folders = paths(sources).map(folder_of);
        let first = folders.next().unwrap_or_default();
        let shared = folders.fold(first, |shared, folder| {
            ancestors(shared)
                .find(|above| contains(above, folder))
                .unwrap_or_default()
        });
        Self {
            roots: roots.collect(),
            shared: shared.to_owned(),
            trees: vec![OnceLock::new(); sources.len()],
        }
    }

    /// Whether one of two files of `sources` is in the tree of the other.
    pub fn together(&self, sources: &Sources, one: FileId, other: FileId) -> bool {
        self.holds(sources, one, other) || self.holds(sources, other, one)
    }

    /// Whether the tree of a file contains another file.
    fn holds(&self, sources: &Sources, file: FileId, other: FileId) -> bool {
        let folder = folder_of(sources.file(file).path());
        let length = self.trees[file.0 as usize].get_or_init(|| self.root_of(folder).len());
        contains(&folder[..*length], folder_of(sources.file(other).path()))
    }

    /// Returns the root of a folder's tree: the folder or one above it.
    fn root_of<'p>(&self, folder: &'p str) -> &'p str {
        if let Some(built) = ancestors(folder).find(|above| self.roots.contains(*above)) {
            return built;
        }
        let Some(rest) = folder.strip_prefix(&*self.shared) else {
            return folder;
        };
        let rest = rest.trim_start_matches('/');
        &folder[..folder.len() - rest.len() + rest.find('/').unwrap_or(rest.len())]
    }
}

fn paths(sources: &Sources) -> impl Iterator<Item = &str> {
    sources.iter().map(|(_, file)| file.path())
}

fn contains(above: &str, folder: &str) -> bool {
    above.is_empty()
        || folder
            .strip_prefix(above)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceFile;

    fn together(paths: &[&str]) -> bool {
        let mut sources = Sources::default();
        let ids: Vec<FileId> = paths
            .iter()
            .map(|path| sources.push(SourceFile::new(*path, String::new())))
            .collect();
        FolderTrees::of(&sources).together(&sources, ids[0], ids[1])
    }

    #[test]
    fn without_roots_first_level_folders_are_trees() {
        assert!(together(&["crd.yaml", "widget.yaml"]));
        assert!(
            together(&["crd.yaml", "apps/shop/widget.yaml"]),
            "what is above belongs to everything below"
        );
        assert!(together(&[
            "apps/shop/crds/crd.yaml",
            "apps/shop/widget.yaml",
            "apps/web/web.yaml"
        ]));
        assert!(together(&[
            "shop/crds/crd.yaml",
            "shop/widgets/widget.yaml",
            "web/web.yaml"
        ]));
        assert!(!together(&["test/crds/crd.yaml", "deploy/widget.yaml"]));
        assert!(
            !together(&["repo/a/crd.yaml", "repo/ab/widget.yaml"]),
            "`a` is not part of `ab`"
        );
        assert!(!together(&["/srv/old/crd.yaml", "/srv/new/widget.yaml"]));
    }

    #[test]
    fn chart_or_kustomization_makes_its_folder_a_tree() {
        assert!(together(&[
            "shop/crds/crd.yaml",
            "shop/widget.yaml",
            "shop/kustomization.yaml"
        ]));
        assert!(!together(&[
            "shop/a/crd.yaml",
            "shop/b/widget.yaml",
            "shop/a/Chart.yaml",
            "shop/b/Chart.yaml",
            "x.yaml"
        ]));
        assert!(!together(&[
            "shop/a/crd.yaml",
            "shop/b/c/widget.yaml",
            "shop/a/kustomization.yml",
            "shop/b/Chart.yaml"
        ]));
    }
}
