//! Which objects of the input a delivery object delivers: the folder that it names, inside the tree, and what the
//! kustomizations there include.
//!
//! Which repository a tree is, nobody says. It is where most delivery objects find their folders; one that finds its folder
//! nowhere delivers what is elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::object::DeliveryObject;
use crate::inventory::{Inventory, ObjectId};
use crate::kube::{Namespace, ObjectKey};
use crate::kustomize::{BuildFate, BuildRoots, Pointer, ancestors, folder_of, pointers, resolve};
use crate::text::FileId;

/// How many repositories one input may contain; each is read once.
const MOST_REPOSITORIES: usize = 64;

/// What delivery objects deliver.
#[derive(Debug, Default)]
pub struct Reach {
    repositories: Vec<BuiltTree>,
    /// For each delivery object, in their order: what it builds.
    builds: Vec<Vec<Build>>,
}

/// A tree of files with a root of its own.
#[derive(Debug)]
struct BuiltTree {
    /// Its files, in the order in which [`BuildRoots`] counts them.
    files: Vec<FileId>,
    roots: BuildRoots,
}

/// What is built from one folder, with the edits of whoever points at it. Two delivery objects that point at one folder in the
/// same way share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    repository: usize,
    root: usize,
}

/// An object as it is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredObject {
    /// The object of the input.
    pub id: ObjectId,
    /// Its key in the cluster, after the kustomizations on the way.
    pub key: ObjectKey,
}

impl Reach {
    /// What `objects`, the delivery objects of `inventory`, deliver.
    pub fn of(inventory: &Inventory, objects: &[DeliveryObject]) -> Self {
        let pointed: Vec<Vec<Pointer>> =
            objects.iter().map(|object| pointers(&inventory.member(object.id).object)).collect();
        let paths: BTreeSet<String> = inventory.sources.iter().map(|(_, file)| resolve("", file.path())).collect();
        let tops = tops(inventory, &paths, objects, &pointed);
        let mut reach = Self::default();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (pointers, top) in pointed.iter().zip(tops) {
            let Some(top) = top else {
                reach.builds.push(Vec::new());
                continue;
            };
            let repository = match known.get(&top) {
                Some(repository) => *repository,
                None if known.len() < MOST_REPOSITORIES => {
                    reach.repositories.push(BuiltTree::below(inventory, &top));
                    known.insert(top, reach.repositories.len() - 1);
                    reach.repositories.len() - 1
                }
                None => {
                    reach.builds.push(Vec::new());
                    continue;
                }
            };
            let roots = reach.repositories[repository].roots.roots.iter().enumerate();
            let pointed_at = roots.filter(|(_, root)| root.pointer.as_ref().is_some_and(|one| pointers.contains(one)));
            reach.builds.push(pointed_at.map(|(root, _)| Build { repository, root }).collect());
        }
        reach
    }

    /// What the delivery object at that place builds.
    pub fn builds(&self, object: usize) -> &[Build] {
        self.builds.get(object).map_or(&[], Vec::as_slice)
    }

    /// The files that a build reaches.
    pub fn files(&self, build: Build) -> impl Iterator<Item = FileId> {
        let BuiltTree { files, roots } = &self.repositories[build.repository];
        roots.roots[build.root].files.iter().map(|built| files[built.file])
    }

    /// The objects of a build, in the order of its files. `namespace` is that of objects without one.
    pub fn objects<'a>(
        &'a self,
        inventory: &'a Inventory,
        build: Build,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = DeliveredObject> + use<'a> {
        let BuiltTree { files, roots } = &self.repositories[build.repository];
        roots.roots[build.root].files.iter().flat_map(move |built| {
            inventory.members_of(files[built.file]).iter().filter_map(move |member| {
                let BuildFate::As(mut key) = built.edits.apply(&member.key, member.scope()) else { return None };
                if let (Namespace::Unwritten, Some(namespace)) = (&key.namespace, namespace) {
                    key.namespace = Namespace::Named(namespace.to_owned());
                }
                Some(DeliveredObject { id: member.id, key })
            })
        })
    }
}

impl BuiltTree {
    fn below(inventory: &Inventory, top: &str) -> Self {
        let inside = |path: &str| -> Option<String> {
            let path = resolve("", path);
            let rest = if top.is_empty() { Some(path.as_str()) } else { path.strip_prefix(top)?.strip_prefix('/') };
            rest.map(str::to_owned)
        };
        let files = inventory.files().filter_map(|(id, file)| Some((id, inside(file.source().path())?, file)));
        let files: Vec<_> = files.collect();
        let roots = BuildRoots::of(files.iter().map(|(_, path, file)| (path.as_str(), *file)));
        Self { files: files.into_iter().map(|(id, ..)| id).collect(), roots }
    }
}

/// For each delivery object the top of its repository: of the folders above its file in which what it points at exists, the one
/// in which most delivery objects find theirs; of several, the highest.
fn tops(
    inventory: &Inventory,
    paths: &BTreeSet<String>,
    objects: &[DeliveryObject],
    pointed: &[Vec<Pointer>],
) -> Vec<Option<String>> {
    let is_there = |folder: &str| {
        let start = format!("{folder}/");
        paths.range(start.clone()..).next().is_some_and(|path| path.starts_with(&start))
    };
    let candidates: Vec<Vec<String>> = objects
        .iter()
        .zip(pointed)
        .map(|(object, pointers)| {
            let file = resolve("", inventory.sources.file(inventory.member(object.id).file).path());
            let found = |top: &str| pointers.iter().any(|pointer| is_there(&resolve(top, &pointer.folder)));
            ancestors(folder_of(&file)).filter(|top| found(top)).map(str::to_owned).collect()
        })
        .collect();
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for top in candidates.iter().flatten() {
        *votes.entry(top).or_default() += 1;
    }
    let best =
        |tops: &Vec<String>| tops.iter().max_by_key(|top| (votes[top.as_str()], std::cmp::Reverse(top.len()))).cloned();
    candidates.iter().map(best).collect()
}
