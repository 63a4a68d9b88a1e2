//! For people: what left, what came under another name, and how much else changed.

use super::{DiffEffect, DiffReport, DiffSummary, EffectCertainty, EffectKind, ReportedChange};
use crate::text::plain;

/// How many lines of one kind are shown.
const MOST: usize = 40;

pub(super) fn render(report: &DiffReport) -> String {
    let mut text = String::new();
    for (word, title) in [("removed", "Removed"), ("renamed", "Renamed"), ("moved", "Moved"), ("added", "Added")] {
        text.push_str(&section(title, report.changes.iter().filter(|change| change.change == word).map(said)));
    }
    text.push_str(&effects(report));
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
    text.extend(headline(&summary).map(|said| format!("{said}\n")));
    text
}

/// A title with its lines; nothing where there are none.
fn section(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("{title}\n");
    for line in lines.iter().take(MOST) {
        text.push_str(&format!("  {}\n", plain::one_line(line)));
    }
    if lines.len() > MOST {
        text.push_str(&format!("  … and {} more\n", lines.len() - MOST));
    }
    text.push('\n');
    text
}

/// What the merge does, the worst first; what the change itself shows comes last.
fn effects(report: &DiffReport) -> String {
    use EffectKind::{Cascaded, DataLost, Deleted, GeneratedDeleted, Kept, Orphaned, Recreated, Stuck};
    let mut text = String::new();
    for (kind, title) in [
        (Stuck, "Gets stuck in Terminating"),
        (DataLost, "Data is deleted with"),
        (Cascaded, "Deleted with another object"),
        (GeneratedDeleted, "Deleted with what it was made for"),
        (Recreated, "Deleted, then created again"),
        (Orphaned, "Left behind: nobody deletes it"),
        (Kept, "Kept by the tool"),
        (Deleted, "Deleted by the tool"),
    ] {
        text.push_str(&section(title, report.effects.iter().filter(|effect| effect.effect == kind).map(told)));
    }
    text
}

fn told(effect: &DiffEffect) -> String {
    let root = effect.because.first().filter(|root| **root != effect.key);
    let because = root.map(|root| format!(", with {root}")).unwrap_or_default();
    let certainty = match effect.certainty {
        EffectCertainty::Certain => "",
        EffectCertainty::Race => ", unless a controller is quicker",
        EffectCertainty::Possible => ", possibly",
    };
    format!("{}{because}{certainty}", effect.key)
}

/// One sentence on everything that goes.
fn headline(summary: &DiffSummary) -> Option<String> {
    let DiffSummary { deleted, cascaded, stuck, .. } = *summary;
    if deleted + cascaded + stuck == 0 {
        return None;
    }
    let mut said = format!("Merging this deletes {}", plain::count(deleted, "object"));
    if cascaded > 0 {
        said.push_str(&format!(" and, by cascade, {cascaded} more"));
    }
    if stuck > 0 {
        said.push_str(&format!("; {stuck} {} stuck", if stuck == 1 { "gets" } else { "get" }));
    }
    Some(said)
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
