//! The comment on a pull request: one sentence on the effect of merging, the findings and how to fix them, graphs of
//! the cascades, and a table by effect. Folded below: every object, how to release stuck objects, and the objects that
//! the change adds, removes, moves or renames.
//!
//! If there are no findings and the Git diff shows all effects, the document is a single line. It never exceeds
//! [`MarkdownOptions::bytes`](crate::report::MarkdownOptions::bytes); text from manifests is escaped.

use super::folded::folded;
use super::lines::{in_clusters, several_clusters};
use super::words::{WORST_FIRST, applied_by, unless};
use super::{ChangedImage, DiffReport, DiffVerdict, ReportedChange};
use crate::finding::Severity;
use crate::merge::{DiffEffect, EffectKind};
use crate::report::Options;
use crate::report::markdown::{listed, prose};
use crate::report::markup::{MarkdownText, RESERVE, code, text};
use crate::report::plan::{Cascade, held_item};
use crate::story::remedy::Stuck;
use crate::story::words;
use crate::text::plain;

/// The maximum number of objects of one effect that the table names; if there are more, it counts them by kind.
const NAMED: usize = 3;
/// The maximum number of characters of a sentence: it names objects, whose names may have any length.
const SAID: usize = 1_000;
/// The maximum number of rows of a folded table.
const ROWS: usize = 200;
/// The maximum number of changed images that are listed.
const IMAGES: usize = 10;
/// The maximum number of stuck objects that are shown with the commands that release them.
const RELEASED: usize = 10;

/// The header of a table of objects.
const OBJECT_AND_WHY: &str = "| Object | Why |\n|---|---|\n";

/// Renders the whole document within its size limit.
pub(super) fn render(report: &DiffReport, options: &Options) -> String {
    let is_doubtful = report.summary.verdict == DiffVerdict::Unknown && !report.is_harmless();
    let mut notes = report.findings.notes.iter();
    let has_failed_rule = notes.any(|note| note.severity == Severity::Error);
    let has_findings = !report.findings.findings.is_empty();
    if !(has_findings || report.surprises() || is_doubtful || has_failed_rule) {
        return quiet(report);
    }
    let mut page = MarkdownText {
        text: heading(report),
        limit: options.markdown.bytes.saturating_sub(RESERVE),
    };
    listed(&mut page, &folded(&report.findings), &options.roots);
    // Objects that the tool deletes directly are listed only if the Git diff does not show all of them.
    let is_seen = !report.are_out_of_sight(&[EffectKind::Deleted]);
    let told = WORST_FIRST.into_iter();
    let mut told = told.filter(|(kind, _)| *kind != EffectKind::Deleted || !is_seen);
    let notes = report.all_notes().map(|note| note.trim_end_matches('.'));
    let mut notes = notes.map(|note| format!("\nNote: {}.\n", prose(note)));
    let fits = pictures(&mut page, report)
        && by_effect(&mut page, report)
        && told.all(|(kind, title)| {
            every_object(&mut page, title, &report.of(kind).collect::<Vec<_>>())
        })
        && supposed(&mut page, report)
        && unread(&mut page, report)
        && changes(&mut page, report)
        && release(&mut page, report)
        && how_to_accept(&mut page, report)
        && notes.all(|note| page.push(&note));
    if !fits {
        page.text
            .push_str("\nThe rest is left out: it does not fit into a comment. `ownerlint diff` lists every object.\n");
    }
    page.text
}

/// Writes the deletions that happen if an unknown tool prunes.
fn supposed(page: &mut MarkdownText, report: &DiffReport) -> bool {
    let Some(said) = report.supposition() else {
        return true;
    };
    let effects = report.supposed_deletions().into_iter();
    let rows: Vec<String> = effects
        .map(|(effect, how)| format!("| {} | {} |\n", name(effect), text(&how)))
        .collect();
    let title = format!("Deleted if a tool prunes ({})", rows.len());
    // Backticks in the sentence enclose commands.
    let said = said.split('`').enumerate();
    let said = said.map(|(at, part)| if at % 2 == 0 { text(part) } else { code(part) });
    page.push(&format!("\n{}\n", said.collect::<String>()))
        && (rows.is_empty() || page.folded(&title, OBJECT_AND_WHY, rows.into_iter(), ROWS))
}

