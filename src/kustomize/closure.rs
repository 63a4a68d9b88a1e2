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
use crate::manifest::{ParsedFile, is_kustomization};

/// A file that a root reaches.
#[derive(Clone, Debug)]
pub struct BuiltFile {
    /// Its place among the files of the tree.
    pub file: usize,
    /// The edits to the identities of its objects.
    pub edits: Arc<Edits>,
}

/// The obstacle that keeps a root from being built: a folder that it includes and that no kustomization is in (kustomize,
/// api/internal/target/kusttarget.go), or a file that is missing or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildObstacle {
    /// `apps has no kustomization`.
    pub reason: String,
    /// The file that is in the way, or the folder of the kustomization that names what is.
    pub place: String,
    /// The folder or file that the kustomization names.
    pub named: Option<String>,
}

/// The files that are built from the target of a pointer.
#[derive(Clone, Debug, Default)]
pub(super) struct BuiltFiles {
    /// The files, in the order of their paths.
    pub(super) files: Vec<BuiltFile>,
    /// The obstacle that keeps it from being built, if any.
    pub(super) unbuildable: Option<BuildObstacle>,
    /// The folders whose kustomizations are included.
    pub(super) kustomizations: BTreeSet<String>,
    /// The first folder that too many kustomizations include within each other.
    pub(super) unfollowed: Option<String>,
    /// The kustomizations that were found below a folder that has none.
    pub(super) found: BTreeSet<String>,
}

impl BuiltFiles {
    /// The files that a build reaches that begins at `start`, with `outer` done to all of them. `nesting`: the levels of
    /// kustomizations that are followed.
    pub(super) fn of(
        tree: &SourceTree<'_>,
        counts: &Counts,
        outer: &Arc<KustomizationFile>,
        start: &Start,
        nesting: usize,
    ) -> Self {
        let outer = vec![Arc::clone(outer)];
        let edits = Arc::new(Edits::new(outer.clone()));
        let mut closure = Closure {
            tree,
            outer,
            nesting,
            reached: Self::default(),
        };
        for path in &start.files {
            if let Some((file, parsed)) = tree.file(path) {
                closure.reach(path, file, parsed, &edits);
            }
        }
        closure.follow(
            &start.folders,
            start
                .folders
                .iter()
                .find_map(|folder| counts.get(folder)?.circle.as_deref()),
        );
        closure.reached.files.sort_by_key(|reached| reached.file);
        if start.is_scanned {
            closure.reached.found.clone_from(&start.folders);
        }
        closure.reached
    }
}

/// Where a build begins: the kustomization of a folder or, if it has none, what Flux and Argo CD apply of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    /// Files that are applied as they are.
    files: Vec<String>,
    /// Folders whose kustomizations are built.
    folders: BTreeSet<String>,
    is_scanned: bool,
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
        let mut start = Self {
            is_scanned: true,
            ..Self::default()
        };
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
    reached: BuiltFiles,
}

/// A kustomization on the way, with those that include it.
struct Level {
    folder: String,
    /// The folder of the kustomization that includes it, and what that says.
    by: String,
    written: String,
    depth: usize,
    /// The edits to its build, the innermost first.
    steps: Vec<Arc<KustomizationFile>>,
}

impl Level {
    /// A folder that the kustomization of this one names.
    fn inner(&self, folder: String, written: &str, steps: &[Arc<KustomizationFile>]) -> Self {
        let (by, written) = (self.folder.clone(), written.to_owned());
        Self {
            folder,
            by,
            written,
            depth: self.depth + 1,
            steps: steps.to_vec(),
        }
    }
}

impl Closure<'_, '_> {
    /// Follows the kustomizations of some folders. `circle`: one among them that includes itself.
    fn follow(&mut self, folders: &BTreeSet<String>, circle: Option<&str>) {
        if let Some(folder) = circle {
            let reason = format!("{folder} includes itself");
            self.hinder(|| BuildObstacle {
                reason,
                place: folder.to_owned(),
                named: None,
            });
        }
        let mut seen: HashSet<String> = HashSet::default();
        let level = |folder: &String| Level {
            by: folder.clone(),
            written: folder.clone(),
            folder: folder.clone(),
            depth: 0,
            steps: self.outer.clone(),
        };
        let mut pending: Vec<Level> = folders.iter().map(level).collect();
        while let Some(level) = pending.pop() {
            // kustomize builds nothing of a circle: one way through it shows the files that it has.
            if circle.is_some() && !seen.insert(level.folder.clone()) {
                continue;
            }
            let Some(kustomization) = self.tree.kustomization(&level.folder) else {
                let is_folder = self.tree.contains(&level.folder)
                    && !self.tree.names_kustomization(&level.folder);
                if is_folder {
                    let reason = format!("{} has no kustomization", level.folder);
                    self.hinder(|| BuildObstacle {
                        reason,
                        place: level.by,
                        named: Some(level.written),
                    });
                }
                continue;
            };
            if let Some(path) = &kustomization.broken {
                let reason = format!("{path} cannot be read");
                self.hinder(|| BuildObstacle {
                    reason,
                    place: path.clone(),
                    named: None,
                });
                continue;
            }
            if level.depth > self.nesting {
                self.reached.unfollowed = Some(level.folder);
                return;
            }
            self.reached.kustomizations.insert(level.folder.clone());
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
            for written in kustomization
                .resources
                .iter()
                .chain(&kustomization.components)
            {
                if self.tree.lacks(&resolve(&level.folder, written)) {
                    let (reason, named) =
                        (format!("{written} does not exist"), Some(written.clone()));
                    self.hinder(|| BuildObstacle {
                        reason,
                        place: level.folder.clone(),
                        named,
                    });
                }
            }
            for written in &kustomization.resources {
                let path = resolve(&level.folder, written);
                match self.tree.file(&path) {
                    Some((file, parsed)) => self.reach(&path, file, parsed, &edits),
                    None => pending.push(level.inner(path, written, &steps)),
                }
            }
            let outside: Vec<_> = [kustomization]
                .into_iter()
                .cloned()
                .chain(level.steps.iter().cloned())
                .collect();
            let components = components.into_iter().zip(&kustomization.components);
            pending
                .extend(components.map(|(folder, written)| level.inner(folder, written, &outside)));
        }
    }

    /// Takes a file. One that cannot be read is in the way of all: kustomize, Flux and Argo CD give up on it.
    fn reach(&mut self, path: &str, file: usize, parsed: &ParsedFile, edits: &Arc<Edits>) {
        if parsed
            .documents()
            .iter()
            .any(|document| document.error().is_some())
        {
            let reason = format!("{path} cannot be read");
            self.hinder(|| BuildObstacle {
                reason,
                place: path.to_owned(),
                named: None,
            });
        }
        self.reached.files.push(BuiltFile {
            file,
            edits: Arc::clone(edits),
        });
    }

    /// Notes what is in the way, unless something else is already.
    fn hinder(&mut self, obstacle: impl FnOnce() -> BuildObstacle) {
        self.reached.unbuildable.get_or_insert_with(obstacle);
    }
}
