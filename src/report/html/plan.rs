//! The page of a plan.

use super::StoryDocument;
use super::document::page;
use super::page_data::{PageData, RemovalDocument};
use crate::report::plan::PlanDocument;
use crate::report::{HtmlOptions, Roots};
use crate::story::PlanView;
use crate::text::plain;

/// Renders the whole document.
pub(in crate::report) fn plan(view: &PlanView<'_>, options: &HtmlOptions, roots: &Roots) -> String {
    let stories = StoryDocument::all(view);
    let title = match view.titles.as_slice() {
        [] => "plan".to_owned(),
        [only] => only.clone(),
        [first, more @ ..] => format!("{first}, and {}", plain::count(more.len(), "more step")),
    };
    let files = stories.iter().flat_map(StoryDocument::files);
    let page_data = PageData::new("plan", title.clone(), &stories);
    let mut page_data = page_data.linked(files, std::iter::empty(), options, roots);
    page_data.removal = view.removal.as_ref().map(|removal| RemovalDocument {
        command: &removal.command,
        order_known: removal.safe_order.is_some(),
    });
    let has_graph = stories.iter().any(StoryDocument::has_graph);
    page(&title, &PlanDocument::new(view), &page_data, has_graph)
}
