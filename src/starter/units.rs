//! What is delivered as one: the kustomizations that nobody else uses, and what Flux and Argo CD are told to deliver.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{FileTree, folder_of};

/// A folder that is delivered as one, with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its folder; empty for the folder of the configuration.
    pub(super) folder: String,
    /// The places of its files that contain objects.
    pub(super) files: BTreeSet<usize>,
    /// Whether kustomize renders it.
    pub(super) is_kustomization: bool,
}

/// The units of a tree, sorted by folder.
pub(super) fn units(tree: &FileTree) -> Vec<Unit> {
    let kustomizations = Kustomizations::of(tree);
    let delivered = tree
        .files
        .iter()
        .flat_map(|file| &file.delivers)
        .map(String::as_str);
    let delivered = delivered.filter(|folder| tree.below(folder).is_some());
    let roots: BTreeSet<&str> = delivered.chain(kustomizations.roots(tree)).collect();
    let unit = |folder: &str| {
        let is_kustomization = kustomizations.by_folder.contains_key(folder);
        let files = match is_kustomization {
            true => kustomizations.closure(tree, folder),
            // Flux and Argo CD take every manifest of a folder without a kustomization.
            false => tree.below(folder).into_iter().flatten().collect(),
        };
        let files = files
            .into_iter()
            .filter(|&file| !tree.files[file].objects.is_empty())
            .collect();
        Unit {
            folder: folder.to_owned(),
            files,
            is_kustomization,
        }
    };
    roots
        .into_iter()
        .map(unit)
        .filter(|unit| !unit.files.is_empty())
        .collect()
}

/// The kustomizations of a tree by their folders.
struct Kustomizations<'t> {
    by_folder: BTreeMap<&'t str, usize>,
}

impl<'t> Kustomizations<'t> {
    fn of(tree: &'t FileTree) -> Self {
        let kustomizations = tree
            .files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.kustomization.is_some());
        Self {
            by_folder: kustomizations
                .map(|(place, file)| (folder_of(&file.path), place))
                .collect(),
        }
    }

    fn applies(tree: &FileTree, place: usize) -> impl Iterator<Item = &str> {
        tree.files[place]
            .kustomization
            .iter()
            .flat_map(|found| &found.applies)
            .map(String::as_str)
    }

    /// The folders that no other kustomization uses.
    fn roots(&self, tree: &'t FileTree) -> impl Iterator<Item = &'t str> {
        let used: BTreeSet<&str> = self
            .by_folder
            .values()
            .flat_map(|&place| Self::applies(tree, place))
            .collect();
        let is_component = |place: usize| {
            tree.files[place]
                .kustomization
                .as_ref()
                .is_some_and(|found| found.is_component)
        };
        let roots = self
            .by_folder
            .iter()
            .filter(|&(folder, &place)| !used.contains(folder) && !is_component(place));
        roots
            .map(|(folder, _)| *folder)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The files that the kustomization of a folder applies, itself or through others.
    fn closure(&self, tree: &FileTree, folder: &str) -> BTreeSet<usize> {
        let mut files = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut pending: Vec<usize> = self.by_folder.get(folder).copied().into_iter().collect();
        while let Some(place) = pending.pop() {
            if !seen.insert(place) {
                continue;
            }
            for applied in Self::applies(tree, place) {
                pending.extend(self.by_folder.get(applied));
                files.extend(tree.file(applied));
            }
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Kustomization;
    use super::super::tree::tests::tree;
    use super::*;

    fn with(mut tree: FileTree, path: &str, applies: &[&str], is_component: bool) -> FileTree {
        let applies = applies.iter().map(|path| (*path).to_owned()).collect();
        let place = tree.file(path).expect("a file");
        tree.files[place].kustomization = Some(Kustomization {
            applies,
            is_component,
        });
        tree
    }

    fn shown(tree: &FileTree) -> Vec<(String, Vec<&str>)> {
        let files = |unit: &Unit| {
            unit.files
                .iter()
                .map(|&file| tree.files[file].path.as_str())
                .collect()
        };
        units(tree)
            .iter()
            .map(|unit| (unit.folder.clone(), files(unit)))
            .collect()
    }

    #[test]
    fn overlays_are_units_and_what_they_use_is_none() {
        let tree = tree(&[
            ("base/kustomization.yaml", ""),
            ("base/web.yaml", "web"),
            ("base/unused.yaml", "unused"),
            ("dev/kustomization.yaml", ""),
            ("prod/db.yaml", "db"),
            ("prod/kustomization.yaml", ""),
            ("proxy/kustomization.yaml", ""),
            ("proxy/proxy.yaml", "proxy"),
        ]);
        let tree = with(
            tree,
            "base/kustomization.yaml",
            &["base/web.yaml", "prod"],
            false,
        );
        let tree = with(tree, "dev/kustomization.yaml", &["base"], false);
        let tree = with(
            tree,
            "prod/kustomization.yaml",
            &["base", "prod/db.yaml", "https://example.com/x"],
            false,
        );
        let tree = with(
            tree,
            "proxy/kustomization.yaml",
            &["proxy/proxy.yaml"],
            true,
        );
        // `base` and `prod` use each other, which kustomize rejects and we survive.
        assert_eq!(
            shown(&tree),
            [("dev".to_owned(), vec!["base/web.yaml", "prod/db.yaml"])]
        );
    }

    #[test]
    fn what_flux_and_argo_cd_deliver_is_a_unit_even_when_another_uses_it() {
        let mut tree = tree(&[
            ("apps/kustomization.yaml", ""),
            ("apps/web/web.yaml", "web"),
            ("clusters/prod.yaml", "flux"),
            ("plain/x/y.yaml", "y"),
        ]);
        tree.files[2].delivers = ["plain", "apps/web", "elsewhere"]
            .map(str::to_owned)
            .to_vec();
        let tree = with(tree, "apps/kustomization.yaml", &["apps/web"], false);
        let units: Vec<_> = shown(&tree);
        assert_eq!(
            units,
            [
                ("apps/web".to_owned(), vec!["apps/web/web.yaml"]),
                ("plain".to_owned(), vec!["plain/x/y.yaml"])
            ]
        );
    }
}
