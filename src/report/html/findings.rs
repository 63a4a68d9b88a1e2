//! The page of findings.

use super::beside::Beside;
use super::document::page;
use crate::report::json::ReportDocument;
use crate::report::{HtmlOptions, Report, Roots};

/// Renders the whole document.
pub(in crate::report) fn findings(report: &Report, options: &HtmlOptions, roots: &Roots) -> String {
    let title = report.summary.found();
    let findings = report.findings.iter();
    let labels = findings.flat_map(|reported| reported.finding.labels());
    let files = labels.map(|label| report.path(label.file));
    let beside = Beside::new("check", title.clone(), &[])
        .with_findings(report)
        .linked(files, std::iter::empty(), options, roots);
    page(&title, &ReportDocument::new(report), &beside, false)
}
