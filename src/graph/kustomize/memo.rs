//! A cache of builds of a state of a tree. It reuses previous builds if all their inputs are equal.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::build::{BuildError, Built};
use super::doc::{KustomizationDoc, kustomization};
use super::generate::content_hash;
use super::objects::resources_of;
use super::part::Part;
use super::resource::Resource;
use crate::charts::{ChartFolder, Charts};
use crate::graph::files::{Bytes, Parsed, TreeFiles};
use crate::graph::node::{Entries, Node};

/// Maximum number of levels of a kustomization in the key of its cached build; no field that a build reads is that deep.
const DEPTH: usize = 200;

/// A fact about files that a result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Dependency {
    /// The content of a file, or its absence.
    File(String),
    /// Whether there is a folder.
    Folder(String),
    /// The files of the chart in a folder.
    Chart(String),
    /// The cluster-scoped kinds that the tree defines.
    Scopes,
}

/// The inputs that may be missing or broken without making a build fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tolerance {
    /// Nothing may be missing: the builder has only the files of the tree.
    Nothing,
    /// Files that neither this tree nor the previous one has: the person who builds may have them uncommitted.
    Uncommitted,
    /// All inputs: those that are missing or fail are left out.
    Whatever,
}

/// The files of a tree for one build, with a record of what it reads.
pub(super) struct Watched<'w> {
    files: &'w TreeFiles<'w>,
    before: Option<&'w TreeFiles<'w>>,
    pub(super) tolerance: Tolerance,
    record: RefCell<Record>,
}

/// Everything that determines the outcome of a build.
#[derive(Default)]
pub(super) struct Record {
    dependencies: HashSet<Dependency>,
    parts: Vec<Arc<Part>>,
    /// The greatest number of nested kustomizations, counted from the outermost.
    pub(super) deepest: usize,
}

impl<'w> Watched<'w> {
    pub(super) fn new(files: &'w TreeFiles<'w>) -> Self {
        Self {
            files,
            before: None,
            tolerance: Tolerance::Nothing,
            record: RefCell::default(),
        }
    }

    /// Creates the files for a part of the build.
    pub(super) fn of_part(&self) -> Self {
        Self {
            record: RefCell::default(),
            ..*self
        }
    }

    /// Records that a kustomization is built. `levels` is the number of kustomizations around it, plus one.
    pub(super) fn enter(&self, levels: usize) {
        let mut record = self.record.borrow_mut();
        record.deepest = record.deepest.max(levels);
    }

    /// Records a part that is nested in `around` kustomizations.
    pub(super) fn include(&self, part: &Arc<Part>, around: usize) {
        self.enter(around + part.levels);
        self.record.borrow_mut().parts.push(Arc::clone(part));
    }

    /// Records everything that was read by a part that cannot be built.
    pub(super) fn include_failed(&self, part: Self) {
        let mut record = self.record.borrow_mut();
        let failed = part.record.into_inner();
        record.dependencies.extend(failed.dependencies);
        record.parts.extend(failed.parts);
    }

    /// Returns everything that was read.
    pub(super) fn into_record(self) -> Record {
        self.record.into_inner()
    }

    /// Whether a file or a folder is missing without making the build fail.
    pub(super) fn lacks(&self, path: &str) -> bool {
        match self.tolerance {
            Tolerance::Nothing => false,
            Tolerance::Uncommitted => {
                !self.has(path) && self.before.is_none_or(|before| !before.has(path))
            }
            Tolerance::Whatever => !self.has(path),
        }
    }

    fn has(&self, path: &str) -> bool {
        self.has_file(path) || self.has_folder(path)
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.write_down(Dependency::File(path.to_owned()));
        self.files.has_file(path)
    }

    pub(super) fn has_folder(&self, folder: &str) -> bool {
        self.write_down(Dependency::Folder(folder.to_owned()));
        self.files.has_folder(folder)
    }

    pub(super) fn bytes(&self, path: &str) -> Bytes {
        self.write_down(Dependency::File(path.to_owned()));
        self.files.bytes(path)
    }

    pub(super) fn parsed(&self, path: &str) -> Arc<Parsed> {
        self.write_down(Dependency::File(path.to_owned()));
        self.files.parsed(path)
    }

    /// Returns the chart in a folder.
    pub(super) fn chart(&self, folder: &str) -> Result<Arc<ChartFolder>, String> {
        self.write_down(Dependency::Chart(folder.to_owned()));
        self.files.chart(folder)
    }

    /// Returns the kustomizations of a folder.
    pub(super) fn kustomizations_of(&self, folder: &str) -> impl Iterator<Item = String> {
        let names = TreeFiles::kustomization_names(folder);
        names.filter(|path| self.has_file(path))
    }

