//! Builds that are made once: of one state of a tree, and of two that are alike in all that a build asks.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::build::{BuildError, Built, resources_of};
use super::doc::{KustomizationDoc, kustomization};
use crate::charts::{ChartFolder, Charts};
use crate::graph::files::{Bytes, Parsed, TreeFiles};

/// The depth to which kustomizations are compared: far deeper than any has keys that count.
const DEPTH: usize = 200;

/// Something that a build asked of the files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asked {
    /// The content of a file, or whether it is there.
    File(String),
    /// Whether there is a folder.
    Folder(String),
    /// The files of the chart in a folder.
    Chart(String),
}

/// The inputs that may be missing or broken without making a build fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lack {
    /// Nothing, as a tool that has the files of the tree and no others.
    Nothing,
    /// Files that no commit has, as a person who has them: those that the tree before, if there is one, misses, too.
    Uncommitted,
    /// Everything that fails.
    Whatever,
}

/// The files of a tree, for one build: what is asked of them is written down.
pub(super) struct Watched<'w> {
    files: &'w TreeFiles<'w>,
    before: Option<&'w TreeFiles<'w>>,
    pub(super) lack: Lack,
    asked: RefCell<HashSet<Asked>>,
}

impl<'w> Watched<'w> {
    pub(super) fn new(files: &'w TreeFiles<'w>) -> Self {
        Self {
            files,
            before: None,
            lack: Lack::Nothing,
            asked: RefCell::default(),
        }
    }

    /// Whether the tree has not a file or a folder that who builds may have.
    pub(super) fn lacks(&self, path: &str) -> bool {
        let misses = |tree: &TreeFiles<'_>| !tree.has_file(path) && !tree.has_folder(path);
        match self.lack {
            Lack::Nothing => false,
            Lack::Uncommitted => misses(self.files) && self.before.is_none_or(misses),
            Lack::Whatever => misses(self.files),
        }
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.write_down(Asked::File(path.to_owned()));
        self.files.has_file(path)
    }

    pub(super) fn has_folder(&self, folder: &str) -> bool {
        self.write_down(Asked::Folder(folder.to_owned()));
        self.files.has_folder(folder)
    }

    pub(super) fn bytes(&self, path: &str) -> Bytes {
        self.write_down(Asked::File(path.to_owned()));
        self.files.bytes(path)
    }

    pub(super) fn parsed(&self, path: &str) -> Arc<Parsed> {
        self.write_down(Asked::File(path.to_owned()));
        self.files.parsed(path)
    }

    /// The chart in a folder.
    pub(super) fn chart(&self, folder: &str) -> Result<Arc<ChartFolder>, String> {
        self.write_down(Asked::Chart(folder.to_owned()));
        self.files.chart(folder)
    }

    /// The kustomizations of a folder.
    pub(super) fn kustomizations_of(&self, folder: &str) -> impl Iterator<Item = String> {
        let names = TreeFiles::kustomization_names(folder);
        names.filter(|path| self.has_file(path))
    }

    fn write_down(&self, asked: Asked) {
        self.asked.borrow_mut().insert(asked);
    }
}

/// The builds of a state of a tree, and those that it can reuse from the state before.
pub struct Builds<'b> {
    pub(super) files: &'b TreeFiles<'b>,
    charts: &'b Charts,
    /// The inputs that a build may do without, unless its builder says otherwise.
    pub(super) lack: Lack,
    before: Option<&'b Builds<'b>>,
    made: RefCell<HashMap<String, Arc<Remembered>>>,
    /// Whether both states answer alike.
    alike: RefCell<HashMap<Asked, bool>>,
    /// The objects that a file or the kustomization of a folder has, that itself counted, by path; `None` while it is counted.
    objects: RefCell<HashMap<String, Option<usize>>>,
    /// Those among these that are no copies.
    counted: Cell<usize>,
}

struct Remembered {
    outcome: Result<Built, BuildError>,
    asked: HashSet<Asked>,
}

impl<'b> Builds<'b> {
    /// Nothing yet, of some files.
    pub fn of(files: &'b TreeFiles<'b>, charts: &'b Charts) -> Self {
        Self {
            files,
            charts,
            lack: Lack::Nothing,
            before: None,
            made: RefCell::default(),
            alike: RefCell::default(),
            objects: RefCell::default(),
            counted: Cell::default(),
        }
    }

