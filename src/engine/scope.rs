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
}

/// Whether each file of a run is in its report scope, by its id.
pub(super) struct FilesInScope(Vec<bool>);

impl FilesInScope {
    /// Determines which files of `sources` are in `scope`; without a scope, all are.
    pub(super) fn of(scope: Option<&ReportScope>, sources: &Sources) -> Self {
        let Some(ReportScope { paths }) = scope else {
            return Self(vec![true; sources.len()]);
        };
        let inside = sources.iter().map(|(_, file)| {
            let file = locate(file.path());
            file.ancestors().any(|folder| paths.contains(folder))
        });
        Self(inside.collect())
    }

    /// Whether any place of a finding is in the scope.
    pub(super) fn touches(&self, finding: &Finding) -> bool {
        finding.labels().any(|label| self.contain(label.file))
    }

    pub(super) fn contain(&self, FileId(file): FileId) -> bool {
        self.0.get(file as usize).copied().unwrap_or_default()
    }
}