    fn write_down(&self, dependency: Dependency) {
        self.record.borrow_mut().dependencies.insert(dependency);
    }
}

/// The builds of a state of a tree, with those of the previous state that can be reused.
pub struct Builds<'b> {
    pub(super) files: &'b TreeFiles<'b>,
    charts: &'b Charts,
    /// The inputs that may be missing or broken, unless a builder overrides it.
    pub(super) tolerance: Tolerance,
    before: Option<&'b Builds<'b>>,
    made: RefCell<HashMap<String, Arc<CachedBuild>>>,
    /// Builds that are applied together, by their addresses and their namespace.
    placed: RefCell<HashMap<PlacedKey, Arc<Placed>>>,
    /// The hashes of generated ConfigMaps by the address of their data, which is kept alive.
    hashes: RefCell<HashMap<*const Entries, (Arc<Entries>, String)>>,
    /// The parts that builds of several kustomizations share, by folder.
    parts: RefCell<HashMap<(Tolerance, String), Arc<Part>>>,
    /// Cache: whether a fact is the same in both states.
    unchanged: RefCell<HashMap<Dependency, bool>>,
    /// Cache: whether a part of the previous state, by its address, can be reused.
    parts_unchanged: RefCell<HashMap<*const Part, bool>>,
    /// The number of objects in a file, or in a kustomization plus one for itself, by path; `None` while it is counted.
    objects: RefCell<HashMap<String, Option<usize>>>,
    /// The number of these objects that are not copies.
    counted: Cell<usize>,
}

type PlacedKey = (Vec<*const Vec<Resource>>, String);

/// Builds that are applied together in a namespace.
struct Placed {
    /// Keeps the builds alive, so that no other build gets their addresses.
    _parts: Vec<Arc<Vec<Resource>>>,
    together: Arc<Vec<Resource>>,
}

struct CachedBuild {
    outcome: Result<Built, BuildError>,
    record: Record,
}

impl<'b> Builds<'b> {
    /// Creates an empty cache for the builds of `files`.
    pub fn new(files: &'b TreeFiles<'b>, charts: &'b Charts) -> Self {
        Self {
            files,
            charts,
            tolerance: Tolerance::Nothing,
            before: None,
            made: RefCell::default(),
            placed: RefCell::default(),
            hashes: RefCell::default(),
            parts: RefCell::default(),
            unchanged: RefCell::default(),
            parts_unchanged: RefCell::default(),
            objects: RefCell::default(),
            counted: Cell::default(),
        }
    }

    /// Makes every build leave out everything that fails.
    #[must_use]
    pub fn without_failures(self) -> Self {
        Self {
            tolerance: Tolerance::Whatever,
            ..self
        }
    }

    /// Creates an empty cache for the builds of `files`, the state after that of `before`.
    pub fn after(before: &'b Builds<'b>, files: &'b TreeFiles<'b>) -> Self {
        Self {
            before: Some(before),
            ..Self::new(files, before.charts)
        }
    }

