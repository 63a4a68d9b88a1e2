//! The findings of a change for formats that can only point into head.

use crate::finding::{Finding, Label};
use crate::report::{Report, Reported};
use crate::text::{ColumnUnit, Side, Sources, Span};

/// Moves each finding in base to the line of head that caused it, else to the beginning of its file. The message then
/// names its line in base; the reason names the related lines in base.
pub(super) fn in_head(report: &Report) -> Report {
    let mut report = report.clone();
    for reported in &mut report.findings {
        move_to_head(reported, &report.sources);
        // The objects of the chain are in base.
        reported.chain_places.clear();
    }
    report
}

fn move_to_head(reported: &mut Reported, sources: &Sources) {
    let Finding {
        primary,
        related,
        message,
        reason,
        ..
    } = &mut reported.finding;
    let of_base: Vec<Label> = related
        .extract_if(.., |label| sources.file(label.file).side() == Side::Base)
        .collect();
    for label in &of_base {
        let words = match label.message.as_str() {
            "" => "see also",
            words => words,
        };
        reason.push_str(&format!("\n{} in base: {words}", place(sources, label)));
    }
    if sources.file(primary.file).side() != Side::Base {
        return;
    }
    message.push_str(&format!(" (in base: {})", place(sources, primary)));
    *primary = match related.iter().position(|label| label.is_cause) {
        Some(at) => related.remove(at),
        None => on_the_file(sources, primary),
    };
}

/// Returns the beginning of the file, in head if it exists there. A place in a rendered text stays: the beginning of that
/// text is made from another template.
fn on_the_file(sources: &Sources, label: &Label) -> Label {
    let file = sources.file(label.file);
    if file.is_rendered() {
        return label.clone();
    }
    let head = sources.find(file.path_in_tree(), Side::Head);
    Label::new(head.unwrap_or(label.file), Span::new(0, 0), String::new())
}

fn place(sources: &Sources, label: &Label) -> String {
    let file = sources.file(label.file);
    let at = file.position(label.span.start, ColumnUnit::Utf8);
    format!("{}:{}", file.path(), at.line)
}
