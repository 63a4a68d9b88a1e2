//! For people: the findings, then what left, what came under another name, and how much else changed.

use super::words::{WORST_FIRST, unless};
use super::{DiffReport, DiffVerdict, FailedBuild, ReportedChange};
use crate::changes::Unread;
use crate::merge::DiffEffect;
use crate::report::HumanOptions;
use crate::report::human::findings;
use crate::text::plain;

/// How many lines of one kind are shown.
const MOST: usize = 40;

pub(super) fn render(report: &DiffReport, options: &HumanOptions) -> String {
    let mut text = findings(&report.findings, options);
    for (word, title) in [
        ("removed", "Removed"),
        ("renamed", "Renamed"),
        ("moved", "Moved"),
        ("added", "Added"),
    ] {
        text.push_str(&section(
            title,
            report
                .changes
                .iter()
                .filter(|change| change.change == word)
                .map(said),
        ));
    }
    text.push_str(&effects(report));
    let supposed = report
        .supposed_deletions()
        .into_iter()
        .map(|(effect, how)| match how.as_str() {
            "" => effect.key.to_string(),
            how => format!("{}, {how}", effect.key),
        });
    text.push_str(&section("Deleted if a tool prunes", supposed));
    text.push_str(&section("Not read", report.unread.iter().map(unread)));
    text.push_str(&section(
        "Cannot be built",
        report.failed.iter().map(failed),
    ));
    for note in &report.notes {
        text.push_str(&format!("note: {}\n", plain::one_line(note)));
    }
    let is_answered = report.summary.verdict != DiffVerdict::Nothing;
    if report.changes_objects() || !is_answered {
        text.push_str(&format!("{}\n", report.counted()));
    }
    if is_answered {
        // The section above names the inputs.
        let not_read = report
            .not_read()
            .filter(|_| report.summary.verdict == DiffVerdict::Deletes);
        let lines = [Some(report.headline()), report.supposition(), not_read];
        text.extend(lines.into_iter().flatten().map(|line| format!("{line}\n")));
    }
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
    WORST_FIRST
        .into_iter()
        .map(|(kind, title)| section(title, report.of(kind).map(told)))
        .collect()
}

fn told(effect: &DiffEffect) -> String {
    let root = effect.because.first().filter(|root| **root != effect.key);
    let because = root
        .map(|root| format!(", with {root}"))
        .unwrap_or_default();
    format!("{}{because}{}", effect.key, unless(effect.certainty))
}

fn unread(unread: &Unread) -> String {
    format!(
        "{}  {}:{}  ({})",
        unread.subject, unread.file, unread.line, unread.reason
    )
}

fn failed(failed: &FailedBuild) -> String {
    format!("{}:{}  {}", failed.file, failed.line, failed.reason)
}

fn said(change: &ReportedChange) -> String {
    let place = |place: &Option<super::ChangedPlace>| {
        place
            .as_ref()
            .map(|place| format!("{}:{}", place.file, place.line))
    };
    let (base, head) = (place(&change.base), place(&change.head));
    let key = &change.key;
    match (&change.was, base, head) {
        (None, Some(base), Some(head)) if base == head => {
            format!("{key}  {base}, and is delivered by another object")
        }
        (Some(was), Some(base), Some(head)) => format!("{was}  {base}  ->  {key}  {head}"),
        (_, Some(base), Some(head)) => format!("{key}  {base}  ->  {head}"),
        (_, base, head) => format!("{key}  {}", base.or(head).unwrap_or_default()),
    }
}
