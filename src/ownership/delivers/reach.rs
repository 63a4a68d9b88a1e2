//! Which objects of the input a delivery object delivers: the folder that it names, inside the tree, and what the
//! kustomizations there include.
//!
//! The name of the repository of a tree is unknown. It is where most delivery objects find their folders; one that
//! finds its folder nowhere delivers from elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::object::{DeliveryKind, DeliveryObject, SourceContent};
use crate::inventory::Inventory;
use crate::kube::Namespace;
use crate::kustomize::{
    BeyondLimit, BuildFate, BuildRoots, FilePatterns, Limit, Pointer, ancestors, folder_of,
    pointers, resolve,
};
use crate::manifest::ParsedFile;
use crate::ownership::tie::TieEnd;
use crate::text::{FileId, Limits};

/// The objects that delivery objects deliver.
#[derive(Debug, Default)]
pub struct Reach {
    repositories: Vec<BuiltTree>,
    /// For each delivery object, in their order: what it builds.
    builds: Vec<Vec<Build>>,
    /// The first limit that they go beyond; what was built from there on is not known.
    beyond: Option<BeyondLimit>,
}

/// A tree of files with a root of its own.
#[derive(Debug)]
struct BuiltTree {
    /// Its files, in the order in which [`BuildRoots`] counts them.
    files: Vec<FileId>,
    roots: BuildRoots,
}

/// The build of one folder, with the edits of the objects that point at it. Two delivery objects that point at one folder in the
/// same way share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    repository: usize,
    root: usize,
}

impl Reach {
    /// The objects that `objects`, the delivery objects of `inventory`, deliver.
    pub fn of(inventory: &Inventory, objects: &[DeliveryObject]) -> Self {
        let pointed: Vec<Vec<Pointer>> = objects
            .iter()
            .map(|object| pointers_of(inventory, object))
            .collect();
        let mut by_top: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut files: Vec<(FileId, String, &ParsedFile)> = inventory
            .files()
            .map(|(id, file)| (id, resolve("", file.source().path()), file))
            .collect();
        files.sort_by(|a, b| a.1.cmp(&b.1));
        for (at, top) in tops(inventory, &files, objects, &pointed)
            .into_iter()
            .enumerate()
        {
            if let Some(top) = top {
                by_top.entry(top).or_default().push(at);
            }
        }
        let mut reach = Self {
            builds: vec![Vec::new(); objects.len()],
            ..Self::default()
        };
        let mut limits = inventory.limits;
        if let Some(object) = objects.get(limits.deliveries) {
            let path = inventory
                .sources
                .file(inventory.member(object.id).file)
                .path();
            reach.beyond = Some(BeyondLimit::of(Limit::Deliveries, &limits, path));
            return reach;
        }
        for (top, objects) in by_top {
            let pointers = objects.iter().flat_map(|at| pointed[*at].clone()).collect();
            let tree = BuiltTree::below(&files, &top, pointers, &limits);
            limits.instances = limits.instances.saturating_sub(tree.roots.copies);
            if reach.beyond.is_none() {
                reach.beyond = tree
                    .roots
                    .beyond
                    .clone()
                    .map(|beyond| beyond.within(&top, &inventory.limits));
            }
            let repository = reach.repositories.len();
            for at in objects {
                let mut built: Vec<Build> = Vec::new();
                for pointer in &pointed[at] {
                    built.extend(
                        tree.roots
                            .pointed_at_by(pointer)
                            .map(|root| Build { repository, root }),
                    );
                }
                built.dedup();
                reach.builds[at] = built;
            }
            reach.repositories.push(tree);
        }
        reach
    }

    /// The first limit that delivery objects go beyond; what they build from there on is not known.
    pub fn beyond(&self) -> Option<&BeyondLimit> {
        self.beyond.as_ref()
    }

    /// The builds of the delivery object at that place.
    pub fn builds(&self, object: usize) -> &[Build] {
        self.builds.get(object).map_or(&[], Vec::as_slice)
    }

    /// The files that a build reaches.
    pub fn files(&self, build: Build) -> impl Iterator<Item = FileId> {
        let BuiltTree { files, roots } = &self.repositories[build.repository];
        roots.roots[build.root]
            .iter()
            .map(|built| files[built.file])
    }

