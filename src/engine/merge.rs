//! Merges the files of bundles, or of both sides of a change, into one set without duplicates.

use foldhash::HashMap;

use super::input::Bundle;
use crate::finding::Finding;
use crate::kube::ObjectKey;
use crate::report::Place;
use crate::text::{FileId, Side, SourceFile, Sources};

/// The files of a run, in the order of their reported paths.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) sources: Sources,
    /// The ids in `sources` of the files of each bundle or other set.
    pub(super) sets: Vec<Vec<FileId>>,
    pub(super) config: Option<FileId>,
    pub(super) baseline: Option<FileId>,
}

impl Merged {
    /// Merges the files of several sets, and the configuration and baseline that findings may point at.
    pub(super) fn new(
        sets: &[Vec<&SourceFile>],
        config: Option<&SourceFile>,
        baseline: Option<&SourceFile>,
    ) -> Self {
        // If several files have the same name, the last one is used. Files of sets come after the configuration and
        // baseline.
        let own = [baseline, config].into_iter().flatten();
        let mut files: Vec<&SourceFile> = own.chain(sets.iter().flatten().copied()).collect();
        files.sort_by(|a, b| name_of(a).cmp(&name_of(b)));
        files = files
            .chunk_by(|a, b| name_of(a) == name_of(b))
            .filter_map(|same| same.last().copied())
            .collect();
        let ids = sets.iter().map(|set| {
            let mut next = 0;
            let ids = set.iter().map(|file| {
                let id = id_of(file, &files, next);
                next = id.0 as usize + 1;
                id
            });
            ids.collect()
        });
        Self {
            sets: ids.collect(),
            config: config.map(|file| id_of(file, &files, 0)),
            baseline: baseline.map(|file| id_of(file, &files, 0)),
            sources: Sources::new(files.iter().map(|file| (*file).clone()).collect()),
        }
    }

    /// Returns the files of all sets, each once. A configuration or baseline that is in none is left out.
    pub(super) fn in_sets(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        let mut are_in = vec![false; self.sources.len()];
        for file in self.sets.iter().flatten() {
            are_in[file.0 as usize] = true;
        }
        self.sources
            .iter()
            .filter(move |(file, _)| are_in[file.0 as usize])
    }

    /// Moves a finding from the file ids of the set at index `set` to those of the run. A place in
    /// a generated object becomes the line of the file from which the object is generated.
    pub(super) fn relocate(&self, finding: &mut Finding, set: usize) {
        finding.relocate(|FileId(file)| self.sets[set][file as usize]);
        for label in std::iter::once(&mut finding.primary).chain(&mut finding.related) {
            let file = self.sources.file(label.file);
            let Some(id) = self.generator_of(file) else {
                continue;
            };
            let line = file.line_in_tree(label.span.start);
            label.file = id;
            label.span = self.sources.file(id).written_part(line);
        }
    }

    /// Returns the file that generates the objects of `file`, if they are generated.
    fn generator_of(&self, file: &SourceFile) -> Option<FileId> {
        let path = file.path_in_tree();
        if path == file.path() {
            return None;
        }
        self.sources.find(path, file.side())
    }
}

/// Returns the id of `file` among `files`, which are sorted by name. `expected` is tried before a search, because most
/// sets have all files in the same order.
fn id_of(file: &SourceFile, files: &[&SourceFile], expected: usize) -> FileId {
    let name = name_of(file);
    let next = files.get(expected);
    let id = if next.is_some_and(|found| name_of(found) == name) {
        expected
    } else {
        files
            .binary_search_by(|found| name_of(found).cmp(&name))
            .unwrap_or_else(|at| at)
    };
    FileId(id as u32)
}

/// Returns the identity of a file: its path and its side, because both sides of a change have the same paths.
fn name_of(file: &SourceFile) -> (&str, Side) {
    (file.path(), file.side())
}

/// Returns the places of the objects of a bundle, by key; the first place if an object is written more than once.
pub(super) fn places<'b>(bundle: &'b Bundle, files: &[FileId]) -> HashMap<&'b ObjectKey, Place> {
    let members = bundle.inventory.members.iter().rev();
    let places = members.map(|member| {
        let place = Place {
            file: files[member.file.0 as usize],
            span: member.object.name_span(),
        };
        (&member.key, place)
    });
    places.collect()
}
