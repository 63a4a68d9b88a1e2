//! The roots of a tree, and the files that each of them builds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::closure::{BuildObstacle, BuiltFile, BuiltFiles, Start};
use super::counts::{BeyondLimit, Counts, Limit, counts};
use super::edits::Edits;
use super::flaws::TreeFlaws;
use super::path::{ancestors, folder_of, resolve, resolved};
use super::pointer::{FilePatterns, Pointer, SourceTool};
use super::repository::{Inward, OwnRepositories};
use super::tree::SourceTree;
use crate::manifest::ParsedFile;
use crate::text::Limits;

/// A root of builds.
#[derive(Clone, Debug)]
pub struct BuildRoot {
    /// The folder; empty for the top of the tree.
    pub folder: String,
    /// The object that points at it; `None` if no delivery object does.
    pub pointer: Option<Pointer>,
    /// The files that it builds, in the order of their paths.
    pub files: Vec<BuiltFile>,
    /// The obstacle that keeps it from being built.
    pub unbuildable: Option<BuildObstacle>,
    /// The folders whose kustomizations it includes.
    pub kustomizations: BTreeSet<String>,
    /// A folder that it includes through more kustomizations than are followed.
    pub unfollowed: Option<String>,
    /// The objects that kustomizations generate, as files of their own.
    pub generated: Vec<ParsedFile>,
    /// Whether it is a chart that was rendered, and so a release of Helm.
    pub is_chart: bool,
}

impl BuildRoot {
    fn new(folder: String, pointer: Option<Pointer>, reached: BuiltFiles) -> Self {
        let BuiltFiles {
            files,
            unbuildable,
            kustomizations,
            unfollowed,
            ..
        } = reached;
        Self {
            folder,
            pointer,
            files,
            unbuildable,
            kustomizations,
            unfollowed,
            generated: Vec::new(),
            is_chart: false,
        }
    }

    /// The edits of the object that points at the root to everything that is built there.
    pub fn outer(&self) -> Option<Arc<Edits>> {
        self.pointer
            .as_ref()
            .map(|pointer| Arc::new(Edits::new(vec![Arc::clone(&pointer.edits)])))
    }
}

/// Who builds which file.
#[derive(Clone, Debug, Default)]
pub struct BuildRoots {
    /// The roots, by folder.
    pub roots: Vec<BuildRoot>,
    /// Folders with a kustomization, included or not: a file below one that is not reached is not applied.
    governed: BTreeSet<String>,
    /// The first limit that builds go beyond; what was built from there on is not known.
    pub beyond: Option<BeyondLimit>,
    /// The copies of objects that were made: the first of each does not count.
    pub copies: usize,
    /// The root of each pointer.
    pointed_at: HashMap<Pointer, usize>,
}