/// Writes the failing builds, the changed images and, folded, the inputs that were not read.
fn unread(page: &mut MarkdownText, report: &DiffReport) -> bool {
    let failed = report.failed_builds().into_iter().map(|(failed, when)| {
        let reason = text(&plain::one_line(&failed.reason));
        let place = place(&failed.file, failed.line);
        format!("\nCannot be applied{when}: {reason} ({place}).\n")
    });
    let unread = report.unread_rows();
    let rows = unread.iter().map(|unread| {
        let subject = text(&plain::one_line(&unread.subject));
        let place = place(&unread.file, unread.line);
        let (more, reason) = (text(&unread.and_more()), text(&unread.reason));
        format!("| {subject} | {place}{more} | {reason} |\n")
    });
    let head = "| Input | Where | Why |\n|---|---|---|\n";
    let title = format!("Not read ({})", report.unread.len());
    let mut failed = failed.take(ROWS);
    failed.all(|line| page.push(&line))
        && images(page, &report.images)
        && (report.unread.is_empty() || page.folded(&title, head, rows, ROWS))
}

fn place(file: &str, line: usize) -> String {
    code(&format!("{file}:{line}"))
}

/// Writes a line for each image that changed.
fn images(page: &mut MarkdownText, images: &[ChangedImage]) -> bool {
    let more = images.len().saturating_sub(IMAGES);
    images
        .iter()
        .take(IMAGES)
        .all(|image| page.push(&image_line(image)))
        && (more == 0 || page.push(&format!("\nAnd {}.\n", plain::count(more, "more image"))))
}

fn image_line(image: &ChangedImage) -> String {
    let (repository, from, to) = image.split();
    let repository = match repository {
        "" => String::new(),
        name => format!("{} ", code(name)),
    };
    let objects = plain::count(image.objects, "object");
    let (from, to) = (text(from), text(to));
    format!("\nImage: {repository}{from} → {to} in {objects}.\n")
}

/// Returns the sentence on a change whose effects are all visible in the Git diff.
fn quiet(report: &DiffReport) -> String {
    let left = match report.summary.orphaned {
        0 => String::new(),
        1 => " 1 object that it removes stays in the cluster: no tool deletes it.".to_owned(),
        n => format!(" {n} objects that it removes stay in the cluster: no tool deletes them."),
    };
    let shown = match report.summary.deleted + report.summary.cascaded {
        1 => "The change itself removes it",
        _ => "The change itself removes all of them",
    };
    let kept = report.kept_claims.clone();
    let said = [report.not_read(), report.newly_failing(), kept].map(|said| {
        let said = said.map(|said| format!(" {}.", sentence(&said)));
        said.unwrap_or_default()
    });
    let [unread, failing, kept] = said;
    let said = sentence(&report.headline());
    match report.summary.verdict {
        DiffVerdict::Deletes => format!("{said}. {shown}.{left}{kept}{failing}{unread}\n"),
        DiffVerdict::Nothing | DiffVerdict::Unknown => format!("{said}.{left}{kept}{failing}\n"),
    }
}

/// Formats a sentence within its size limit.
fn sentence(said: &str) -> String {
    prose(&plain::shortened(said, SAID))
}

fn heading(report: &DiffReport) -> String {
    let more = report.newly_failing().into_iter();
    let more = more.chain(report.not_read());
    let more = more.map(|said| format!("\n{}.\n", sentence(&said)));
    let more: String = more.collect();
    format!("## {}\n{more}", sentence(&report.headline()))
}

/// Draws the graphs in at most half of the page.
fn pictures(page: &mut MarkdownText, report: &DiffReport) -> bool {
    let room = page.limit / 2;
    let mut left_out = report.cascades.left_out;
    let several = report.cascades.shown.len() > 1;
    for cascade in &report.cascades.shown {
        let title = if several {
            format!("\n**{}**\n", text(&plain::one_line(&cascade.title)))
        } else {
            String::new()
        };
        let block = format!("{title}\n{}", cascade.flowchart());
        if page.text.len() + block.len() <= room {
            page.text.push_str(&block);
        } else {
            left_out += 1;
        }
    }
    let graphs = plain::count(left_out, "graph");
    left_out == 0 || page.push(&format!("\n{graphs} left out here.\n"))
}

/// Writes a table with the number of objects of each effect, and their names or kinds.
fn by_effect(page: &mut MarkdownText, report: &DiffReport) -> bool {
    let rows = WORST_FIRST.into_iter();
    let rows = rows.filter_map(|(kind, title)| effect_row(report, kind, title));
    let rows: String = rows.collect();
    rows.is_empty()
        || page.push(&format!(
            "\n| What happens | Objects | |\n|---|--:|---|\n{rows}"
        ))
}

