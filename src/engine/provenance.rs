//! Which templates the reported places were rendered from.

use crate::finding::Label;
use crate::manifest::templates;
use crate::report::{Reported, Templates};
use crate::text::Sources;

/// The templates of the files that findings touch; others are not looked at.
pub(super) fn templates_behind<'r>(findings: impl Iterator<Item = &'r Reported>, sources: &Sources) -> Templates {
    let mut all = Templates::default();
    let mut files: Vec<_> =
        findings.flat_map(|reported| reported.finding.labels().map(|label: &Label| label.file)).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let documents = templates(sources.file(file).text());
        if !documents.is_empty() {
            all.documents.insert(file, documents);
        }
    }
    all
}
