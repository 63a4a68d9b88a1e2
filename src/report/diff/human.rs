//! A comparison on a terminal: the findings, the removed, renamed, moved and added objects, the effects, and counts.

use std::collections::{BTreeMap, BTreeSet};

use super::folded::folded;
use super::lines::{effect_line, effect_lines, in_clusters};
use super::unread::UnreadRow;
use super::words::{WORST_FIRST, applied_by};
use super::{ChangedImage, ChangedPlace, DiffReport, FailedBuild, ReportedChange};
use crate::changes::DeliveryName;
use crate::finding::{Finding, Severity};
use crate::kustomize::shown;
use crate::merge::{DiffEffect, EffectKind};
use crate::report::human::findings;
use crate::report::wrap::fill;
use crate::report::{HumanOptions, Report};
use crate::text::{ColumnUnit, plain};

/// The maximum number of lines of a section.
const MOST: usize = 40;

/// The maximum number of objects of one delivery.
const OF_EACH: usize = 8;

pub(super) fn render(report: &DiffReport, options: &HumanOptions) -> String {
    let folded = folded(&report.findings);
    let mut text = findings(&folded, options);
    if options.show > Severity::Info {
        let accepted = report.accepted_in(&folded).into_iter();
        let accepted = accepted.map(|finding| accepted_line(&folded, finding));
        text.push_str(&section("Accepted", accepted, options.width));
    }
    let clusters: BTreeSet<_> = report.changes.iter().map(|one| &one.cluster).collect();
    let names_clusters = clusters.len() > 1;
    for (word, title) in [
        ("removed", "Removed"),
        ("renamed", "Renamed"),
        ("moved", "Moved"),
        ("added", "Added"),
    ] {
        let changes = report.changes.iter().filter(|one| one.change == word);
        let changes = changed(changes, names_clusters).into_iter();
        text.push_str(&section(title, changes, options.width));
    }
    text.push_str(&effects(report, options.width));
    let supposed = report.supposed_deletions().into_iter();
    let supposed = supposed.map(|(effect, how)| match how.as_str() {
        "" => effect.key.to_string(),
        how => format!("{}, {how}", effect.key),
    });
    text.push_str(&section(
        "Deleted if a tool prunes",
        supposed,
        options.width,
    ));
    let unread = report.unread_rows().into_iter().map(unread_row);
    text.push_str(&section("Not read", unread, options.width));
    let failed = report.failed_builds().into_iter().map(failed);
    text.push_str(&section("Cannot be applied", failed, options.width));
    text.push_str(&section(
        "Images",
        report.images.iter().map(image),
        options.width,
    ));
    for note in report.all_notes() {
        let note = plain::one_line(note);
        text.push_str(&fill(&note, options.width, "note: ", "      "));
        text.push('\n');
    }
    let lines = [
        report.counted(),
        Some(report.headline()),
        report.supposition(),
        report.newly_failing(),
        report.not_read(),
    ];
    for line in lines.into_iter().flatten() {
        text.push_str(&format!("{}\n", fill(&line, options.width, "", "")));
    }
    text
}

/// Formats a title with its lines; empty if there are none.
fn section(title: &str, lines: impl Iterator<Item = String>, width: usize) -> String {
    nested(
        title,
        &lines.map(|line| (0, line)).collect::<Vec<_>>(),
        width,
    )
}

/// Formats a title with its lines, each indented by its depth and wrapped to `width` columns.
fn nested(title: &str, lines: &[(usize, String)], width: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("{title}\n");
    for (depth, line) in lines.iter().take(MOST) {
        let indent = "  ".repeat(depth + 1);
        let below = format!("{indent}    ");
        let line = fill(&plain::one_line(line), width, &indent, &below);
        text.push_str(&line);
        text.push('\n');
    }
    if lines.len() > MOST {
        text.push_str(&format!("  … and {} more\n", lines.len() - MOST));
    }
    text.push('\n');
    text
}

/// Lists the effects of the merge, the worst first; direct deletions come last.
fn effects(report: &DiffReport, width: usize) -> String {
    let sections = WORST_FIRST.map(|(kind, title)| match kind {
        EffectKind::Deleted => nested(title, &deleted(report), width),
        _ => section(title, effect_lines(report.of(kind)).into_iter(), width),
    });
    sections.concat()
}

