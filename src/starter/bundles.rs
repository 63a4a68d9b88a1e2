//! Division of a tree into bundles: files that are applied to one cluster.
//!
//! The objects of a tree are assumed to be applied to one cluster, unless tools deliver to several clusters, or one of
//! two parts of the tree contains at least half of the other's objects. Such parts are variants, for example `dev` and
//! `prod`, and each name of a variant becomes a bundle. A part without variants belongs to every bundle. A bundle
//! without one of the tree's CustomResourceDefinitions gets the first file that contains it.

use std::collections::BTreeSet;

use super::DeliveredPart;
use super::cover::cover;
use super::tree::FileTree;
use super::variants::{MAX_BUNDLES, Variants, variants};

/// A set of paths that are applied to one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposed {
    pub(super) name: String,
    pub(super) paths: Vec<String>,
    /// The folders of kustomizations that no tool delivers: they are built by hand.
    pub(super) built: Vec<String>,
}

/// Proposes the bundles of a tree, sorted by name; empty if one is enough, or if there are too many to be useful.
pub(super) fn bundles(tree: &FileTree, delivered: &[DeliveredPart]) -> Vec<Proposed> {
    let Variants { shared, by_name } = variants(tree, delivered);
    if by_name.len() < 2 || by_name.len() > MAX_BUNDLES {
        return Vec::new();
    }
    let files = tree.files.iter().enumerate();
    let (holding, paths): (Vec<usize>, Vec<&str>) = files
        .filter(|(_, file)| !file.objects.is_empty())
        .map(|(at, file)| (at, file.path.as_str()))
        .unzip();
    let bundles = by_name.into_iter().map(|(name, own)| {
        let parts = own.iter().chain(&shared);
        let mut files: BTreeSet<usize> = parts
            .clone()
            .flat_map(|part| part.files.iter().copied())
            .collect();
        add_definitions(tree, &mut files);
        let built = parts
            .filter(|part| part.is_built)
            .map(|part| part.folder.clone());
        Proposed {
            name,
            paths: cover(&paths, |at| files.contains(&holding[at])),
            built: built.collect::<BTreeSet<_>>().into_iter().collect(),
        }
    });
    bundles.collect()
}

/// Adds each file with definitions, in order, unless one of its definitions is already in `files`.
fn add_definitions(tree: &FileTree, files: &mut BTreeSet<usize>) {
    let mut known: BTreeSet<&String> = files
        .iter()
        .flat_map(|&file| &tree.files[file].definitions)
        .collect();
    for (place, file) in tree.files.iter().enumerate() {
        let defined = &file.definitions;
        if !defined.is_empty() && !defined.iter().any(|name| known.contains(name)) {
            known.extend(defined);
            files.insert(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::tree;
    use super::*;

    fn shown(tree: &FileTree, delivered: &[DeliveredPart]) -> Vec<(String, Vec<String>)> {
        let bundles = bundles(tree, delivered).into_iter();
        bundles.map(|bundle| (bundle.name, bundle.paths)).collect()
    }

    fn expected(bundles: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        bundles
            .iter()
            .map(|(name, paths)| {
                let paths = paths.iter().map(|path| (*path).to_owned());
                ((*name).to_owned(), paths.collect())
            })
            .collect()
    }

    #[test]
    fn folders_with_the_same_objects_become_variants() {
        let tree = tree(&[
            ("crds/a.yaml", "crd"),
            ("rendered/dev/a.yaml", "web db"),
            ("rendered/prod/a.yaml", "web db cache"),
        ]);
        let variants: [(&str, &[&str]); 2] = [
            ("dev", &["crds", "rendered/dev"]),
            ("prod", &["crds", "rendered/prod"]),
        ];
        assert_eq!(shown(&tree, &[]), expected(&variants));
    }

    #[test]
    fn shared_namespace_object_makes_no_variants() {
        let tree = tree(&[
            ("ns/a.yaml", "Namespace//shop"),
            ("db/a.yaml", "Namespace//shop db claim"),
        ]);
        assert_eq!(shown(&tree, &[]), []);
    }

    #[test]
    fn few_objects_in_common_make_no_variants() {
        let tree = tree(&[
            ("web/a.yaml", "tls web service"),
            ("db/a.yaml", "tls db claim"),
        ]);
        assert_eq!(shown(&tree, &[]), []);
    }

    fn part(cluster: Option<&str>, folder: &str, files: &[&str]) -> DeliveredPart {
        DeliveredPart {
            cluster: cluster.map(str::to_owned),
            folder: folder.to_owned(),
            files: files.iter().map(|path| (*path).to_owned()).collect(),
            keys: Vec::new(),
        }
    }

    #[test]
    fn folder_delivered_twice_is_not_its_own_variant() {
        let tree = tree(&[
            ("dev/a.yaml", "db"),
            ("prod/a.yaml", "db"),
            ("web/a.yaml", "web"),
        ]);
        let delivered = ["dev", "prod", "web", "web"].map(|folder| {
            let file = format!("{folder}/a.yaml");
            part(Some("clusters/home"), folder, &[&file])
        });
        let names = |delivered: &[DeliveredPart]| -> Vec<String> {
            let found = bundles(&tree, delivered).into_iter();
            found.map(|bundle| bundle.name).collect()
        };
        assert_eq!(names(&delivered), ["dev", "prod"]);
        let with_names = delivered.map(|part| DeliveredPart {
            keys: vec![format!("Cluster/{}/db", part.folder)],
            ..part
        });
        assert_eq!(names(&with_names), [""; 0], "one cluster can have both");
    }

    #[test]
    fn clusters_get_distinct_bundle_names() {
        let tree = tree(&[("a.yaml", "web"), ("b.yaml", "db")]);
        let delivered = [
            part(Some("x/y"), "a", &["a.yaml"]),
            part(Some("x-y"), "b", &["b.yaml"]),
        ];
        let names = bundles(&tree, &delivered)
            .into_iter()
            .map(|bundle| bundle.name);
        assert_eq!(names.collect::<Vec<_>>(), ["x-y", "x/y"]);
    }

    #[test]
    fn crds_belong_to_every_bundle_exactly_once() {
        let mut tree = tree(&[
            ("dev/a.yaml", "web crd"),
            ("prod/a.yaml", "web"),
            ("prod/crd.yaml", "crd2"),
            ("prod/old.yaml", "crd3"),
        ]);
        tree.files[0].definitions = vec!["foos".to_owned()];
        tree.files[2].definitions = vec!["bars".to_owned()];
        tree.files[3].definitions = vec!["bars".to_owned()];
        let bundles: [(&str, &[&str]); 2] = [("dev", &["dev", "prod/crd.yaml"]), ("prod", &["."])];
        assert_eq!(shown(&tree, &[]), expected(&bundles));
    }

    #[test]
    fn too_many_variants_propose_no_bundles() {
        let paths: Vec<String> = (0..13).map(|n| format!("v{n}/a.yaml")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "web")).collect();
        assert_eq!(shown(&tree(&files), &[]), []);
    }
}
