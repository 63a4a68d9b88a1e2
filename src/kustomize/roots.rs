//! The roots of a tree, and the files that each of them builds.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::edits::Edits;
use super::kustomization::KustomizationFile;
use super::path::{ancestors, folder_of, name_of, resolve};
use super::pointer::{FilePatterns, Pointer, pointers};
use super::tree::SourceTree;
use crate::manifest::{KUSTOMIZATIONS, ParsedFile};

/// Files that all roots reach together: overlays that include each other in many ways reach a file over and over.
const MOST_REACHED: usize = 200_000;
/// Kustomizations within kustomizations.
const MOST_NESTED: usize = 64;

/// What somebody builds.
#[derive(Clone, Debug)]
pub struct BuildRoot {
    /// The folder; empty for the top of the tree.
    pub folder: String,
    /// What points at it; `None` if no delivery object does.
    pub pointer: Option<Pointer>,
    /// The files that it builds, in the order of their paths.
    pub files: Vec<BuiltFile>,
}

impl BuildRoot {
    /// What the object that points at the root does to everything that is built there.
    pub fn outer(&self) -> Option<Arc<Edits>> {
        self.pointer.as_ref().map(|pointer| Arc::new(Edits::new(vec![Arc::clone(&pointer.edits)])))
    }
}

/// A file that a root reaches.
#[derive(Clone, Debug)]
pub struct BuiltFile {
    /// Its place among the files of the tree.
    pub file: usize,
    /// What becomes of the identities of its objects.
    pub edits: Arc<Edits>,
}

/// Who builds which file.
#[derive(Clone, Debug, Default)]
pub struct BuildRoots {
    /// The roots, by folder.
    pub roots: Vec<BuildRoot>,
    /// Folders with a kustomization, whoever includes it: what lies below one and is not reached is not applied.
    governed: BTreeSet<String>,
    /// Whether some files are reached in more ways than were followed.
    pub capped: bool,
    /// What points at which root.
    pointed_at: HashMap<Pointer, usize>,
    /// Files that all roots reach together.
    reached: usize,
}