/// Lists the objects that tools delete, below the deliveries that apply them.
fn deleted(report: &DiffReport) -> Vec<(usize, String)> {
    let mut by: BTreeMap<Option<&DeliveryName>, (Option<&str>, Vec<&DiffEffect>)> = BTreeMap::new();
    for effect in report.of(EffectKind::Deleted) {
        let own = (effect.delivery.as_ref(), effect.cluster.as_deref());
        let others = effect.also.iter().filter(|other| !other.keeps);
        let others = others.map(|other| (Some(&other.delivery), other.cluster.as_deref()));
        for (delivery, cluster) in others.chain([own]) {
            let (_, effects) = by.entry(delivery).or_insert((cluster, Vec::new()));
            effects.push(effect);
        }
    }
    let mut lines = Vec::new();
    for (delivery, (cluster, effects)) in by {
        let Some(delivery) = delivery else {
            let effects = effect_lines(effects.into_iter()).into_iter();
            lines.extend(effects.map(|line| (0, line)));
            continue;
        };
        lines.push((0, applied_by(delivery, cluster)));
        let doubt = &delivery.doubt;
        let shown = effects.iter().take(OF_EACH).map(|effect| match doubt {
            // The condition is in the line of the delivery.
            Some(_) => effect.key.to_string(),
            None => effect_line(effect),
        });
        lines.extend(shown.map(|line| (1, line)));
        if let Some(more @ 1..) = effects.len().checked_sub(OF_EACH) {
            lines.push((1, format!("… and {more} more")));
        }
    }
    lines
}

/// Returns the message of an accepted finding, which ends with `(accepted)`, and its place.
fn accepted_line(report: &Report, finding: &Finding) -> String {
    let place = &finding.primary;
    let file = report.sources.file(place.file);
    let line = file.position(place.span.start, ColumnUnit::Utf8).line;
    format!("{}  {}:{line}", finding.message, file.path())
}

fn unread_row(unread: UnreadRow) -> String {
    let more = unread.and_more();
    let UnreadRow {
        subject,
        file,
        line,
        reason,
        ..
    } = unread;
    format!("{subject}  {file}:{line}{more}  ({reason})")
}

fn image(image: &ChangedImage) -> String {
    let (repository, from, to) = image.split();
    let gap = if repository.is_empty() { "" } else { " " };
    let objects = plain::count(image.objects, "object");
    format!("{repository}{gap}{from} → {to}, {objects}")
}

fn failed((failed, when): (&FailedBuild, &str)) -> String {
    let FailedBuild {
        file, line, reason, ..
    } = failed;
    format!("{file}:{line}  {reason}{when}")
}

/// Lists changes, a line for each object; `names_clusters` adds its clusters.
fn changed<'c>(
    changes: impl Iterator<Item = &'c ReportedChange>,
    names_clusters: bool,
) -> Vec<String> {
    let lines = changes.map(|change| (change_line(change), change.cluster.as_deref()));
    let lines = in_clusters(lines).into_iter();
    lines
        .map(|(line, clusters)| match clusters.first() {
            Some(cluster) if names_clusters && clusters.len() == 1 => {
                format!("{line}  in {}", shown(cluster))
            }
            Some(_) if names_clusters => format!("{line}  in {} clusters", clusters.len()),
            _ => line,
        })
        .collect()
}

fn change_line(change: &ReportedChange) -> String {
    let base = change.base.as_ref().map(ChangedPlace::file_and_line);
    let head = change.head.as_ref().map(ChangedPlace::file_and_line);
    let key = &change.key;
    match (&change.was, base, head) {
        (None, Some(base), Some(head)) if base == head => {
            format!("{key}  {base}, delivered another way")
        }
        (Some(was), Some(base), Some(head)) => format!("{was}  {base}  ->  {key}  {head}"),
        (_, Some(base), Some(head)) => format!("{key}  {base}  ->  {head}"),
        (_, base, head) => format!("{key}  {}", base.or(head).unwrap_or_default()),
    }
}
