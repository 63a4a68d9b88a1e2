//! The page of findings.

use super::beside::Beside;
use super::document::page;
use crate::report::json::ReportDocument;
use crate::report::{HtmlOptions, Report, Roots};

/// Renders the whole document.
pub(in crate::report) fn findings(report: &Report, options: &HtmlOptions, roots: &Roots) -> String {
    let title = report.summary.found();
    let mut files: Vec<&str> = Vec::new();
    for reported in &report.findings {
        let finding = &reported.finding;
        files.push(report.path(finding.primary.file));
        files.extend(finding.related.iter().map(|label| report.path(label.file)));
    }
    let beside = Beside::new("check", title.clone(), &[])
        .with_findings(report)
        .linked(files.into_iter(), std::iter::empty(), options, roots);
    page(&title, &ReportDocument::new(report), &beside, false)
}
