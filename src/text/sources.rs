//! The files of one run.

use super::{Side, SourceFile};

/// The index of a [`SourceFile`] in its [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// The files of one run, in the order of their reported paths.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Collects all files, in order; the index of a file is its [`FileId`].
    pub fn new(files: Vec<SourceFile>) -> Self {
        Self { files }
    }

    /// Adds a file after the others.
    pub fn push(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// Replaces the file with this id, which must be an id of this set, by one with the same path and side.
    pub(crate) fn replace(&mut self, id: FileId, file: SourceFile) {
        self.files[id.0 as usize] = file;
    }

    /// Returns the file with this id, which must be an id of this set. Panics if there is none.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Finds the file with this path and side. The files must be sorted by both.
    pub(crate) fn find(&self, path: &str, side: Side) -> Option<FileId> {
        let found = self
            .files
            .binary_search_by(|file| (file.path(), file.side()).cmp(&(path, side)));
        found.ok().map(|at| FileId(at as u32))
    }

    /// Returns the files with this path, one for each build that has the file. The files must be sorted by path.
    pub(crate) fn with_path(&self, path: &str) -> Vec<FileId> {
        let start = self.files.partition_point(|file| file.path() < path);
        let rest = (0u32..).map(FileId).zip(&self.files).skip(start);
        let found = rest.take_while(|(_, file)| file.path() == path);
        found.map(|(id, _)| id).collect()
    }

    /// Returns all files with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> + Clone {
        (0u32..).map(FileId).zip(&self.files)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
