//! Division of a tree into bundles: files that are applied to one cluster.
//!
//! The objects of a tree are assumed to be applied to one cluster, unless tools deliver to several clusters, or one of
//! two parts of the tree contains at least half of the other's objects. Such parts are variants, for example `dev` and
//! `prod`, and each name of a variant becomes a bundle. A part without variants belongs to every bundle. A bundle
//! without one of the tree's CustomResourceDefinitions gets the first file that contains it.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::DeliveredPart;
use super::cover::cover;
use super::tree::FileTree;

/// The maximum number of bundles to propose; a tree with more variants needs globs that a person has to choose.
const MAX_BUNDLES: usize = 12;

/// The depth to which folders are searched for variants of each other.
const MAX_DEPTH: usize = 4;

/// A set of paths that are applied to one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposed {
    pub(super) name: String,
    pub(super) paths: Vec<String>,
    /// The folders of kustomizations that are not delivered by a tool but built by hand.
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

/// Files that always belong to the same bundles.
#[derive(Clone, Debug)]
struct Portion {
    folder: String,
    files: Vec<usize>,
    /// The keys of its objects if a tool delivers them, which may differ from those in the files.
    keys: Vec<String>,
    /// Whether it is applied as a whole, so that it is never divided.
    is_unit: bool,
    /// Whether it is a kustomization that no tool delivers.
    is_built: bool,
}

#[derive(Default)]
struct Variants {
    /// Portions that belong to every bundle.
    shared: Vec<Portion>,
    /// Portions of each variant, by its name.
    by_name: BTreeMap<String, Vec<Portion>>,
}

/// Finds the variants. If tools deliver to several clusters, each cluster is a variant.
fn variants(tree: &FileTree, delivered: &[DeliveredPart]) -> Variants {
    let names = names_of_clusters(delivered);
    let mut found = Variants::default();
    // A folder that is delivered twice is not a variant of itself.
    let mut units: BTreeMap<&str, Portion> = BTreeMap::new();
    for part in delivered {
        let files = part.files.iter().filter_map(|path| tree.file(path));
        let portion = Portion {
            folder: part.folder.clone(),
            files: files.collect(),
            keys: match part.cluster {
                Some(_) => part.keys.clone(),
                None => Vec::new(),
            },
            is_unit: true,
            is_built: part.cluster.is_none(),
        };
        let cluster = part.cluster.as_deref();
        if let Some(name) = cluster.and_then(|cluster| names.get(cluster)) {
            found.by_name.entry(name.clone()).or_default().push(portion);
        } else if let Some(unit) = units.get_mut(part.folder.as_str()) {
            unit.files.extend(portion.files);
            unit.keys.extend(portion.keys);
        } else {
            units.insert(&part.folder, portion);
        }
    }
    let placed: BTreeSet<usize> = (found.by_name.values().flatten().chain(units.values()))
        .flat_map(|part| part.files.iter().copied())
        .collect();
    let rest = (0..tree.files.len())
        .filter(|file| !placed.contains(file) && !tree.files[*file].objects.is_empty());
    let mut parts = parts_of(tree, "", rest.collect());
    parts.extend(units.into_values().filter(|unit| !unit.files.is_empty()));
    let mut pending = vec![parts];
    while let Some(parts) = pending.pop() {
        let names = names_of_variants(tree, &parts);
        for (part, name) in parts.into_iter().zip(names) {
            let below = below(tree, &part)
                .filter(|parts| names_of_variants(tree, parts).iter().any(Option::is_some));
            match (below, name) {
                (Some(below), _) => pending.push(below),
                (None, Some(name)) => found.by_name.entry(name).or_default().push(part),
                (None, None) => found.shared.push(part),
            }
        }
    }
    found
}

/// Names each cluster, if there are several: by the part in which their names differ, or else by the whole name.
fn names_of_clusters(delivered: &[DeliveredPart]) -> BTreeMap<&str, String> {
    let clusters = delivered.iter().filter_map(|part| part.cluster.as_deref());
    let clusters: BTreeSet<&str> = clusters.collect();
    let clusters: Vec<&str> = clusters.into_iter().collect();
    if clusters.len() < 2 {
        return BTreeMap::new();
    }
    let mut names = differences(&clusters);
    if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
        names = clusters.iter().copied().map(str::to_owned).collect();
    }
    clusters.into_iter().zip(names).collect()
}

