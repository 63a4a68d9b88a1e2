//! For people: what left, what came under another name, and how much else changed.

use super::{DiffReport, ReportedChange};
use crate::text::plain;

/// Lines of one kind of change.
const MOST: usize = 40;

pub(super) fn render(report: &DiffReport) -> String {
    let mut text = String::new();
    for (word, title) in [("removed", "Removed"), ("renamed", "Renamed"), ("moved", "Moved"), ("added", "Added")] {
        let changes: Vec<_> = report.changes.iter().filter(|change| change.change == word).collect();
        if changes.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}\n"));
        for change in changes.iter().take(MOST) {
            text.push_str(&format!("  {}\n", plain::one_line(&said(change))));
        }
        if changes.len() > MOST {
            text.push_str(&format!("  … and {} more\n", changes.len() - MOST));
        }
        text.push('\n');
    }
    for note in &report.notes {
        text.push_str(&format!("note: {}\n", plain::one_line(note)));
    }
    let summary = report.summary;
    let counts = [
        (summary.removed, "removed"),
        (summary.renamed, "renamed"),
        (summary.moved, "moved"),
        (summary.changed, "changed"),
        (summary.added, "added"),
    ];
    let counts: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    text.push_str(&match counts.is_empty() {
        true => "No object changed\n".to_owned(),
        false => format!("{}\n", counts.join(", ")),
    });
    text
}

fn said(change: &ReportedChange) -> String {
    let place =
        |place: &Option<super::ChangedPlace>| place.as_ref().map(|place| format!("{}:{}", place.file, place.line));
    let (base, head) = (place(&change.base), place(&change.head));
    let key = &change.key;
    match (&change.was, base, head) {
        (Some(was), Some(base), Some(head)) => format!("{was}  {base}  ->  {key}  {head}"),
        (_, Some(base), Some(head)) => format!("{key}  {base}  ->  {head}"),
        (_, base, head) => format!("{key}  {}", base.or(head).unwrap_or_default()),
    }
}
