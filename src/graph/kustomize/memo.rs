//! Builds that are made once: of one state of a tree, and of two that are alike in all that a build asks.

use std::cell::RefCell;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::build::{BuildError, Built};
use super::doc::KustomizationDoc;
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

/// The files of a tree, for one build: what is asked of them is written down.
pub(super) struct Watched<'w> {
    files: &'w TreeFiles<'w>,
    asked: RefCell<HashSet<Asked>>,
}

impl<'w> Watched<'w> {
    pub(super) fn new(files: &'w TreeFiles<'w>) -> Self {
        Self {
            files,
            asked: RefCell::default(),
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
    before: Option<&'b Builds<'b>>,
    made: RefCell<HashMap<String, Arc<Remembered>>>,
    /// Whether both states answer alike.
    alike: RefCell<HashMap<Asked, bool>>,
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
            before: None,
            made: RefCell::default(),
            alike: RefCell::default(),
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

    /// The build of a kustomization: cached, or by `build`, which asks the files that it gets.
    pub(super) fn get_or_build(
        &self,
        doc: &KustomizationDoc,
        build: impl FnOnce(&Watched<'_>) -> Result<Built, BuildError>,
    ) -> Result<Built, BuildError> {
        let said = doc.node.to_json(DEPTH);
        let key = format!("{}\n{}\n{said}", doc.folder, doc.file);
        let own = self.made.borrow().get(&key).cloned();
        if let Some(known) = own.or_else(|| self.lent(&key)) {
            let outcome = known.outcome.clone();
            self.made.borrow_mut().insert(key, known);
            return outcome;
        }
        let watched = Watched::new(self.files);
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
