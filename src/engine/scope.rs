//! The files and folders to which a report is limited.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::input::Bundle;
use super::merge::Merged;
use crate::finding::Finding;
use crate::inventory::locate;
use crate::text::FileId;

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

/// The files whose findings a run reports.
pub(super) struct FilesInScope {
    /// Whether each file was asked for, and not read as context. Findings in other files are not those of the input.
    asked_for: Vec<bool>,
    /// Whether each file is in the report scope.
    only: Vec<bool>,
}

impl FilesInScope {
    /// Looks for the files of a run in `scope`; without one, all are in it.
    pub(super) fn of(scope: Option<&ReportScope>, bundles: &[Bundle], merged: &Merged) -> Self {
        let sources = &merged.sources;
        let mut asked_for = vec![true; sources.len()];
        for (bundle, files) in bundles.iter().zip(&merged.sets) {
            for (id, file) in (0..).map(FileId).zip(files) {
                asked_for[file.0 as usize] = bundle.is_asked_for(id);
            }
        }
        // These are about the run, wherever they lie.
        for FileId(own) in merged.config.into_iter().chain(merged.baseline) {
            asked_for[own as usize] = true;
        }
        let only = match scope {
            Some(ReportScope { paths }) => {
                let inside = sources.iter().map(|(_, file)| {
                    let file = locate(file.path());
                    file.ancestors().any(|folder| paths.contains(folder))
                });
                inside.collect()
            }
            None => vec![true; sources.len()],
        };
        Self { asked_for, only }
    }

    /// Whether a finding is in a file that was asked for.
    pub(super) fn has(&self, finding: &Finding) -> bool {
        self.contain(finding.primary.file)
    }

    /// Whether a file was asked for.
    pub(super) fn contain(&self, FileId(file): FileId) -> bool {
        self.asked_for[file as usize]
    }

    /// Returns the files that are read as context.
    pub(super) fn context(&self) -> BTreeSet<FileId> {
        let files = (0..).map(FileId).zip(&self.asked_for);
        files
            .filter(|(_, is_asked_for)| !**is_asked_for)
            .map(|(file, _)| file)
            .collect()
    }

    /// Whether a finding is in a file that was asked for, and any of its places is in the report scope. `place` returns
    /// the id in the run of a file of the finding.
    pub(super) fn touches(&self, finding: &Finding, place: impl Fn(FileId) -> FileId) -> bool {
        let mut files = finding.labels().map(|label| place(label.file));
        self.contain(place(finding.primary.file))
            && files.any(|FileId(file)| self.only[file as usize])
    }
}
