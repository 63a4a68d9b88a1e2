//! A job summary or a comment: per step the counts, the flowchart of the whole plan, stuck objects with the commands
//! that release them, then folded tables of the deleted and kept objects.
//!
//! The document never exceeds [`MarkdownOptions::bytes`]; if something does not fit, the document says so.

use super::mermaid;
use super::removal::{NO_ORDER, by_reason};
use crate::gc::Cause;
use crate::kube::ObjectKey;
use crate::report::MarkdownOptions;
use crate::report::markup::{MarkdownText, RESERVE, code, text};
use crate::story::remedy::{Stuck, stuck};
use crate::story::telling::{Affected, Fate, Story, stories};
use crate::story::unanswered::unanswered;
use crate::story::variation::{incomplete, variations};
use crate::story::words;
use crate::story::{PlanView, RemovalView};
use crate::text::plain;

/// The maximum number of rows of a table and of entries of a list.
const ROWS: usize = 500;

/// The header of a table of objects.
const HEAD: &str = "| Order | Object | Why |\n|---|---|---|\n";

/// Renders the whole document within its size limit.
pub(super) fn render(view: &PlanView<'_>, options: &MarkdownOptions) -> String {
    let limit = options.bytes.saturating_sub(RESERVE);
    let mut page = MarkdownText {
        text: String::new(),
        limit,
    };
    let stories = stories(view);
    let fits = page.push(
        "## Deletion plan\n\n| Step | Deleted | Stuck | Kept | Untouched |\n|---|---|---|---|---|\n",
    ) && stories.iter().all(|story| page.push(&row(story)))
        && stories.iter().all(|story| data(&mut page, story))
        && (stories.iter().all(|story| story.affected.is_empty())
            || page.push(&format!("\n{}", mermaid::block(&stories))))
        && stories.iter().all(|story| details(&mut page, story))
        && view
            .removal
            .as_ref()
            .is_none_or(|removal| kept(&mut page, removal) && safe_order(&mut page, removal))
        && view.notes.iter().all(|note| {
            page.push(&format!(
                "\nAssumed: {}.\n",
                text(plain::one_line(note).trim_end_matches('.'))
            ))
        });
    if !fits {
        page.text
            .push_str("\nThe rest is left out: the plan is too long.\n");
    }
    page.text
}

fn row(story: &Story<'_>) -> String {
    let counts = &story.counts;
    let more = if story.is_incomplete() {
        "at least "
    } else {
        ""
    };
    let implied = words::unless_zero(counts.implied, " (", " implied)");
    let before = words::unless_zero(counts.still_stuck, " (and ", " from before)");
    format!(
        "| {} | {more}{}{implied} | {}{before} | {} | {} |\n",
        title(story),
        counts.deleted,
        counts.stuck,
        counts.kept,
        counts.untouched
    )
}

fn title(story: &Story<'_>) -> String {
    text(&plain::shortened(&plain::one_line(&story.title()), 200))
}

/// Writes the data that is deleted for good.
fn data(page: &mut MarkdownText, story: &Story<'_>) -> bool {
    words::data(story)
        .is_none_or(|data| page.push(&format!("\n**Data deleted:** {}.\n", text(&data))))
}

fn details(page: &mut MarkdownText, story: &Story<'_>) -> bool {
    let rejected = story.rejected().into_iter().take(ROWS);
    let rejected: String = rejected
        .map(|(key, status)| format!("\nRejected with {status}: {}\n", name(key)))
        .collect();
    let title = if story.view.plan.steps.len() > 1 {
        format!("\n### {}\n", title(story))
    } else {
        String::new()
    };
    (title.is_empty() || page.push(&title))
        && (rejected.is_empty() || page.push(&rejected))
        && stuck_objects(page, story)
        && unanswered_calls(page, story)
        && varying(page, story)
        && table(page, story, Fate::Deleted, "Deleted")
        && table(page, story, Fate::Kept, "Kept, and why")
}

