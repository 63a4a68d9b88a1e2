//! Several bundles, one set of files: a file that two bundles share is one file of the report.

use std::collections::{BTreeMap, HashMap};

use super::input::Bundle;
use crate::kube::ObjectKey;
use crate::report::Place;
use crate::text::{FileId, Side, SourceFile, Sources};

/// The files of all bundles, in the order of their reported paths.
#[derive(Debug)]
pub(super) struct Merged {
    /// The files.
    pub(super) sources: Sources,
    /// For each bundle, which of `sources` its files are.
    bundles: Vec<Vec<FileId>>,
    /// Which one the configuration is.
    pub(super) config: Option<FileId>,
    /// Which one the baseline is.
    pub(super) baseline: Option<FileId>,
}

impl Merged {
    /// The files of `bundles`, and the configuration and baseline that findings may point at.
    pub(super) fn new(bundles: &[Bundle], config: Option<&SourceFile>, baseline: Option<&SourceFile>) -> Self {
        let mut files: BTreeMap<(&str, Side), &SourceFile> = BTreeMap::new();
        files.extend(bundles.iter().flat_map(files_of).map(|file| (name_of(file), file)));
        for file in config.into_iter().chain(baseline) {
            files.entry(name_of(file)).or_insert(file);
        }
        let ids: HashMap<_, _> = files.keys().zip((0u32..).map(FileId)).collect();
        // Every file that is asked for was put in above.
        let id = |file: &SourceFile| ids[&name_of(file)];
        Self {
            bundles: bundles.iter().map(|bundle| files_of(bundle).map(id).collect()).collect(),
            config: config.map(id),
            baseline: baseline.map(id),
            sources: Sources::new(files.values().map(|file| (*file).clone()).collect()),
        }
    }

    /// For each file of the bundle at that place, which one it is here.
    pub(super) fn files_of(&self, bundle: usize) -> &[FileId] {
        &self.bundles[bundle]
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
