//! The page of findings.

use super::document::page;
use super::page_data::PageData;
use crate::report::json::ReportDocument;
use crate::report::{HtmlOptions, Report, Roots};

/// Renders the whole document.
pub(in crate::report) fn findings(report: &Report, options: &HtmlOptions, roots: &Roots) -> String {
    let title = report.summary.found();
    let findings = report.findings.iter();
    let labels = findings.flat_map(|reported| reported.finding.labels());
    let files = labels.map(|label| report.path(label.file));
    let page_data = PageData::new("check", title.clone(), &[])
        .with_findings(report)
        .linked(files, std::iter::empty(), options, roots);
    page(&title, &ReportDocument::new(report), &page_data, false)
}