    /// The objects of a build, in the order of its files, with the keys that they have in the cluster. `namespace` is that of
    /// objects without one.
    pub fn objects<'a>(
        &'a self,
        inventory: &'a Inventory,
        build: Build,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = TieEnd> + use<'a> {
        let BuiltTree { files, roots } = &self.repositories[build.repository];
        roots.roots[build.root].iter().flat_map(move |built| {
            inventory
                .members_of(files[built.file])
                .iter()
                .filter_map(move |member| {
                    let BuildFate::As(mut key) = built.edits.apply(&member.key, member.scope())
                    else {
                        return None;
                    };
                    if let (Namespace::Unwritten, Some(namespace)) = (&key.namespace, namespace) {
                        key.namespace = Namespace::Named(namespace.into());
                    }
                    Some(TieEnd {
                        key,
                        id: Some(member.id),
                    })
                })
        })
    }
}

impl BuiltTree {
    /// The tree below a folder; `files` come with their resolved paths, in order.
    fn below(
        files: &[(FileId, String, &ParsedFile)],
        top: &str,
        pointers: Vec<Pointer>,
        limits: &Limits,
    ) -> Self {
        let start = if top.is_empty() {
            String::new()
        } else {
            format!("{top}/")
        };
        let from = files.partition_point(|(_, path, _)| *path < start);
        let inside = files[from..]
            .iter()
            .take_while(|(_, path, _)| path.starts_with(&start));
        let files = || {
            inside
                .clone()
                .map(|(id, path, file)| (*id, &path[start.len()..], *file))
        };
        let roots = BuildRoots::with_pointers(
            files().map(|(_, path, file)| (path, file)),
            pointers,
            limits,
        );
        Self {
            files: files().map(|(id, ..)| id).collect(),
            roots,
        }
    }
}

/// The folders of the tree that a delivery object points at. The Applications of an ApplicationSet are in no manifest:
/// their folders are all that is known of them.
fn pointers_of(inventory: &Inventory, object: &DeliveryObject) -> Vec<Pointer> {
    if object.kind != DeliveryKind::Generated {
        let mut pointers = pointers(&inventory.member(object.id).object);
        // Every repository has a root.
        pointers.retain(|pointer| !pointer.folder.is_empty());
        return pointers;
    }
    let folders = object
        .sources
        .iter()
        .filter_map(|source| match &source.content {
            SourceContent::Folder(folder) => Some(resolve("", folder.trim_start_matches('/'))),
            SourceContent::Chart(_) => None,
        });
    let named = folders.filter(|folder| !folder.is_empty() && !folder.starts_with(".."));
    let pointer = |folder| Pointer {
        by: None,
        folder,
        ignore: None,
        recursive: false,
        files: FilePatterns::default(),
        edits: Arc::default(),
    };
    named.map(pointer).collect()
}

/// For each delivery object the top of its repository: of the folders above its file in which what it points at exists, the one
/// in which most delivery objects find theirs; of several, the highest.
fn tops(
    inventory: &Inventory,
    files: &[(FileId, String, &ParsedFile)],
    objects: &[DeliveryObject],
    pointed: &[Vec<Pointer>],
) -> Vec<Option<String>> {
    if objects.is_empty() {
        return Vec::new();
    }
    let paths: BTreeSet<&str> = files.iter().map(|(_, path, _)| path.as_str()).collect();
    let is_there = |folder: &str| {
        let start = format!("{folder}/");
        paths
            .range(start.as_str()..)
            .next()
            .is_some_and(|path| path.starts_with(&start))
    };
    let candidates: Vec<Vec<String>> = objects
        .iter()
        .zip(pointed)
        .map(|(object, pointers)| {
            let file = resolve(
                "",
                inventory
                    .sources
                    .file(inventory.member(object.id).file)
                    .path(),
            );
            let found = |top: &str| {
                pointers
                    .iter()
                    .any(|pointer| is_there(&resolve(top, &pointer.folder)))
            };
            ancestors(folder_of(&file))
                .filter(|top| found(top))
                .map(str::to_owned)
                .collect()
        })
        .collect();
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for top in candidates.iter().flatten() {
        *votes.entry(top).or_default() += 1;
    }
    candidates
        .iter()
        .map(|tops| {
            tops.iter()
                .max_by_key(|top| (votes[top.as_str()], std::cmp::Reverse(top.len())))
                .cloned()
        })
        .collect()
}
