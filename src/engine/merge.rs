//! Several bundles, or both sides of a change, and one set of files: a file that two of them share is one file of the report.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::input::Bundle;
use crate::kube::ObjectKey;
use crate::report::Place;
use crate::text::{FileId, Side, SourceFile, Sources};

/// The files of a run, in the order of their reported paths.
#[derive(Debug)]
pub(super) struct Merged {
    /// The files.
    pub(super) sources: Sources,
    /// For each bundle or other set of files, which of `sources` they are.
    sets: Vec<Vec<FileId>>,
    /// Which one the configuration is.
    pub(super) config: Option<FileId>,
    /// Which one the baseline is.
    pub(super) baseline: Option<FileId>,
}

impl Merged {
    /// The files of `bundles`, and the configuration and baseline that findings may point at.
    pub(super) fn new(bundles: &[Bundle], config: Option<&SourceFile>, baseline: Option<&SourceFile>) -> Self {
        Self::of(bundles.iter().map(|bundle| files_of(bundle).collect()), config, baseline)
    }

    /// The files of several sets, and the configuration and baseline that findings may point at.
    pub(super) fn of<'f>(
        sets: impl IntoIterator<Item = Vec<&'f SourceFile>>,
        config: Option<&'f SourceFile>,
        baseline: Option<&'f SourceFile>,
    ) -> Self {
        let sets: Vec<Vec<&SourceFile>> = sets.into_iter().collect();
        let mut files: BTreeMap<(&str, Side), &SourceFile> = BTreeMap::new();
        files.extend(sets.iter().flatten().map(|file| (name_of(file), *file)));
        for file in config.into_iter().chain(baseline) {
            files.entry(name_of(file)).or_insert(file);
        }
        let ids: HashMap<_, _> = files.keys().zip((0u32..).map(FileId)).collect();
        // Every file that is asked for was put in above.
        let id = |file: &SourceFile| ids[&name_of(file)];
        Self {
            sets: sets.iter().map(|set| set.iter().map(|file| id(file)).collect()).collect(),
            config: config.map(id),
            baseline: baseline.map(id),
            sources: Sources::new(files.values().map(|file| (*file).clone()).collect()),
        }
    }

    /// The sets that each file belongs to.
    pub(super) fn sets_by_file(&self) -> HashMap<FileId, Vec<usize>> {
        let mut sets: HashMap<FileId, Vec<usize>> = HashMap::default();
        for (at, files) in self.sets.iter().enumerate() {
            for file in files {
                sets.entry(*file).or_default().push(at);
            }
        }
        sets
    }

    /// For each file of the set at that place, which one it is here.
    pub(super) fn files_of(&self, set: usize) -> &[FileId] {
        &self.sets[set]
    }
}

fn files_of(bundle: &Bundle) -> impl Iterator<Item = &SourceFile> {
    bundle.inventory.sources.iter().map(|(_, file)| file)
}

/// What tells files apart: two sides of a change have one path.
fn name_of(file: &SourceFile) -> (&str, Side) {
    (file.path(), file.side())
}

/// Where the objects of a bundle are written, by key; of one that is written more than once the first place.
#[derive(Debug)]
pub(super) struct Places<'b>(HashMap<&'b ObjectKey, Place>);

impl<'b> Places<'b> {
    pub(super) fn of(bundle: &'b Bundle, files: &[FileId]) -> Self {
        let members = bundle.inventory.members.iter().rev();
        let place = |file: FileId, span| Place { file: files[file.0 as usize], span };
        Self(members.map(|member| (&member.key, place(member.file, member.object.name_span()))).collect())
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<Place> {
        self.0.get(key).copied()
    }
}