    /// These, each without everything that makes it fail.
    #[must_use]
    pub fn without_failures(self) -> Self {
        Self {
            lack: Lack::Whatever,
            ..self
        }
    }

    /// Nothing yet, of files that come after those of other builds.
    pub fn after(before: &'b Builds<'b>, files: &'b TreeFiles<'b>) -> Self {
        Self {
            before: Some(before),
            ..Self::of(files, before.charts)
        }
    }

    /// The charts that builds ask for.
    pub fn charts(&self) -> &'b Charts {
        self.charts
    }

    /// The files that are built.
    pub fn files(&self) -> &'b TreeFiles<'b> {
        self.files
    }

    /// The copies of objects that kustomizations make before patches, apart from the first of each: overlays that include
    /// each other in many ways build a few objects over and over. Nothing is built for that. `objects`: all that they make.
    pub fn copies(&self, objects: usize) -> usize {
        objects.saturating_sub(self.counted.get())
    }

    /// The objects that a kustomization makes before patches, and the kustomizations that it includes. `levels`: how deep
    /// kustomizations within kustomizations are followed.
    pub fn objects_of(&self, doc: &KustomizationDoc, levels: usize) -> usize {
        let included = doc.includes().into_iter();
        included.fold(0, |all, path| {
            all.saturating_add(self.objects_at(path, levels))
        })
    }

    fn objects_at(&self, path: String, levels: usize) -> usize {
        if let Some(known) = self.objects.borrow().get(&path) {
            return known.unwrap_or_default();
        }
        self.objects.borrow_mut().insert(path.clone(), None);
        let objects = if self.files.has_file(&path) {
            let found = resources_of(&self.files.parsed(&path), &path);
            let found = found.map_or(0, |found| found.len());
            self.counted.set(self.counted.get() + found);
            found
        } else {
            match (levels.checked_sub(1), kustomization(self.files, &path)) {
                (Some(levels), Ok(doc)) => {
                    self.counted.set(self.counted.get() + 1);
                    self.objects_of(&doc, levels).saturating_add(1)
                }
                _ => 0,
            }
        };
        self.objects.borrow_mut().insert(path, Some(objects));
        objects
    }

    /// The build of a kustomization: cached, or by `build`, which asks the files that it gets.
    pub(super) fn get_or_build(
        &self,
        doc: &KustomizationDoc,
        lack: Lack,
        build: impl FnOnce(&Watched<'_>) -> Result<Built, BuildError>,
    ) -> Result<Built, BuildError> {
        let said = doc.node.to_json(DEPTH);
        let key = format!("{lack:?}\n{}\n{}\n{said}", doc.folder, doc.file);
        let own = self.made.borrow().get(&key).cloned();
        if let Some(known) = own.or_else(|| self.lent(&key)) {
            let outcome = known.outcome.clone();
            self.made.borrow_mut().insert(key, known);
            return outcome;
        }
        let watched = Watched {
            before: self.before.map(|before| before.files),
            lack,
            ..Watched::new(self.files)
        };
        let outcome = build(&watched);
        let remembered = Remembered {
            outcome: outcome.clone(),
            asked: watched.asked.into_inner(),
        };
        self.made.borrow_mut().insert(key, Arc::new(remembered));
        outcome
    }

    /// The build of the state before, if everything that it asked has an equal answer here.
    fn lent(&self, key: &str) -> Option<Arc<Remembered>> {
        let before = self.before?;
        let known = before.made.borrow().get(key).cloned()?;
        let is_alike = known.asked.iter().all(|asked| self.is_alike(before, asked));
        is_alike.then_some(known)
    }

    fn is_alike(&self, before: &Builds<'_>, asked: &Asked) -> bool {
        if let Some(known) = self.alike.borrow().get(asked) {
            return *known;
        }
        let is_alike = match asked {
            Asked::File(path) => before.files.bytes(path) == self.files.bytes(path),
            Asked::Folder(folder) => {
                before.files.has_folder(folder) == self.files.has_folder(folder)
            }
            Asked::Chart(folder) => before.files.chart(folder) == self.files.chart(folder),
        };
        self.alike.borrow_mut().insert(asked.clone(), is_alike);
        is_alike
    }
}
