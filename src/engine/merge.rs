//! Several bundles, one set of files: a file that two bundles share is one file of the report.

use std::collections::{BTreeMap, HashMap};

use super::input::Bundle;
use crate::kube::ObjectKey;
use crate::report::Place;
use crate::text::{FileId, SourceFile, Sources};

/// The files of all bundles, in the order of their reported paths.
#[derive(Debug)]
pub(super) struct Merged {
    /// The files.
    pub(super) sources: Sources,
    /// How many of them the bundles hold.
    pub(super) files: usize,
    ids: HashMap<String, FileId>,
}

impl Merged {
    /// The files of `bundles`, and the configuration and baseline that findings may point at.
    pub(super) fn new<'a>(bundles: &[Bundle], others: impl IntoIterator<Item = &'a SourceFile>) -> Self {
        let mut files: BTreeMap<&str, &SourceFile> = BTreeMap::new();
        for bundle in bundles {
            files.extend(bundle.inventory.sources.iter().map(|(_, file)| (file.path(), file)));
        }
        let count = files.len();
        for file in others {
            files.entry(file.path()).or_insert(file);
        }
        let ids = (0u32..).zip(files.keys()).map(|(id, path)| ((*path).to_owned(), FileId(id))).collect();
        Self { sources: Sources::new(files.into_values().cloned().collect()), files: count, ids }
    }

    /// The file of a reported path. Every path of the merged bundles has one.
    pub(super) fn id(&self, path: &str) -> FileId {
        self.ids.get(path).copied().unwrap_or(FileId(0))
    }

    /// For each file of a bundle, which one it is here.
    pub(super) fn files_of(&self, bundle: &Bundle) -> Vec<FileId> {
        bundle.inventory.sources.iter().map(|(_, file)| self.id(file.path())).collect()
    }
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