/// Returns the row of an effect; `None` if no object has it.
fn effect_row(report: &DiffReport, kind: EffectKind, title: &str) -> Option<String> {
    let effects: Vec<&DiffEffect> = report.of(kind).collect();
    let which = match effects.len() {
        0 => return None,
        1..=NAMED => {
            let mut names: Vec<String> = effects.iter().map(|effect| name(effect)).collect();
            // An object in several clusters is listed once.
            names.dedup();
            names.join("<br>")
        }
        _ => {
            let kinds = words::count_kinds(effects.iter().map(|effect| &effect.key));
            text(&plain::shortened(&words::kinds(&kinds), 400))
        }
    };
    Some(format!("| {title} | {} | {which} |\n", effects.len()))
}

fn name(effect: &DiffEffect) -> String {
    code(&effect.key.to_string())
}

/// Writes every object with an effect, folded.
fn every_object(page: &mut MarkdownText, title: &str, effects: &[&DiffEffect]) -> bool {
    // The table above names these objects, and there is no cause to add.
    if effects.iter().all(|effect| because(effect).is_empty()) && effects.len() <= NAMED {
        return true;
    }
    let rows = effects.iter();
    let rows = rows.map(|effect| ((name(effect), because(effect)), effect.cluster.as_deref()));
    // Of consecutive objects with the same cause, only the first one shows it.
    let mut last = None;
    let rows = in_clusters(rows)
        .into_iter()
        .map(|((name, cause), clusters)| {
            let cause = format!("{cause}{}", several_clusters(&clusters));
            let cause = cause.strip_prefix(", ").unwrap_or(&cause).to_owned();
            let is_shown = last.as_ref() == Some(&cause);
            let shown = if is_shown { "" } else { &cause };
            let row = format!("| {name} | {shown} |\n");
            last = Some(cause);
            row
        });
    let title = format!("{title} ({})", effects.len());
    page.folded(&title, OBJECT_AND_WHY, rows, ROWS)
}

/// Returns the causes of a deletion, or the delivery that deletes the object, then the condition.
fn because(effect: &DiffEffect) -> String {
    let chain = effect.because.iter().filter(|key| **key != effect.key);
    let chain: Vec<String> = chain.map(|key| code(&key.to_string())).collect();
    let by = effect.delivery.as_ref();
    let by = by.filter(|_| effect.effect == EffectKind::Deleted);
    let with = match chain.as_slice() {
        [] => by
            .map(|by| text(&applied_by(by, effect.cluster.as_deref())))
            .unwrap_or_default(),
        chain => format!("with {}", chain.join(" → ")),
    };
    format!("{with}{}", unless(effect.certainty))
}

/// Writes how to release the stuck objects.
fn release(page: &mut MarkdownText, report: &DiffReport) -> bool {
    let held = report.cascades.shown.iter().flat_map(Cascade::held);
    let held: Vec<&Stuck> = held.collect();
    let title = format!("How to release what gets stuck ({})", held.len());
    let items = held.iter().map(|stuck| held_item(stuck, false));
    held.is_empty() || page.folded(&title, "", items, RELEASED)
}

/// Writes the keys that accept the findings, ready to copy.
fn how_to_accept(page: &mut MarkdownText, report: &DiffReport) -> bool {
    let keys = report.acceptable();
    if keys.is_empty() {
        return true;
    }
    let keys: Vec<String> = keys.iter().map(|key| text(key)).collect();
    page.push(&format!(
        "\n<details><summary>If this is intended</summary>\n\nIf the job allows it, a comment like \
         this by another user with write access accepts the deletions. On the command line, use \
         <code>--accept KEY</code>.\n\n<pre>\n/ownerlint accept\n{}\n</pre>\n\n</details>\n",
        keys.join("\n")
    ))
}

/// Writes the objects that the change adds, removes, moves or renames.
fn changes(page: &mut MarkdownText, report: &DiffReport) -> bool {
    let changes = report.changes.iter();
    let rows = changes
        .filter(|change| change.change != "changed")
        .map(|change| {
            format!(
                "| {} | {} | {} |\n",
                change.change,
                named(change),
                places(change)
            )
        });
    let mut rows: Vec<String> = rows.collect();
    // An object that several deliveries apply has the same row for each.
    rows.dedup();
    let counted = report.counted().unwrap_or_default();
    let title = format!("Changed objects ({counted})");
    let head = "| | Object | Where |\n|---|---|---|\n";
    rows.is_empty() || page.folded(&title, head, rows.into_iter(), ROWS)
}

fn named(change: &ReportedChange) -> String {
    match &change.was {
        Some(was) => format!("{} → {}", code(was), code(&change.key)),
        None => code(&change.key),
    }
}

fn places(change: &ReportedChange) -> String {
    let places = change.base.iter().chain(&change.head);
    let places: Vec<String> = places.map(|place| code(&place.file_and_line())).collect();
    places.join(" → ")
}
