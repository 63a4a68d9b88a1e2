//! The files and folders to which a report is limited.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::finding::Finding;
use crate::inventory::locate;
use crate::text::{FileId, Sources};

/// Files and folders. A finding is reported if any of its places is in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportScope {
    paths: BTreeSet<PathBuf>,
}

impl ReportScope {
    /// Builds the scope of `paths`, relative to the working directory; they need not exist.
    pub fn new<P: AsRef<str>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self {
            paths: paths
                .into_iter()
                .map(|path| locate(path.as_ref()))
                .collect(),
        }
    }

    /// Returns the files of `sources` that are in the scope.
    pub(super) fn files(&self, sources: &Sources) -> FilesInScope {
        let inside = sources.iter().map(|(_, file)| {
            locate(file.path())
                .ancestors()
                .any(|folder| self.paths.contains(folder))
        });
        FilesInScope {
            inside: inside.collect(),
        }
    }
}

/// The files of a run that are in its report scope.
#[derive(Clone, Debug)]
pub(super) struct FilesInScope {
    inside: Vec<bool>,
}

impl FilesInScope {
    /// Returns the scope that contains all files.
    pub(super) fn all(sources: &Sources) -> Self {
        Self {
            inside: vec![true; sources.len()],
        }
    }

    /// Whether any place of a finding is in the scope.
    pub(super) fn touches(&self, finding: &Finding) -> bool {
        finding.labels().any(|label| self.contain(label.file))
    }

    /// Whether a file is in the scope.
    pub(super) fn contain(&self, FileId(file): FileId) -> bool {
        self.inside.get(file as usize).copied().unwrap_or_default()
    }
}
