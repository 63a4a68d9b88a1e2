//! Fixes, prepared for the formats.

use super::Report;
use crate::finding::{Applicability, Edit, Finding, Fix};
use crate::text::{FileId, plain};

/// The maximum number of edits in a fix for SARIF, editors and rdjson. A larger fix cannot be reviewed there;
/// `check --fix` still applies it.
const MAX_EDITS: usize = 1_000;

/// Returns the fix of a finding if it has at most [`MAX_EDITS`] edits.
pub(super) fn shown(finding: &Finding) -> Option<&Fix> {
    finding
        .fix
        .as_ref()
        .filter(|fix| fix.edits.len() <= MAX_EDITS)
}

/// Returns the title of a fix in one line.
pub(super) fn title(fix: &Fix) -> String {
    plain::one_line(&fix.title)
}

/// Groups the edits of a fix by file, in the order of their places, each once.
pub(super) fn by_file(fix: &Fix) -> Vec<(FileId, Vec<&Edit>)> {
    let mut edits: Vec<&Edit> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| (edit.file, edit.span));
    edits.dedup();
    edits
        .chunk_by(|one, next| one.file == next.file)
        .map(|edits| (edits[0].file, edits.to_vec()))
        .collect()
}

/// Returns the edits of a fix if all of them are in `file`.
pub(super) fn only_in(fix: &Fix, file: FileId) -> Option<Vec<&Edit>> {
    match by_file(fix).as_slice() {
        [(only, edits)] if *only == file => Some(edits.clone()),
        _ => None,
    }
}

impl Report {
    /// Returns how many findings have a safe fix, and how many a suggested one.
    pub fn fixable(&self) -> (usize, usize) {
        let fixes = self.findings.iter();
        let fixes = fixes.filter_map(|reported| reported.finding.fix.as_ref());
        let safe = fixes
            .clone()
            .filter(|fix| fix.applicability == Applicability::Safe)
            .count();
        (safe, fixes.count() - safe)
    }
}