impl BuildRoots {
    /// The roots of a tree. The paths of its files are from the root of the repository.
    pub fn of<'f>(files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)> + Clone) -> Self {
        let pointers = files.clone().into_iter().flat_map(|(_, file)| pointers_of(file)).collect();
        Self::with_pointers(files, pointers)
    }

    /// The same, for whoever knows what points at folders of the tree.
    pub fn with_pointers<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>,
        pointers: Vec<Pointer>,
    ) -> Self {
        let tree = SourceTree::of(files);
        let governed = tree.kustomizations().map(|(folder, _)| folder.to_owned()).collect();
        let mut found = Self { governed, ..Self::default() };
        let included = included(&tree);
        let mut starts: BTreeMap<String, Vec<Pointer>> = BTreeMap::new();
        let mut seen: HashSet<Pointer> = HashSet::new();
        for (folder, kustomization) in tree.kustomizations() {
            if !included.contains(folder) && !kustomization.is_component {
                starts.entry(folder.to_owned()).or_default();
            }
        }
        for pointer in pointers {
            if tree.below(&pointer.folder).next().is_some() && seen.insert(pointer.clone()) {
                starts.entry(pointer.folder.clone()).or_default().push(pointer);
            }
        }
        for (folder, mut pointers) in starts {
            let is_pointed_at = !pointers.is_empty();
            if !is_pointed_at {
                let edits = Arc::default();
                let files = FilePatterns::default();
                pointers.push(Pointer { by: None, folder: folder.clone(), recursive: false, files, edits });
            }
            for pointer in pointers {
                let files = found.reached(&tree, &pointer);
                let pointer = is_pointed_at.then_some(pointer);
                found.pointed_at.extend(pointer.clone().map(|pointer| (pointer, found.roots.len())));
                found.roots.push(BuildRoot { folder: folder.clone(), pointer, files });
            }
        }
        found
    }

    /// The place of the root at which something points so.
    pub fn pointed_at_by(&self, pointer: &Pointer) -> Option<usize> {
        self.pointed_at.get(pointer).copied()
    }

    /// Whether a kustomization at or above the folder of a file decides what of it is applied.
    pub fn govern(&self, path: &str) -> bool {
        let path = resolve("", path);
        ancestors(folder_of(&path)).any(|folder| self.governed.contains(folder))
    }

    fn reached(&mut self, tree: &SourceTree<'_>, pointer: &Pointer) -> Vec<BuiltFile> {
        let mut closure = Closure { tree, outer: vec![Arc::clone(&pointer.edits)], reached: Vec::new() };
        let budget = MOST_REACHED.saturating_sub(self.reached);
        self.capped |= !match tree.kustomization(&pointer.folder) {
            Some(_) => closure.follow(vec![pointer.folder.clone()], budget),
            None => closure.scan(pointer, budget),
        };
        closure.reached.sort_by_key(|reached| reached.file);
        self.reached += closure.reached.len();
        closure.reached
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

fn pointers_of(file: &ParsedFile) -> Vec<Pointer> {
    let objects = file.documents().iter().flat_map(|document| &document.objects);
    objects.flat_map(|object| pointers(object)).collect()
}

/// The files that one root reaches.
struct Closure<'t, 'f> {
    tree: &'t SourceTree<'f>,
    /// What is done to everything.
    outer: Vec<Arc<KustomizationFile>>,
    reached: Vec<BuiltFile>,
}

/// A kustomization on the way, with those that include it.
struct Level {
    folder: String,
    depth: usize,
    /// What is done to what it builds, the innermost first.
    steps: Vec<Arc<KustomizationFile>>,
}

impl Closure<'_, '_> {
    /// Follows the kustomizations of some folders. Whether everything was followed.
    fn follow(&mut self, folders: Vec<String>, budget: usize) -> bool {
        let level = |folder| Level { folder, depth: 0, steps: self.outer.clone() };
        let mut pending: Vec<Level> = folders.into_iter().map(level).collect();
        while let Some(level) = pending.pop() {
            let Some(kustomization) = self.tree.kustomization(&level.folder) else { continue };
            if level.depth > MOST_NESTED || self.reached.len() + pending.len() > budget {
                return false;
            }
            let component = |written: &String| resolve(&level.folder, written);
            let components: Vec<String> = kustomization.components.iter().map(component).collect();
            // A component changes what the kustomization that names it has built so far.
            let of_components = components.iter().filter_map(|folder| self.tree.kustomization(folder));
            let own = of_components.chain([kustomization]).cloned();
            let steps: Vec<_> = own.chain(level.steps.iter().cloned()).collect();
            let edits = Arc::new(Edits::new(steps.clone()));
            for path in kustomization.resources.iter().map(|written| resolve(&level.folder, written)) {
                match self.tree.file(&path) {
                    Some((file, _)) => self.reached.push(BuiltFile { file, edits: Arc::clone(&edits) }),
                    None => pending.push(Level { folder: path, depth: level.depth + 1, steps: steps.clone() }),
                }
            }
            let outside: Vec<_> = [kustomization].into_iter().cloned().chain(level.steps).collect();
            let inner = |folder| Level { folder, depth: level.depth + 1, steps: outside.clone() };
            pending.extend(components.into_iter().map(inner));
        }
        true
    }

    /// What Flux and Argo CD apply of a folder without a kustomization: its files; Flux those below too, and what the
    /// kustomizations below build (fluxcd/pkg, kustomize/kustomize_generator.go).
    fn scan(&mut self, pointer: &Pointer, budget: usize) -> bool {
        let edits = Arc::new(Edits::new(self.outer.clone()));
        let mut built = BTreeSet::new();
        let counts = pointer.files.matcher();
        for (path, file) in self.tree.below(&pointer.folder) {
            let inside = |folder: &&str| folder.len() > pointer.folder.len();
            // The outermost kustomization decides: the walk does not go below it.
            let outermost = ancestors(folder_of(path)).take_while(inside);
            match outermost.filter(|folder| self.tree.kustomization(folder).is_some()).last() {
                Some(folder) if pointer.recursive => {
                    built.insert(folder.to_owned());
                }
                Some(_) => {}
                None if KUSTOMIZATIONS.contains(&name_of(path)) => {}
                None if !counts(path[pointer.folder.len()..].trim_start_matches('/')) => {}
                None if pointer.recursive || folder_of(path) == pointer.folder => {
                    self.reached.push(BuiltFile { file, edits: Arc::clone(&edits) });
                }
                None => {}
            }
        }
        self.follow(built.into_iter().collect(), budget)
    }
}
