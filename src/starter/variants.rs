//! The parts of a tree that are variants of each other, such as `dev` and `prod`, and the parts that all of them share.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::DeliveredPart;
use super::tree::FileTree;

/// The maximum number of bundles to propose; a tree with more variants needs globs that a person has to choose.
pub(super) const MAX_BUNDLES: usize = 12;

/// The depth to which folders are searched for variants of each other.
const MAX_DEPTH: usize = 4;

/// Files that belong to the same bundles.
#[derive(Clone, Debug)]
pub(super) struct Portion {
    pub(super) folder: String,
    pub(super) files: Vec<usize>,
    /// The keys of its objects if a tool delivers them, which may differ from those in the files.
    keys: Vec<String>,
    /// Whether it is applied as a whole, so that it is never divided.
    is_unit: bool,
    /// Whether it is a kustomization that no tool delivers.
    pub(super) is_built: bool,
}

#[derive(Default)]
pub(super) struct Variants {
    /// Portions that belong to every bundle.
    pub(super) shared: Vec<Portion>,
    /// Portions of each variant, by its name.
    pub(super) by_name: BTreeMap<String, Vec<Portion>>,
}

/// Finds the variants. If tools deliver to several clusters, each cluster is a variant.
pub(super) fn variants(tree: &FileTree, delivered: &[DeliveredPart]) -> Variants {
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

/// Names each cluster, if there are several, by the part that differs, or else by its whole name.
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

/// Returns the name of each part as a variant; `None` if no other part is a variant of it.
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

/// Returns each path without the first and last components that all have in common.
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
    use super::*;

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
}