/// Divides a portion into the folders and files directly below it; `None` if it is a unit, lies too deep or is a single
/// file.
fn below(tree: &FileTree, part: &Portion) -> Option<Vec<Portion>> {
    let depth = part.folder.matches('/').count() + 1;
    let mut files = part.files.iter();
    let is_file = files.any(|&file| tree.files[file].path == part.folder);
    (!part.is_unit && !is_file && depth < MAX_DEPTH)
        .then(|| parts_of(tree, &format!("{}/", part.folder), part.files.clone()))
}

/// Groups files by the folder or file directly below `folder`, which is empty or ends in a slash.
fn parts_of(tree: &FileTree, folder: &str, files: Vec<usize>) -> Vec<Portion> {
    let mut parts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for file in files {
        let path = tree.files[file].path.as_str();
        let end = path[folder.len()..]
            .find('/')
            .map_or(path.len(), |at| folder.len() + at);
        parts.entry(&path[..end]).or_default().push(file);
    }
    let parts = parts.into_iter().map(|(folder, files)| Portion {
        folder: folder.to_owned(),
        files,
        keys: Vec::new(),
        is_unit: false,
        is_built: false,
    });
    parts.collect()
}

/// Returns the name of each part as a variant; `None` if it has no variants.
fn names_of_variants(tree: &FileTree, parts: &[Portion]) -> Vec<Option<String>> {
    let mut names = vec![None; parts.len()];
    for group in groups(parts.len(), &similar(tree, parts)) {
        let folders: Vec<_> = group
            .iter()
            .map(|&part| parts[part].folder.as_str())
            .collect();
        for (part, name) in group.iter().zip(differences(&folders)) {
            names[*part] = Some(name);
        }
    }
    names
}

/// Returns the pairs of parts of which one contains at least half of the other's objects. Namespaces do not count,
/// because many parts contain the same one.
fn similar(tree: &FileTree, parts: &[Portion]) -> Vec<(usize, usize)> {
    let objects = parts.iter().map(|part| {
        let written = part.files.iter().filter(|_| part.keys.is_empty());
        written
            .flat_map(|&file| &tree.files[file].objects)
            .chain(&part.keys)
            .map(String::as_str)
            .filter(|key| !key.starts_with("Namespace/"))
            .collect()
    });
    let objects: Vec<BTreeSet<&str>> = objects.collect();
    let mut writers: HashMap<&str, Vec<usize>> = HashMap::default();
    for (part, keys) in objects.iter().enumerate() {
        for key in keys {
            let writers = writers.entry(key).or_default();
            // More parts than this would make too many bundles anyway.
            if writers.len() <= MAX_BUNDLES {
                writers.push(part);
            }
        }
    }
    let mut similar = Vec::new();
    for (part, keys) in objects.iter().enumerate() {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        let others = keys.iter().filter_map(|key| writers.get(key)).flatten();
        for &other in others.filter(|&&other| other != part) {
            *shared.entry(other).or_default() += 1;
        }
        shared.retain(|_, shared| *shared * 2 >= keys.len());
        similar.extend(shared.into_keys().map(|other| (part, other)));
    }
    similar
}

