//! The roots of a tree, and the files that each of them builds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::closure::{BuildObstacle, BuiltFile, BuiltFiles, weight};
use super::edits::Edits;
use super::flaws::TreeFlaws;
use super::path::{ancestors, folder_of, resolve, resolved};
use super::pointer::{FilePatterns, Pointer};
use super::repository::{Inward, OwnRepositories};
use super::tree::SourceTree;
use crate::manifest::ParsedFile;

/// What all roots together may build more than once, in files, documents and objects: a folder of 1,000 objects for each of 300
/// clusters is fine, overlays that include each other in many ways reach a file over and over.
const MOST_REPEATED: usize = 1_000_000;

/// What somebody builds.
#[derive(Clone, Debug)]
pub struct BuildRoot {
    /// The folder; empty for the top of the tree.
    pub folder: String,
    /// What points at it; `None` if no delivery object does.
    pub pointer: Option<Pointer>,
    /// The files that it builds, in the order of their paths.
    pub files: Vec<BuiltFile>,
    /// What keeps it from being built.
    pub unbuildable: Option<BuildObstacle>,
    /// The folders whose kustomizations it includes.
    pub kustomizations: BTreeSet<String>,
    /// A folder that it includes through more kustomizations than are followed.
    pub unfollowed: Option<String>,
}

impl BuildRoot {
    fn new(folder: String, pointer: Option<Pointer>, reached: BuiltFiles) -> Self {
        let BuiltFiles { files, unbuildable, kustomizations, unfollowed, .. } = reached;
        Self { folder, pointer, files, unbuildable, kustomizations, unfollowed }
    }

    /// What the object that points at the root does to everything that is built there.
    pub fn outer(&self) -> Option<Arc<Edits>> {
        self.pointer.as_ref().map(|pointer| Arc::new(Edits::new(vec![Arc::clone(&pointer.edits)])))
    }
}

/// Who builds which file.
#[derive(Clone, Debug, Default)]
pub struct BuildRoots {
    /// The roots, by folder.
    pub roots: Vec<BuildRoot>,
    /// Folders with a kustomization, whoever includes it: what lies below one and is not reached is not applied.
    governed: BTreeSet<String>,
    /// Whether files are reached in more ways than were followed: overlays include each other over and over.
    pub capped: bool,
    /// What points at which root.
    pointed_at: HashMap<Pointer, usize>,
}

impl BuildRoots {
    /// The roots of a tree, which is one of the repositories that are called `own`. What `flaws` are in is not built. The paths of its files are from the root of the
    /// repository.
    pub fn of<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>,
        own: &OwnRepositories,
        flaws: TreeFlaws,
    ) -> Self {
        let tree = SourceTree::with_flaws(files, flaws);
        let mut builds = Builds::of(&tree);
        let pointers = builds.applied(Inward::of(&tree, own));
        builds.roots(pointers)
    }

    /// The same, for whoever knows what points at folders of the tree.
    pub fn with_pointers<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>,
        pointers: Vec<Pointer>,
    ) -> Self {
        Builds::of(&SourceTree::of(files)).roots(pointers)
    }

    /// The place of the root at which something points so.
    pub fn pointed_at_by(&self, pointer: &Pointer) -> Option<usize> {
        self.pointed_at.get(pointer).copied()
    }

    /// Whether a kustomization at or above the folder of a file decides what of it is applied.
    pub fn govern(&self, path: &str) -> bool {
        let path = resolved(path);
        ancestors(folder_of(&path)).any(|folder| self.governed.contains(folder))
    }
}

/// What is built in a tree; each build is followed once.
struct Builds<'t, 'f> {
    tree: &'t SourceTree<'f>,
    /// Folders with a kustomization that no other one includes.
    tops: Vec<&'t str>,
    known: HashMap<Pointer, BuiltFiles>,
    /// What may still be built, by [`weight`].
    budget: usize,
    capped: bool,
}