/// Writes the objects that stay on purpose.
fn kept(page: &mut MarkdownText, removal: &RemovalView) -> bool {
    if removal.kept.is_empty() {
        return true;
    }
    let reasons = by_reason(removal).into_iter();
    let mut reasons = reasons.map(|(why, keys)| {
        let named: Vec<String> = keys.iter().take(ROWS).map(|key| name(key)).collect();
        let more = match keys.len().saturating_sub(ROWS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("- {}: {}{more}\n", text(why), named.join(", "))
    });
    page.push("\n**Stays, and why:**\n\n") && reasons.all(|reason| page.push(&reason))
}

/// Writes the commands after which nothing gets stuck, unfolded, so that they can be copied.
fn safe_order(page: &mut MarkdownText, removal: &RemovalView) -> bool {
    let Some(commands) = &removal.safe_order else {
        return page.push(&format!("\n**Safe order:** {NO_ORDER}\n"));
    };
    if commands.is_empty() {
        return true;
    }
    let mut commands = commands
        .iter()
        .map(|one| format!("1. {}\n\n{}", text(&one.why), fenced(&one.command)));
    page.push("\n**Safe order: after these commands nothing gets stuck.**\n\n")
        && commands.all(|command| page.push(&command))
        && page.push(&format!(
            "1. The removal itself:\n\n{}",
            fenced(&removal.command)
        ))
}

/// Writes the stuck objects, unfolded, since they need action.
fn stuck_objects(page: &mut MarkdownText, story: &Story<'_>) -> bool {
    let stuck = stuck(story);
    if stuck.is_empty() {
        return true;
    }
    page.push("\n**Stuck in Terminating, and how to release it:**\n\n")
        && stuck
            .iter()
            .take(ROWS)
            .all(|stuck| page.push(&held_item(stuck, true)))
        && (stuck.len() <= ROWS
            || page.push(&format!(
                "\n{} left out.\n",
                plain::count(stuck.len() - ROWS, "object")
            )))
}

fn unanswered_calls(page: &mut MarkdownText, story: &Story<'_>) -> bool {
    let unanswered = unanswered(story);
    let mut items = unanswered.iter().take(ROWS).map(|one| {
        let what = text(&plain::shortened(&one.what, 1_000));
        let help = text(&plain::shortened(&one.help, 1_000));
        format!(
            "- {what} {}  \n  {help}\n{}",
            text(&words::cited(one.citations)),
            fenced(&one.command)
        )
    });
    unanswered.is_empty()
        || page.push("\n**Without a backend:**\n\n") && items.all(|item| page.push(&item))
}

/// Formats a stuck object, what holds it, and the commands that release it, as a list item. With `citations`, it cites
/// the rules of Kubernetes' behaviour.
pub(in crate::report) fn held_item(stuck: &Stuck, citations: bool) -> String {
    let before = if stuck.before {
        " (was Terminating before this step)"
    } else {
        ""
    };
    let mut item = format!("- {}{before}\n", name(&stuck.key));
    for remedy in &stuck.remedies {
        let what = plain::shortened(&remedy.what, 1_000);
        let cited = if citations {
            text(&words::cited(&remedy.citations))
        } else {
            String::new()
        };
        let help = text(&plain::shortened(&remedy.help, 1_000));
        item.push_str(&format!("  - {} {cited}  \n    {help}\n", text(&what)));
        for command in &remedy.commands {
            item.push_str(&fenced(command));
        }
    }
    item
}

/// Formats a command as a block within a list item; the fence is longer than any run of backticks in it.
fn fenced(command: &str) -> String {
    let command = plain::one_line(command);
    let runs = command.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    format!("    {fence}sh\n    {command}\n    {fence}\n")
}

fn varying(page: &mut MarkdownText, story: &Story<'_>) -> bool {
    let mut block = String::new();
    for variation in variations(story) {
        block.push_str(&format!("- {}\n", text(&variation.title)));
        for outcome in &variation.outcomes {
            let cited = text(&words::cited(outcome.citations));
            let what = text(&plain::shortened(&outcome.text, 1_000));
            block.push_str(&format!("  - {what} {cited}\n"));
        }
        if let Some(more) = &variation.more {
            block.push_str(&format!("  - and {more}\n"));
        }
    }
    if let Some(note) = incomplete(story) {
        block.push_str(&format!("- {}\n", text(note)));
    }
    block.is_empty()
        || page.push(&format!(
            "\n**May vary:** Kubernetes' controllers race here.\n\n{block}"
        ))
}

fn table(page: &mut MarkdownText, story: &Story<'_>, fate: Fate, title: &str) -> bool {
    let rows: Vec<&Affected> = story.with_fate(fate).collect();
    if rows.is_empty() {
        return true;
    }
    let title = format!("{title} ({})", rows.len());
    let rows = rows.into_iter().map(|affected| table_row(story, affected));
    page.folded(&title, HEAD, rows, ROWS)
}

fn table_row(story: &Story<'_>, affected: &Affected) -> String {
    let wave = match affected.wave {
        0 => String::new(),
        wave => wave.to_string(),
    };
    let implied = story.implied(&affected.key);
    let implied = implied.map(|implied| format!(" (implied, {})", implied.rule));
    let implied = implied.unwrap_or_default();
    let above = match affected.parent {
        Some(parent) => format!(" ({})", name(&story.affected[parent].key)),
        None => String::new(),
    };
    let reason = words::reason(story, affected);
    let reason = text(&plain::shortened(&reason, 1_000));
    let cited = text(&words::cited(&Cause::all_citations(&affected.causes)));
    format!(
        "| {wave} | {}{implied} | {reason}{above} {cited} |\n",
        name(&affected.key)
    )
}

fn name(key: &ObjectKey) -> String {
    code(&key.to_string())
}