/// Returns the connected components of the graph of `pairs` that have at least two parts, in order.
fn groups(parts: usize, pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut above: Vec<usize> = (0..parts).collect();
    fn top(above: &mut [usize], mut part: usize) -> usize {
        while above[part] != part {
            above[part] = above[above[part]];
            part = above[part];
        }
        part
    }
    for &(a, b) in pairs {
        let (a, b) = (top(&mut above, a), top(&mut above, b));
        above[a.max(b)] = a.min(b);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for part in 0..parts {
        groups.entry(top(&mut above, part)).or_default().push(part);
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect()
}

/// Returns the distinguishing part of each folder: its path without the components that all begin or end with.
fn differences(folders: &[&str]) -> Vec<String> {
    let split: Vec<Vec<&str>> = folders
        .iter()
        .map(|folder| folder.split('/').collect())
        .collect();
    let shortest = split.iter().map(Vec::len).min().unwrap_or_default();
    let head = (0..shortest)
        .take_while(|&n| split.iter().all(|parts| parts[n] == split[0][n]))
        .count();
    let tail = (0..shortest - head)
        .take_while(|&n| {
            let end = split[0].iter().nth_back(n);
            split.iter().all(|parts| parts.iter().nth_back(n) == end)
        })
        .count();
    split
        .iter()
        .map(|parts| match &parts[head..parts.len() - tail] {
            [] => parts.last().copied().unwrap_or_default().to_owned(),
            parts => parts.join("-"),
        })
        .collect()
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
    fn a_tree_without_variants_needs_no_bundle() {
        let tree = tree(&[
            ("a/x.yaml", "x"),
            ("b/y.yaml", "y"),
            ("z.yaml", "z"),
            ("values.yaml", ""),
        ]);
        assert_eq!(shown(&tree, &[]), []);
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
    fn overlay_bundles_include_their_base() {
        let tree = tree(&[
            ("base/web.yaml", "web"),
            ("overlays/dev/app/own.yaml", "own"),
            ("overlays/prod/app/db.yaml", "db"),
        ]);
        let delivered = [
            part(None, "overlays/dev/app", &["base/web.yaml"]),
            part(
                None,
                "overlays/prod/app",
                &["base/web.yaml", "overlays/prod/app/db.yaml"],
            ),
        ];
        let found = bundles(&tree, &delivered);
        let [dev, prod] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((dev.name.as_str(), prod.name.as_str()), ("dev", "prod"));
        assert_eq!(
            dev.paths,
            ["base", "overlays/dev"],
            "what nobody builds is in both"
        );
        assert_eq!(prod.paths, ["."]);
        assert_eq!(prod.built, ["overlays/prod/app"]);
    }

    #[test]
    fn each_cluster_becomes_a_bundle_of_its_delivered_files() {
        let tree = tree(&[
            ("apps/base/web.yaml", "web"),
            ("apps/prod/db.yaml", "db"),
            ("clusters/prod/apps.yaml", "apps"),
            ("clusters/stage/apps.yaml", "apps"),
            ("crds/crd.yaml", "crd"),
        ]);
        let delivered = [
            part(
                Some("clusters/prod"),
                "clusters/prod",
                &["clusters/prod/apps.yaml"],
            ),
            part(
                Some("clusters/prod"),
                "apps/prod",
                &["apps/base/web.yaml", "apps/prod/db.yaml"],
            ),
            part(
                Some("clusters/stage"),
                "clusters/stage",
                &["clusters/stage/apps.yaml"],
            ),
        ];
        let bundles: [(&str, &[&str]); 2] = [
            ("prod", &["apps", "clusters/prod", "crds"]),
            ("stage", &["clusters/stage", "crds"]),
        ];
        assert_eq!(shown(&tree, &delivered), expected(&bundles));
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
    fn variants_are_named_by_their_differing_path_parts() {
        assert_eq!(
            differences(&["apps/web/overlays/dev", "apps/web/overlays/prod"]),
            ["dev", "prod"]
        );
        assert_eq!(differences(&["dev/app", "prod/app"]), ["dev", "prod"]);
        assert_eq!(
            differences(&["eu/prod/app", "us/prod/app", "eu/dev/app"]),
            ["eu-prod", "us-prod", "eu-dev"]
        );
        assert_eq!(
            differences(&["config/default", "deploy"]),
            ["config-default", "deploy"]
        );
        assert_eq!(differences(&["a", "a/b"]), ["a", "b"]);
    }

    #[test]
    fn too_many_variants_propose_no_bundles() {
        let paths: Vec<String> = (0..13).map(|n| format!("v{n}/a.yaml")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "web")).collect();
        assert_eq!(shown(&tree(&files), &[]), []);
    }
}
