//! The files that one root reaches.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashSet;

use super::counts::Counts;
use super::edits::Edits;
use super::ignored::IgnoredFiles;
use super::kustomization::KustomizationFile;
use super::path::{ancestors, folder_of, resolve};
use super::pointer::Pointer;
use super::tree::SourceTree;
use crate::manifest::is_kustomization;

/// A file that a root reaches.
#[derive(Clone, Debug)]
pub struct BuiltFile {
    /// Its place among the files of the tree.
    pub file: usize,
    /// The edits to the identities of its objects.
    pub edits: Arc<Edits>,
}

/// The files that a build reaches that begins at `start`, in the order of their paths, with `outer` done to all of them.
/// `nesting`: the levels of kustomizations that are followed.
pub(super) fn built_files(
    tree: &SourceTree<'_>,
    counts: &Counts,
    outer: &Arc<KustomizationFile>,
    start: &Start,
    nesting: usize,
) -> Vec<BuiltFile> {
    let outer = vec![Arc::clone(outer)];
    let edits = Arc::new(Edits::new(outer.clone()));
    let mut closure = Closure {
        tree,
        outer,
        nesting,
        reached: Vec::new(),
    };
    for path in &start.files {
        if let Some((file, _)) = tree.file(path) {
            closure.reach(file, &edits);
        }
    }
    let mut counted = start.folders.iter().filter_map(|folder| counts.get(folder));
    closure.follow(&start.folders, counted.any(|count| count.is_circular));
    closure.reached.sort_by_key(|reached| reached.file);
    closure.reached
}

/// Where a build begins: the kustomization of a folder or, if it has none, what Flux and Argo CD apply of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    /// Files that are applied as they are.
    files: Vec<String>,
    /// Folders whose kustomizations are built.
    folders: BTreeSet<String>,
    /// The files that were looked at to find these.
    pub(super) looks: usize,
    /// The objects that are built from here, and what else takes a step.
    pub(super) instances: usize,
}

impl Start {
    pub(super) fn of(tree: &SourceTree<'_>, counts: &Counts, pointer: &Pointer) -> Self {
        let start = match tree.kustomization(&pointer.folder) {
            Some(_) => Self {
                folders: BTreeSet::from([pointer.folder.clone()]),
                ..Self::default()
            },
            None => Self::scan(tree, pointer),
        };
        let files = start
            .files
            .iter()
            .filter_map(|path| tree.file(path))
            .map(|(_, file)| file.instances());
        let folders = start
            .folders
            .iter()
            .filter_map(|folder| counts.get(folder))
            .map(|count| count.instances);
        let instances = files.chain(folders).fold(0, usize::saturating_add);
        Self { instances, ..start }
    }

    /// The files of a folder without a kustomization that Flux and Argo CD apply: those in it; Flux those below too,
    /// and the builds of the kustomizations below (fluxcd/pkg, kustomize/kustomize_generator.go).
    fn scan(tree: &SourceTree<'_>, pointer: &Pointer) -> Self {
        let mut start = Self::default();
        let counts = pointer.files.matcher();
        let ignored = pointer
            .ignore
            .as_ref()
            .map(|patterns| IgnoredFiles::read(patterns));
        let endings = pointer.endings();
        for (path, ..) in tree.below(&pointer.folder) {
            start.looks += 1;
            if ignored
                .as_ref()
                .is_some_and(|ignored| ignored.contain(path))
            {
                continue;
            }
            // The outermost kustomization decides: the walk does not go below it.
            let outermost =
                ancestors(folder_of(path)).take_while(|folder| folder.len() > pointer.folder.len());
            match outermost
                .filter(|folder| tree.kustomization(folder).is_some())
                .last()
            {
                Some(folder) if pointer.recursive => {
                    start.folders.insert(folder.to_owned());
                }
                Some(_) => {}
                None if is_kustomization(path)
                    || !endings.iter().any(|ending| path.ends_with(ending)) => {}
                None if !counts(path[pointer.folder.len()..].trim_start_matches('/')) => {}
                None if pointer.recursive || folder_of(path) == pointer.folder => {
                    start.files.push(path.to_owned());
                }
                None => {}
            }
        }
        start
    }
}

/// The files that one root reaches, on the way.
struct Closure<'t, 'f> {
    tree: &'t SourceTree<'f>,
    /// The edits to everything.
    outer: Vec<Arc<KustomizationFile>>,
    /// The levels of kustomizations that are followed.
    nesting: usize,
    reached: Vec<BuiltFile>,
}

/// A kustomization on the way, with those that include it.
struct Level {
    folder: String,
    depth: usize,
    /// The edits to its build, the innermost first.
    steps: Vec<Arc<KustomizationFile>>,
}

impl Level {
    /// A folder that the kustomization of this one names.
    fn inner(&self, folder: String, steps: &[Arc<KustomizationFile>]) -> Self {
        Self {
            folder,
            depth: self.depth + 1,
            steps: steps.to_vec(),
        }
    }
}

impl Closure<'_, '_> {
    /// Follows the kustomizations of some folders. `is_circular`: one among them includes itself.
    fn follow(&mut self, folders: &BTreeSet<String>, is_circular: bool) {
        let mut seen: HashSet<String> = HashSet::default();
        let level = |folder: &String| Level {
            folder: folder.clone(),
            depth: 0,
            steps: self.outer.clone(),
        };
        let mut pending: Vec<Level> = folders.iter().map(level).collect();
        while let Some(level) = pending.pop() {
            // kustomize builds nothing of a circle: one way through it shows the files that it has.
            if is_circular && !seen.insert(level.folder.clone()) {
                continue;
            }
            let Some(kustomization) = self.tree.kustomization(&level.folder) else {
                continue;
            };
            if level.depth > self.nesting {
                return;
            }
            let components: Vec<String> = kustomization
                .components
                .iter()
                .map(|written| resolve(&level.folder, written))
                .collect();
            // A component changes what the kustomization that names it has built so far.
            let of_components = components
                .iter()
                .filter_map(|folder| self.tree.kustomization(folder));
            let own = of_components.chain([kustomization]).cloned();
            let steps: Vec<_> = own.chain(level.steps.iter().cloned()).collect();
            let edits = Arc::new(Edits::new(steps.clone()));
            for written in &kustomization.resources {
                let path = resolve(&level.folder, written);
                match self.tree.file(&path) {
                    Some((file, _)) => self.reach(file, &edits),
                    None => pending.push(level.inner(path, &steps)),
                }
            }
            let outside: Vec<_> = [kustomization]
                .into_iter()
                .cloned()
                .chain(level.steps.iter().cloned())
                .collect();
            let components = components.into_iter();
            pending.extend(components.map(|folder| level.inner(folder, &outside)));
        }
    }

    fn reach(&mut self, file: usize, edits: &Arc<Edits>) {
        self.reached.push(BuiltFile {
            file,
            edits: Arc::clone(edits),
        });
    }
}
