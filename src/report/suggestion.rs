//! Fixes as each format writes them. All carry the same edits.

use super::Report;
use crate::finding::{Applicability, Edit, Finding, Fix};
use crate::text::{FileId, plain};

/// Edits of a fix that a tool gets. One finding may be about every document of a file: too many edits to review in an alert
/// or beside a line, and `check --fix` makes them.
const MOST_EDITS: usize = 1_000;

/// The fix of a finding, unless it is too large for a tool that shows it.
pub(super) fn shown(finding: &Finding) -> Option<&Fix> {
    finding
        .fix
        .as_ref()
        .filter(|fix| fix.edits.len() <= MOST_EDITS)
}

/// The effect of a fix, in a line.
pub(super) fn title(fix: &Fix) -> String {
    plain::one_line(&fix.title)
}

/// The edits of a fix by their files, in the order of their places.
pub(super) fn by_file(fix: &Fix) -> Vec<(FileId, Vec<&Edit>)> {
    let mut edits: Vec<&Edit> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| (edit.file, edit.span));
    edits.dedup();
    edits
        .chunk_by(|one, next| one.file == next.file)
        .map(|edits| (edits[0].file, edits.to_vec()))
        .collect()
}

/// The edits of a fix, if they are all in the file of its finding.
pub(super) fn in_file_of(fix: &Fix, file: FileId) -> Option<Vec<&Edit>> {
    match by_file(fix).as_slice() {
        [(only, edits)] if *only == file => Some(edits.clone()),
        _ => None,
    }
}

impl Report {
    /// How many findings can be fixed safely, and how many with a suggestion.
    pub fn fixable(&self) -> (usize, usize) {
        let fixes = || {
            self.findings
                .iter()
                .filter_map(|reported| reported.finding.fix.as_ref())
        };
        let safe = fixes()
            .filter(|fix| fix.applicability == Applicability::Safe)
            .count();
        (safe, fixes().count() - safe)
    }
}