impl BuildRoots {
    /// The roots of a tree, which is one of the repositories that are called `own`. Files with `flaws` are not built. The paths
    /// of its files are from the root of the repository.
    pub fn of<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>,
        own: &OwnRepositories,
        flaws: TreeFlaws,
        limits: &Limits,
    ) -> Self {
        let tree = SourceTree::with_flaws(files, flaws);
        let inward = Inward::of(&tree, own);
        if let Some(one) = inward.get(limits.deliveries) {
            let beyond = Some(BeyondLimit::of(Limit::Deliveries, limits, one.path));
            return Self {
                beyond,
                ..Self::default()
            };
        }
        let mut builds = Builds::of(&tree, limits);
        let pointers = builds.applied(inward);
        builds.roots(pointers)
    }

    /// The roots of a tree at whose folders `pointers` point.
    pub fn with_pointers<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>,
        pointers: Vec<Pointer>,
        limits: &Limits,
    ) -> Self {
        Builds::of(&SourceTree::of(files), limits).roots(pointers)
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

/// The builds of a tree; each is followed once.
struct Builds<'t, 'f> {
    tree: &'t SourceTree<'f>,
    /// Folders with a kustomization that no other one includes.
    tops: Vec<&'t str>,
    counts: Counts,
    known: HashMap<Pointer, BuiltFiles>,
    /// Where builds begin, by the part of a pointer that decides it: many may point at one folder.
    starts: HashMap<StartOf, Arc<Start>>,
    limits: &'t Limits,
    /// The instances that may still be built, by [`ParsedFile::instances`].
    budget: usize,
    beyond: Option<BeyondLimit>,
}

/// Folder, whether folders below count, which files do, which are left out, and which tool looks.
type StartOf = (
    String,
    bool,
    FilePatterns,
    Option<Arc<str>>,
    Option<SourceTool>,
);

impl<'t, 'f> Builds<'t, 'f> {
    fn of(tree: &'t SourceTree<'f>, limits: &'t Limits) -> Self {
        let included = included(tree);
        let tops = tree
            .kustomizations()
            .filter(|(folder, one)| !included.contains(*folder) && !one.is_component);
        let tops = tops.map(|(folder, _)| folder).collect();
        let once: usize = tree.files().map(|(_, _, file)| file.instances()).sum();
        let (known, starts) = Default::default();
        let budget = once.saturating_add(limits.instances);
        Self {
            tree,
            tops,
            counts: counts(tree),
            known,
            starts,
            limits,
            budget,
            beyond: None,
        }
    }

    /// The pointers of applied objects: an object that a kustomization governs and that is not built points at nothing.
    fn applied(&mut self, written: Vec<Inward<'_>>) -> Vec<Pointer> {
        let (mut live, mut pending): (Vec<_>, Vec<_>) = written
            .into_iter()
            .partition(|inward| !self.tree.governs(inward.path));
        let mut reached: HashSet<usize> = HashSet::default();
        if !pending.is_empty() {
            for folder in self.tops.clone() {
                reached.extend(
                    self.reached(&unpointed(folder))
                        .files
                        .iter()
                        .map(|built| built.file),
                );
            }
        }
        let mut followed = 0;
        loop {
            for inward in live[followed..].iter().filter(|_| !pending.is_empty()) {
                reached.extend(
                    self.reached(&inward.pointer)
                        .files
                        .iter()
                        .map(|built| built.file),
                );
            }
            followed = live.len();
            let (more, rest) = pending
                .into_iter()
                .partition(|inward| reached.contains(&inward.file));
            pending = rest;
            live.extend::<Vec<_>>(more);
            if live.len() == followed {
                return live.into_iter().map(|inward| inward.pointer).collect();
            }
        }
    }

    /// The roots: what something points at, and what no other kustomization includes.
    fn roots(mut self, pointers: Vec<Pointer>) -> BuildRoots {
        let mut starts: BTreeMap<String, Vec<Pointer>> = self
            .tops
            .iter()
            .map(|folder| ((*folder).to_owned(), Vec::new()))
            .collect();
        let mut seen: HashSet<Pointer> = HashSet::default();
        for pointer in pointers {
            if self.tree.contains(&pointer.folder) && seen.insert(pointer.clone()) {
                starts
                    .entry(pointer.folder.clone())
                    .or_default()
                    .push(pointer);
            }
        }
        let governed = self
            .tree
            .kustomizations()
            .map(|(folder, _)| folder.to_owned())
            .collect();
        let mut found = BuildRoots {
            governed,
            ..BuildRoots::default()
        };
        // A folder that is built because a pointer led there is no root of its own.
        let pointed: Vec<Pointer> = starts.values().flatten().cloned().collect();
        let inner: HashSet<String> = pointed
            .iter()
            .flat_map(|pointer| self.reached(pointer).found.clone())
            .collect();
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
                found
                    .roots
                    .push(BuildRoot::new(folder.clone(), Some(pointer), reached));
            }
        }
        found.beyond = self.beyond;
        found.copies = self.limits.instances.saturating_sub(self.budget);
        found
    }

    /// The files that are built from the target of a pointer.
    fn reached(&mut self, pointer: &Pointer) -> &BuiltFiles {
        if !self.known.contains_key(pointer) {
            let built = self.built(pointer);
            self.known.insert(pointer.clone(), built);
        }
        &self.known[pointer]
    }

    /// Takes what a build comes to from the budget, and then builds; nothing once a limit is exceeded.
    fn built(&mut self, pointer: &Pointer) -> BuiltFiles {
        if self.beyond.is_some() {
            return BuiltFiles::default();
        }
        let start = self.start(pointer);
        let Some(rest) = self.budget.checked_sub(start.instances) else {
            let path = self
                .tree
                .kustomization_path(&pointer.folder)
                .unwrap_or_else(|| pointer.folder.clone());
            self.beyond = Some(BeyondLimit::of(Limit::Instances, self.limits, path));
            return BuiltFiles::default();
        };
        self.budget = rest;
        BuiltFiles::of(
            self.tree,
            &self.counts,
            &pointer.edits,
            &start,
            self.limits.nesting,
        )
    }

    /// Where a build begins; a search for that takes the files that it looks at from the budget.
    fn start(&mut self, pointer: &Pointer) -> Arc<Start> {
        let Pointer {
            folder,
            recursive,
            files,
            ignore,
            by,
            ..
        } = pointer;
        let tool = by.as_ref().map(|by| by.tool);
        let decides = (
            folder.clone(),
            *recursive,
            files.clone(),
            ignore.clone(),
            tool,
        );
        if let Some(known) = self.starts.get(&decides) {
            return Arc::clone(known);
        }
        let start = Arc::new(Start::of(self.tree, &self.counts, pointer));
        self.budget = self.budget.saturating_sub(start.looks);
        self.starts.insert(decides, Arc::clone(&start));
        start
    }
}

/// A kustomization that no delivery object points at.
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
        let named = kustomization
            .resources
            .iter()
            .chain(&kustomization.components);
        named.map(move |written| resolve(folder, written))
    });
    named.collect()
}
