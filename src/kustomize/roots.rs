//! The files that the folders at which delivery objects point build.

use std::sync::Arc;

use foldhash::HashMap;

use super::closure::{BuiltFile, Start, built_files};
use super::counts::{BeyondLimit, Counts, Limit, counts};
use super::pointer::{FilePatterns, Pointer, SourceTool};
use super::tree::SourceTree;
use crate::manifest::ParsedFile;
use crate::text::Limits;

/// Who builds which file.
#[derive(Clone, Debug, Default)]
pub struct BuildRoots {
    /// The files of each root, in the order of their paths.
    pub roots: Vec<Vec<BuiltFile>>,
    /// The first limit that builds go beyond; what was built from there on is not known.
    pub beyond: Option<BeyondLimit>,
    /// The copies of objects that were made: the first of each does not count.
    pub copies: usize,
    /// The root of each pointer.
    pointed_at: HashMap<Pointer, usize>,
}

impl BuildRoots {
    /// The roots of a tree at whose folders `pointers` point.
    pub fn with_pointers<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>,
        pointers: Vec<Pointer>,
        limits: &Limits,
    ) -> Self {
        Builds::of(&SourceTree::of(files), limits).roots(pointers)
    }

    /// The place of the root at which something points so.
    pub fn pointed_at_by(&self, pointer: &Pointer) -> Option<usize> {
        self.pointed_at.get(pointer).copied()
    }
}

/// The builds of a tree; each is followed once.
struct Builds<'t, 'f> {
    tree: &'t SourceTree<'f>,
    counts: Counts,
    /// Where builds begin, by the part of a pointer that decides it: many may point at one folder.
    starts: HashMap<StartOf, Arc<Start>>,
    limits: &'t Limits,
    /// The instances that may still be built, by [`ParsedFile::instances`].
    budget: usize,
    beyond: Option<BeyondLimit>,
}

/// Folder, whether folders below count, which files do, which are left out, and which tool looks.
type StartOf = (
    String,
    bool,
    FilePatterns,
    Option<Arc<str>>,
    Option<SourceTool>,
);

impl<'t, 'f> Builds<'t, 'f> {
    fn of(tree: &'t SourceTree<'f>, limits: &'t Limits) -> Self {
        let once: usize = tree.files().map(|(_, _, file)| file.instances()).sum();
        Self {
            tree,
            counts: counts(tree),
            starts: HashMap::default(),
            limits,
            budget: once.saturating_add(limits.instances),
            beyond: None,
        }
    }

    fn roots(mut self, pointers: Vec<Pointer>) -> BuildRoots {
        let mut found = BuildRoots::default();
        for pointer in pointers {
            if self.tree.contains(&pointer.folder) && !found.pointed_at.contains_key(&pointer) {
                found.roots.push(self.built(&pointer));
                found.pointed_at.insert(pointer, found.roots.len() - 1);
            }
        }
        found.beyond = self.beyond;
        found.copies = self.limits.instances.saturating_sub(self.budget);
        found
    }

    /// Takes what a build comes to from the budget, and then builds; nothing once a limit is exceeded.
    fn built(&mut self, pointer: &Pointer) -> Vec<BuiltFile> {
        if self.beyond.is_some() {
            return Vec::new();
        }
        let start = self.start(pointer);
        let Some(rest) = self.budget.checked_sub(start.instances) else {
            let path = self
                .tree
                .kustomization_path(&pointer.folder)
                .unwrap_or_else(|| pointer.folder.clone());
            self.beyond = Some(BeyondLimit::of(Limit::Instances, self.limits, path));
            return Vec::new();
        };
        self.budget = rest;
        built_files(
            self.tree,
            &self.counts,
            &pointer.edits,
            &start,
            self.limits.nesting,
        )
    }

    /// Where a build begins; a search for that takes the files that it looks at from the budget.
    fn start(&mut self, pointer: &Pointer) -> Arc<Start> {
        let Pointer {
            folder,
            recursive,
            files,
            ignore,
            by,
            ..
        } = pointer;
        let tool = by.as_ref().map(|by| by.tool);
        let decides = (
            folder.clone(),
            *recursive,
            files.clone(),
            ignore.clone(),
            tool,
        );
        if let Some(known) = self.starts.get(&decides) {
            return Arc::clone(known);
        }
        let start = Arc::new(Start::of(self.tree, &self.counts, pointer));
        self.budget = self.budget.saturating_sub(start.looks);
        self.starts.insert(decides, Arc::clone(&start));
        start
    }
}