impl<'t, 'f> Builds<'t, 'f> {
    fn of(tree: &'t SourceTree<'f>) -> Self {
        let included = included(tree);
        let tops = tree.kustomizations().filter(|(folder, one)| !included.contains(*folder) && !one.is_component);
        let tops = tops.map(|(folder, _)| folder).collect();
        let once: usize = tree.files().map(|(_, _, file)| weight(file)).sum();
        Self { tree, tops, known: HashMap::default(), budget: once + MOST_REPEATED, capped: false }
    }

    /// The pointers of objects that somebody applies: what a kustomization governs and nobody builds points at nothing.
    fn applied(&mut self, written: Vec<Inward<'_>>) -> Vec<Pointer> {
        let (mut live, mut pending): (Vec<_>, Vec<_>) =
            written.into_iter().partition(|inward| !self.tree.governs(inward.path));
        let mut reached: HashSet<usize> = HashSet::default();
        if !pending.is_empty() {
            for folder in self.tops.clone() {
                reached.extend(self.reached(&unpointed(folder)).files.iter().map(|built| built.file));
            }
        }
        let mut followed = 0;
        loop {
            for inward in live[followed..].iter().filter(|_| !pending.is_empty()) {
                reached.extend(self.reached(&inward.pointer).files.iter().map(|built| built.file));
            }
            followed = live.len();
            let (more, rest) = pending.into_iter().partition(|inward| reached.contains(&inward.file));
            pending = rest;
            live.extend::<Vec<_>>(more);
            if live.len() == followed {
                return live.into_iter().map(|inward| inward.pointer).collect();
            }
        }
    }

    /// The roots: what something points at, and what no other kustomization includes.
    fn roots(mut self, pointers: Vec<Pointer>) -> BuildRoots {
        let mut starts: BTreeMap<String, Vec<Pointer>> =
            self.tops.iter().map(|folder| ((*folder).to_owned(), Vec::new())).collect();
        let mut seen: HashSet<Pointer> = HashSet::default();
        for pointer in pointers {
            if self.tree.contains(&pointer.folder) && seen.insert(pointer.clone()) {
                starts.entry(pointer.folder.clone()).or_default().push(pointer);
            }
        }
        let governed = self.tree.kustomizations().map(|(folder, _)| folder.to_owned()).collect();
        let mut found = BuildRoots { governed, ..BuildRoots::default() };
        // What somebody builds who found it below a folder is no root of its own.
        let pointed: Vec<Pointer> = starts.values().flatten().cloned().collect();
        let inner: HashSet<String> = pointed.iter().flat_map(|pointer| self.reached(pointer).found.clone()).collect();
        for (folder, pointers) in starts {
            if pointers.is_empty() && inner.contains(&folder) {
                continue;
            }
            if pointers.is_empty() {
                let reached = self.reached(&unpointed(&folder)).clone();
                found.roots.push(BuildRoot::new(folder, None, reached));
                continue;
            }
            for pointer in pointers {
                found.pointed_at.insert(pointer.clone(), found.roots.len());
                let reached = self.reached(&pointer).clone();
                found.roots.push(BuildRoot::new(folder.clone(), Some(pointer), reached));
            }
        }
        found.capped = self.capped;
        found
    }

    /// What is built from where a pointer leads.
    fn reached(&mut self, pointer: &Pointer) -> &BuiltFiles {
        let (tree, budget) = (self.tree, &mut self.budget);
        let reached = self.known.entry(pointer.clone()).or_insert_with(|| {
            let reached = BuiltFiles::of(tree, pointer, *budget);
            *budget = budget.saturating_sub(reached.weight);
            reached
        });
        self.capped |= reached.capped;
        reached
    }
}

/// A kustomization that nobody points at.
fn unpointed(folder: &str) -> Pointer {
    Pointer {
        by: None,
        folder: folder.to_owned(),
        repository: None,
        ignore: None,
        recursive: false,
        files: FilePatterns::default(),
        edits: Arc::default(),
    }
}

/// The folders that some kustomization includes.
fn included(tree: &SourceTree<'_>) -> HashSet<String> {
    let named = tree.kustomizations().flat_map(|(folder, kustomization)| {
        let named = kustomization.resources.iter().chain(&kustomization.components);
        named.map(move |written| resolve(folder, written))
    });
    named.collect()
}
