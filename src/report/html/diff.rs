//! The page of a change.

use super::StoryDocument;
use super::document::page;
use super::page_data::PageData;
use crate::report::diff::{DiffDocument, DiffReport};
use crate::report::{HtmlOptions, Roots};
use crate::text::{Side, SourceFile, Sources};

/// Renders the whole document.
pub(in crate::report) fn diff(report: &DiffReport, options: &HtmlOptions, roots: &Roots) -> String {
    let title = report.headline();
    let sources = &report.findings.sources;
    let changed = report.changes.iter();
    let of_head = changed.clone().filter_map(|change| change.head.as_ref());
    let head = paths(sources, Side::Head).chain(of_head.map(|place| &*place.file));
    let of_base = changed.filter_map(|change| change.base.as_ref());
    let base = paths(sources, Side::Base);
    let base = base.chain(of_base.map(|place| &*place.file));
    let base = base.chain(report.stories.iter().flat_map(StoryDocument::files));
    let page_data = PageData::new("diff", title.clone(), &report.stories)
        .with_findings(&report.findings)
        .linked(head, base, options, roots);
    let has_graph = report.stories.iter().any(StoryDocument::has_graph);
    page(&title, &DiffDocument::new(report), &page_data, has_graph)
}

fn paths(sources: &Sources, side: Side) -> impl Iterator<Item = &str> {
    let files = sources.iter().map(|(_, file)| file);
    let files = files.filter(move |file| file.side() == side);
    files.map(SourceFile::path)
}