    /// Returns the charts that builds request.
    pub fn charts(&self) -> &'b Charts {
        self.charts
    }

    /// Returns the files that are built.
    pub fn files(&self) -> &'b TreeFiles<'b> {
        self.files
    }

    /// Returns the files of the previous state.
    pub fn files_before(&self) -> Option<&'b TreeFiles<'b>> {
        self.before.map(|before| before.files)
    }

    /// Returns how many of `objects`, a result of [`Self::objects_of`], are copies: overlays that
    /// include one base several times multiply its objects.
    pub fn copies(&self, objects: usize) -> usize {
        objects.saturating_sub(self.counted.get())
    }

    /// Counts, without a build, the objects that a kustomization makes before patches, plus the
    /// kustomizations that it includes, nested at most `levels` deep.
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

    /// Returns the cached build of a kustomization, or calls `build` with the files to read.
    pub(super) fn get_or_build(
        &self,
        doc: &KustomizationDoc,
        tolerance: Tolerance,
        build: impl FnOnce(&Watched<'_>) -> Result<Built, BuildError>,
    ) -> Result<Built, BuildError> {
        let said = serde_json::to_string(&doc.node.to_json(DEPTH)).unwrap_or_default();
        let key = format!("{tolerance:?}\n{}\n{}\n{said}", doc.folder, doc.file);
        let own = self.made.borrow().get(&key).cloned();
        if let Some(known) = own.or_else(|| self.reusable(&key)) {
            let outcome = known.outcome.clone();
            self.made.borrow_mut().insert(key, known);
            return outcome;
        }
        let watched = Watched {
            before: self.before.map(|before| before.files),
            tolerance,
            ..Watched::new(self.files)
        };
        let outcome = build(&watched);
        let cached = CachedBuild {
            outcome: outcome.clone(),
            record: watched.record.into_inner(),
        };
        self.made.borrow_mut().insert(key, Arc::new(cached));
        outcome
    }

    /// Returns the objects of `parts`, builds that are applied together in a namespace: from the
    /// cache of this state or the previous one, or from `place`.
    pub fn placed(
        &self,
        parts: Vec<Arc<Vec<Resource>>>,
        namespace: &str,
        place: impl FnOnce(&[Arc<Vec<Resource>>]) -> Vec<Resource>,
    ) -> Arc<Vec<Resource>> {
        let key = (
            parts.iter().map(Arc::as_ptr).collect(),
            namespace.to_owned(),
        );
        let own = self.placed.borrow().get(&key).cloned();
        let known = own.or_else(|| {
            let before = self.before?;
            let known = before.placed.borrow().get(&key).cloned()?;
            self.is_unchanged(before, &Dependency::Scopes)
                .then_some(known)
        });
        let placed = known.unwrap_or_else(|| {
            Arc::new(Placed {
                together: Arc::new(place(&parts)),
                _parts: parts,
            })
        });
        let together = Arc::clone(&placed.together);
        self.placed.borrow_mut().insert(key, placed);
        together
    }

    /// Returns the build of the previous state, if everything that it read is unchanged.
    fn reusable(&self, key: &str) -> Option<Arc<CachedBuild>> {
        let before = self.before?;
        let known = before.made.borrow().get(key).cloned()?;
        self.is_record_unchanged(before, &known.record)
            .then_some(known)
    }

    /// Returns the part that a folder builds, of this state or of the previous one.
    pub(super) fn part(&self, tolerance: Tolerance, folder: &str) -> Option<Arc<Part>> {
        let key = (tolerance, folder.to_owned());
        if let Some(known) = self.parts.borrow().get(&key) {
            return Some(Arc::clone(known));
        }
        let before = self.before?;
        let known = before.parts.borrow().get(&key).cloned()?;
        if !self.is_part_unchanged(before, &known) {
            return None;
        }
        self.parts.borrow_mut().insert(key, Arc::clone(&known));
        Some(known)
    }

    /// Returns the hash of the content of a generated object. Builds that include the same part share the data of its
    /// ConfigMaps, so the hash of these is computed once.
    pub(super) fn content_hash(&self, node: &Node) -> String {
        let is_plain = node.str_at(&["kind"]) != Some("Secret") && node.get("binaryData").is_none();
        let Some(Node::Map(data)) = node.get("data").filter(|_| is_plain) else {
            return content_hash(node);
        };
        let mut hashes = self.hashes.borrow_mut();
        let known = hashes.entry(Arc::as_ptr(&data));
        let (_, hash) = known.or_insert_with(|| (data, content_hash(node)));
        hash.clone()
    }

    /// Caches a part for the builds that include its folder.
    pub(super) fn keep(&self, tolerance: Tolerance, folder: &str, part: &Arc<Part>) {
        let key = (tolerance, folder.to_owned());
        self.parts.borrow_mut().insert(key, Arc::clone(part));
    }

    fn is_record_unchanged(&self, before: &Builds<'_>, record: &Record) -> bool {
        let mut dependencies = record.dependencies.iter();
        let mut parts = record.parts.iter();
        dependencies.all(|dependency| self.is_unchanged(before, dependency))
            && parts.all(|part| self.is_part_unchanged(before, part))
    }

    fn is_part_unchanged(&self, before: &Builds<'_>, part: &Arc<Part>) -> bool {
        let place = Arc::as_ptr(part);
        if let Some(known) = self.parts_unchanged.borrow().get(&place) {
            return *known;
        }
        let is_unchanged = self.is_record_unchanged(before, &part.record);
        self.parts_unchanged
            .borrow_mut()
            .insert(place, is_unchanged);
        is_unchanged
    }

    fn is_unchanged(&self, before: &Builds<'_>, dependency: &Dependency) -> bool {
        if let Some(known) = self.unchanged.borrow().get(dependency) {
            return *known;
        }
        let is_unchanged = match dependency {
            Dependency::File(path) => before.files.bytes(path) == self.files.bytes(path),
            Dependency::Folder(folder) => {
                before.files.has_folder(folder) == self.files.has_folder(folder)
            }
            Dependency::Chart(folder) => before.files.chart(folder) == self.files.chart(folder),
            Dependency::Scopes => before.files.scopes() == self.files.scopes(),
        };
        self.unchanged
            .borrow_mut()
            .insert(dependency.clone(), is_unchanged);
        is_unchanged
    }
}
